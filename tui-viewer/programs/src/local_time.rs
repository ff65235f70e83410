//! Offset of local time from UTC.

/// Returns the current offset of the system's time zone from UTC in seconds, positive east of UTC. Returns `None` if
/// the system's time zone is unknown.
pub fn utc_offset_s() -> Option<i32> {
    let zone = jiff::tz::TimeZone::try_system().ok()?;
    Some(zone.to_offset(jiff::Timestamp::now()).seconds())
}
