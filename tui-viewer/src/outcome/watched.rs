//! Messages about the effect of watching a function.

use tickscope_analysis::sites::sites;
use tickscope_command::console::printable;
use tickscope_command::similar::similar;
use tickscope_format::Snapshot;
use tickscope_format::ids::NO_PARENT;
use tickscope_format::path::tail;
use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::{Over, Site, WATCHES_MAX, Watch, WatchState};
use tickscope_report::slow::{Answer, SlowOptions, Typed};

/// Returns the watch with this pattern, or else the first watch on a function that matches the pattern.
pub(crate) fn watch_of<'a>(snapshot: &'a Snapshot, function: &Pattern) -> Option<&'a Watch> {
    watches_of(snapshot, function).first().copied()
}

/// Returns the watches that a name may refer to: the watch with exactly this pattern, otherwise all watches on
/// functions with this name, otherwise all watches on functions that match the pattern.
pub(crate) fn watches_of<'a>(snapshot: &'a Snapshot, function: &Pattern) -> Vec<&'a Watch> {
    let of_function = |is_it: &dyn Fn(&Site) -> bool| -> Vec<&'a Watch> {
        let has_it = |watch: &&Watch| watched_sites(snapshot, watch).any(is_it);
        snapshot.watches.iter().filter(has_it).collect()
    };
    if let Some(own) = snapshot
        .watches
        .iter()
        .find(|watch| watch.function == function.as_str())
    {
        return vec![own];
    }
    let named = of_function(&|site| function.names(&site.path()));
    match named.is_empty() {
        true => of_function(&|site| function.matches(site)),
        false => named,
    }
}

/// Returns the sites of those functions that a watch covers and that have been called.
fn watched_sites<'a>(snapshot: &'a Snapshot, watch: &Watch) -> impl Iterator<Item = &'a Site> {
    let roots = watch.paths.iter().filter(|path| path.parent == NO_PARENT);
    roots.map(|path| &snapshot.sites[path.site.index()])
}

/// Describes what the program did when it started to watch a function.
pub(crate) fn began(
    before: Option<&Snapshot>,
    now: Option<&Snapshot>,
    function: &Pattern,
    over: Over,
) -> String {
    let name = printable(function.as_str());
    let slow = match over {
        Over::Tail => "calls in the tail are slow".to_owned(),
        Over::P99 | Over::P999 => format!("calls above {over} are slow"),
        Over::Ns(_) => format!("calls of {over} and more are slow"),
    };
    let Some((snapshot, watch)) = now.and_then(|now| Some((now, watch_of(now, function)?))) else {
        return format!("{name} is watched; {slow}");
    };
    let state = match watch.state {
        WatchState::NoFunction => format!(
            "no called function matches{}",
            similar(function.as_str(), snapshot)
        ),
        WatchState::Learning(_) | WatchState::Watching | WatchState::NoTail | WatchState::Raised => slow,
        WatchState::NoHistograms | WatchState::NoTime | _ => {
            return Answer::of(snapshot, watch, SlowOptions::default())
                .doubt()
                .unwrap_or(slow);
        }
    };
    let off = before.map_or(0, |before| off_sites(before, function));
    let on = match off.saturating_sub(off_sites(snapshot, function)) {
        0 => String::new(),
        1 => "; it was off and is switched on".into(),
        many => format!("; {many} functions were off and are switched on"),
    };
    format!("{name} is watched: {state}{on}; the answer: tickscope why {name}")
}

/// Describes a new watch to the user of the viewer, and mentions the key to press next. `is_shown` says whether the
/// view with the slow calls is already on the screen.
pub(crate) fn began_here(now: Option<&Snapshot>, function: &Pattern, is_shown: bool) -> String {
    let full = printable(function.as_str());
    // Show only the last part of the path. With the full path, the key would not fit on a narrow screen.
    let name = tail(&full, 1);
    let next = match is_shown {
        true => "its slow calls come here",
        false => "W again or 8 shows why its slow calls are slow",
    };
    let begins = format!("{name} is watched: {next}");
    let Some((snapshot, watch)) = now.and_then(|now| Some((now, watch_of(now, function)?))) else {
        return begins;
    };
    match watch.state {
        WatchState::Learning(_) | WatchState::Watching | WatchState::NoTail | WatchState::Raised => begins,
        WatchState::NoFunction => format!(
            "{full} is watched: no called function matches{}",
            similar(function.as_str(), snapshot)
        ),
        WatchState::NoHistograms | WatchState::NoTime | _ => {
            let options = SlowOptions {
                typed: Typed::Viewer,
                ..SlowOptions::default()
            };
            let doubt = Answer::of(snapshot, watch, options).doubt();
            doubt.unwrap_or(begins)
        }
    }
}

/// Describes what the program did when it stopped watching a function.
pub(crate) fn stopped(before: Option<&Snapshot>, function: &Pattern) -> String {
    let name = printable(function.as_str());
    let Some(before) = before else {
        return format!("{name} is not watched");
    };
    match before
        .watches
        .iter()
        .any(|watch| watch.function == function.as_str())
    {
        true => format!("{name} is no longer watched"),
        false => format!("{name} was not watched; {}", others(before)),
    }
}

/// Lists the functions that are watched.
pub(crate) fn others(snapshot: &Snapshot) -> String {
    let names: Vec<String> = snapshot
        .watches
        .iter()
        .map(|watch| printable(&watch.function))
        .collect();
    match names.is_empty() {
        true => "no function is watched".into(),
        false => format!("watched: {}", names.join(", ")),
    }
}

/// Returns the reason why a program refused to watch a function.
pub(crate) fn refused(newest: Option<&Snapshot>) -> String {
    match newest.filter(|newest| newest.watches.len() >= WATCHES_MAX) {
        Some(newest) => format!(
            "{WATCHES_MAX} functions are watched already ({}); `watch NAME --off` makes room for another",
            others(newest).trim_start_matches("watched: ")
        ),
        None => "the program watches no function for others (Builder::allow_remote_control)".into(),
    }
}

fn off_sites(snapshot: &Snapshot, function: &Pattern) -> usize {
    let sites = sites(snapshot).into_iter();
    sites
        .filter(|row| row.off && function.matches(&snapshot.sites[row.site.index()]))
        .count()
}

#[cfg(test)]
mod tests {
    use tickscope_format::ids::SiteId;
    use tickscope_testkit::fixture;

    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::new(text).unwrap()
    }

    #[test]
    fn it_says_what_is_slow_and_what_was_switched_on() {
        let now = fixture::slow_frames();
        let mut before = now.clone();
        before.measuring.off_sites = vec![SiteId(0)];
        let frame = pattern("draw_frame");
        assert_eq!(
            began(Some(&before), Some(&now), &frame, Over::Tail),
            "draw_frame is watched: calls in the tail are slow; it was off and is switched on; the answer: tickscope why \
             draw_frame"
        );
        let here = |is_shown| began_here(Some(&now), &frame, is_shown);
        assert_eq!(
            here(false),
            "draw_frame is watched: W again or 8 shows why its slow calls are slow"
        );
        assert_eq!(here(true), "draw_frame is watched: its slow calls come here");
        let mut unknown = now.clone();
        unknown.watches[0].state = WatchState::NoFunction;
        unknown.watches[0].function = "lokup".into();
        assert_eq!(
            began_here(Some(&unknown), &pattern("lokup"), false),
            "lokup is watched: no called function matches (did you mean lookup?)"
        );
        let line = began(None, Some(&unknown), &pattern("lokup"), Over::P99);
        assert!(
            line.contains("no called function matches (did you mean lookup?)"),
            "{line}"
        );
        assert_eq!(
            began(None, None, &frame, Over::Ns(5_000_000)),
            "draw_frame is watched; calls of 5ms and more are slow"
        );
        assert_eq!(stopped(Some(&now), &frame), "draw_frame is no longer watched");
        assert_eq!(
            stopped(Some(&now), &pattern("lookup")),
            "lookup was not watched; watched: draw_frame"
        );
    }

    #[test]
    fn a_watch_is_found_by_its_pattern_and_by_its_function() {
        let mut snapshot = fixture::slow_frames();
        snapshot.watches[0].function = "game::draw*".into();
        for name in ["game::draw*", "draw_frame", "game::draw_frame"] {
            assert!(watch_of(&snapshot, &pattern(name)).is_some(), "{name}");
        }
        assert!(watch_of(&snapshot, &pattern("lookup")).is_none());
        let refusal = refused(Some(&snapshot));
        assert!(refusal.contains("allow_remote_control"), "{refusal}");
        snapshot.watches = vec![snapshot.watches[0].clone(); WATCHES_MAX];
        assert!(refused(Some(&snapshot)).starts_with("4 functions are watched already (game::draw*, "));
    }
}
