//! Models of how threads and sites notice mode switches.

use tickscope_format::pattern::Pattern;
use tickscope_format::snapshot::Mode;

use super::{OUTER, begin, end};
use crate::enabled::platform::sync::Ordering;
use crate::enabled::platform::sync::modelled;
use crate::enabled::record::mode_switch;
use crate::enabled::record::registry::{self, Block};
use crate::enabled::record::site::{Site, SiteState};
use crate::enabled::record::site_table::{self, Rules};
use crate::enabled::record::tree::{NO_LIMIT, Path};

/// Returns a block whose thread has not begun yet.
fn block() -> &'static Block {
    registry::forget_all();
    mode_switch::note(Mode::Exact, false, 0);
    let block = registry::take().unwrap();
    assert!(block.tree.open(0, NO_LIMIT, 10, 10));
    block
}

/// A thread begins to count during a mode switch. It begins in the new mode, or it finds an alarm.
#[test]
fn a_switch_is_not_missed_by_a_thread_that_begins() {
    modelled::check(None, || {
        let block = block();
        let switches = modelled::spawn(|| registry::switch_to(Mode::Sampled, false, 10));
        block.begin(1, Path::Exact);
        switches.join().unwrap();
        let path = block.tree.path();
        assert!(matches!(path, Path::Alarm | Path::Sampled), "{path:?}");
    });
}

/// A thread has events while the mode is switched twice. It catches up with each switch once, at the tick of that
/// switch.
#[test]
fn a_thread_catches_up_with_each_switch_at_its_tick() {
    modelled::check(Some(3), || {
        let block = block();
        block.begin(1, Path::Exact);
        let switches = modelled::spawn(|| {
            registry::switch_to(Mode::Sampled, false, 10);
            registry::switch_to(Mode::Exact, false, 20);
        });
        let tree = &block.tree;
        tree.catch_up_if_alarmed(Path::Exact);
        tree.catch_up_if_alarmed(Path::Exact);
        switches.join().unwrap();
        begin(tree, &OUTER, || 25);
        end(tree, || 30);
        let ticks = |index| tree.nodes.get(index).unwrap().self_ticks.load(Ordering::Relaxed);
        assert_eq!((ticks(0), ticks(1)), (10 + 5, 5));
        assert_eq!(tree.clock_errors.load(Ordering::Relaxed), 0);
        assert_eq!(tree.path(), Path::Exact);
    });
}

/// A thread clears an alarm while the next alarm is raised. Afterwards, the thread is in the newest mode, or it is
/// still alarmed.
#[test]
fn an_alarm_is_not_cleared_without_catching_up() {
    modelled::check(None, || {
        let block = block();
        block.begin(1, Path::Exact);
        registry::switch_to(Mode::Exact, true, 5);
        let switches = modelled::spawn(|| registry::switch_to(Mode::Sampled, false, 10));
        block.tree.catch_up_if_alarmed(Path::Exact);
        switches.join().unwrap();
        let path = block.tree.path();
        assert!(matches!(path, Path::Alarm | Path::Sampled), "{path:?}");
    });
}

/// A site is reached for the first time while a rule that disables it is added. It always ends up disabled.
#[test]
#[ignore = "some ten seconds: .ci/nightly mutations"]
fn a_site_that_is_met_during_a_rule_is_disabled() {
    static MET: Site = Site::named("met", "models::rule", "f.rs", 1);
    modelled::check(None, || {
        site_table::forget_all();
        let pattern = Pattern::new("models::rule").unwrap();
        let meets = modelled::spawn(|| site_table::meet(&MET));
        let mut rules = Rules::default();
        rules.add(pattern, true);
        meets.join().unwrap();
        rules.look();
        assert!(MET.is(SiteState::Disabled));
    });
}

/// A site is reached for the first time during a switch to [`Mode::Off`]. It always ends up disabled.
#[test]
fn a_site_that_is_met_during_a_switch_has_the_state_of_the_mode() {
    static MET: Site = Site::named("met", "models::switch", "f.rs", 1);
    modelled::check(None, || {
        site_table::forget_all();
        registry::forget_all();
        mode_switch::note(Mode::Exact, false, 0);
        let meets = modelled::spawn(|| site_table::meet(&MET));
        registry::switch_to(Mode::Off, false, 10);
        site_table::update_states();
        meets.join().unwrap();
        assert!(MET.is(SiteState::Disabled));
    });
}
