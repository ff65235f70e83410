//! What measuring costs, in words and as JSON.

use tickscope_format::snapshot::{InPlace, InPlaceState, Snapshot};

use crate::number::{self, duration, percent};

/// Returns how much longer the unit takes while it is measured, such as `game::frame +34.0% (31.0 to 37.0)`; `None` if that was not
/// measured in the mode in force.
pub fn slowdown(snapshot: &Snapshot) -> Option<String> {
    let in_place = snapshot.measured_in_place()?;
    let more = in_place.slowdown()? - 1.0;
    let bound = |bound: f64| format!("{:.1}", 100.0 * (bound - 1.0));
    Some(format!(
        "{} {}{:.1}% ({} to {})",
        in_place.unit,
        if more < 0.0 { "" } else { "+" },
        100.0 * more,
        bound(in_place.low),
        bound(in_place.high)
    ))
}

/// Returns what measuring costs, a few lines of text.
pub fn text(snapshot: &Snapshot) -> String {
    let mut lines = Vec::new();
    if let Some(in_place) = &snapshot.in_place {
        lines.push(in_place_words(in_place));
    }
    if let Some(cost) = snapshot.measured_in_place().and_then(InPlace::scope_cost) {
        lines.push(format!("a scope in it costs {cost}, counting it included"));
    }
    if let Some(cost) = snapshot.scope_cost_seen() {
        lines.push(format!(
            "a scope costs {cost}: {} of {} samples found a thread in the beginning or the end of one",
            number::count(snapshot.seen_cost.unwrap_or_default().looks),
            number::count(snapshot.measuring.samples)
        ));
    }
    let own = snapshot.own_cost();
    let mut own_line = format!(
        "a scope by itself costs {own} (calibrated, in mode {})",
        snapshot.capture.mode.as_str()
    );
    if snapshot.clock_drains() {
        own_line += &format!(
            "; reads of this CPU's clock wait for loads, which takes {:.0} ns where four loads overlap",
            snapshot.drains_ns.unwrap_or_default()
        );
    }
    lines.push(own_line);
    let (low, high) = snapshot.cost_share();
    if snapshot.has_function_cost() {
        lines.push(format!("a call of a function costs {}", snapshot.scope_cost()));
        lines.push(format!(
            "all of it: {} to {} more CPU time than the plain build takes",
            percent(low),
            percent(high)
        ));
        return lines.join("\n") + "\n";
    }
    lines.push(if snapshot.may_cost_more() {
        format!(
            "all scopes: at least {} of the time in which threads work in scopes",
            percent(low)
        )
    } else {
        format!(
            "all scopes: {} to {} of the time in which threads work in scopes",
            percent(low),
            percent(high)
        )
    });
    lines.join("\n") + "\n"
}

fn in_place_words(in_place: &InPlace) -> String {
    let unit = &in_place.unit;
    match (in_place.state, in_place.slowdown()) {
        (InPlaceState::NoClocks, _) => format!(
            "mode {} reads no clock, so there is nothing to measure in place; choose exact or adaptive: tickscope mode exact",
            in_place.mode.as_str()
        ),
        (InPlaceState::NothingRepeats, None) if unit.is_empty() => {
            "not measured in place: no function repeats that is not async, has scopes in it and takes 20us or more a call; give it longer, or \
             name one: tickscope cost --of FUNCTION --for 60s"
                .into()
        }
        (_, None) if unit.is_empty() => "looking for a function that repeats".into(),
        (_, None) => format!(
            "{unit}: {} pairs of calls so far, which is too few to say anything",
            number::count(in_place.pairs)
        ),
        (state, Some(slowdown)) => format!(
            "{unit}: measuring makes a call take {:.1} % longer ({:.1} to {:.1}): {} of CPU time with clocks on, {} with clocks off \
             ({} pairs of calls in {}{})",
            100.0 * (slowdown - 1.0),
            100.0 * (in_place.low - 1.0),
            100.0 * (in_place.high - 1.0),
            duration(in_place.measured_ns.round() as u64),
            duration(in_place.unclocked_ns.round() as u64),
            number::count(in_place.pairs),
            duration(in_place.for_ns),
            if state.is_over() { "" } else { ", more to come" },
        ),
    }
}

/// Returns the object `cost` of JSON reports, ending in a newline.
#[cfg(feature = "json")]
pub fn json(snapshot: &Snapshot) -> String {
    crate::json::written(&crate::json::cost(snapshot), 1)
}

#[cfg(test)]
mod tests {
    use tickscope_testkit::fixture;

    use super::*;

    #[test]
    fn each_state_is_said() {
        let mut snapshot = fixture::two_threads();
        snapshot.drains_ns = Some(231.5);
        let told = |snapshot: &Snapshot| text(snapshot);
        let mut all = told(&snapshot);
        for state in [
            InPlaceState::Choosing,
            InPlaceState::NothingRepeats,
            InPlaceState::NoClocks,
        ] {
            snapshot.in_place = Some(InPlace {
                state,
                ..InPlace::default()
            });
            all += &format!("{state:?}\n{}", told(&snapshot));
        }
        let mut in_place = InPlace {
            state: InPlaceState::Measuring,
            unit: "game::frame".into(),
            mode: snapshot.capture.mode,
            pairs: 3,
            measured_ns: 21_300_000.0,
            unclocked_ns: 15_900_000.0,
            low: 1.31,
            high: 1.37,
            scopes: 230_000.0,
            counted_low_ns: 1.5,
            counted_high_ns: 3.0,
            for_ns: 10_000_000_000,
        };
        for pairs in [3, 250] {
            in_place.pairs = pairs;
            snapshot.in_place = Some(in_place.clone());
            all += &format!("{pairs} pairs\n{}", told(&snapshot));
        }
        assert_eq!(
            slowdown(&snapshot).as_deref(),
            Some("game::frame +34.0% (31.0 to 37.0)")
        );
        insta::assert_snapshot!(all);
    }
}
