//! How far local time is from UTC.

/// Seconds from UTC to local time now, as the system's time zone says.
pub fn utc_offset_s() -> Option<i32> {
    let zone = jiff::tz::TimeZone::try_system().ok()?;
    Some(zone.to_offset(jiff::Timestamp::now()).seconds())
}
