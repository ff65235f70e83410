//! Offset of local time from UTC.

/// Returns the seconds that local time is ahead of UTC at present, by the system's time zone.
pub fn utc_offset_s() -> Option<i32> {
    let zone = jiff::tz::TimeZone::try_system().ok()?;
    Some(zone.to_offset(jiff::Timestamp::now()).seconds())
}
