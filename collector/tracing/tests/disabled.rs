//! Checks that spans and events are disabled without the feature `enable`.
#![cfg(not(feature = "enable"))]

use tracing::{Level, info_span};

#[test]
fn spans_and_events_are_disabled() -> Result<(), Box<dyn std::error::Error>> {
    tickscope_tracing::subscriber().count_events().init()?;
    assert!(info_span!("span").is_disabled());
    assert!(!tracing::enabled!(Level::ERROR));
    assert_eq!(
        tracing::level_filters::LevelFilter::current(),
        tracing::level_filters::LevelFilter::OFF
    );
    Ok(())
}
