//! Offset of local time from UTC.

/// Returns the seconds from UTC to local time now, by the system's time zone.
pub fn utc_offset_s() -> Option<i32> {
    let zone = jiff::tz::TimeZone::try_system().ok()?;
    Some(zone.to_offset(jiff::Timestamp::now()).seconds())
}
