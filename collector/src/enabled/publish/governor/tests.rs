//! Tests which functions the governor switches off.

use super::*;

/// Makes a function from each pair of a number of calls and a mean duration in ns. Measuring a call takes 30 ns.
fn busy(all: &[(f64, f64)]) -> Vec<Busy> {
    let numbered = all.iter().zip(0..);
    let busy = numbered.map(|(&(calls, mean_ns), number)| Busy {
        number,
        mean_ns,
        cost_ns: calls * 30.0,
        call_ns: 30.0,
        may_go: true,
        is_own: true,
    });
    busy.collect()
}

fn numbers(off: &[Learned]) -> Vec<u32> {
    off.iter().map(|of| of.number).collect()
}

#[test]
fn what_costs_most_for_what_it_tells_goes_until_the_rest_fits() {
    // Costs of the functions at 30 ns a call, as shares of 100 ms: 3 %, 30 %, 3 %, 0.3 %.
    let all = busy(&[(1e5, 200.0), (1e6, 50.0), (1e5, 90.0), (1e4, 20.0)]);
    let off = |limit| switch_off(all.clone(), limit, limit, 1e8);
    assert!(numbers(&off(0.4)).is_empty());
    assert_eq!(numbers(&off(0.07)), [1]);
    assert_eq!(numbers(&off(0.05)), [1, 2]);
    assert_eq!(numbers(&off(0.0)), [1, 2, 0, 3]);
    assert!((off(0.0)[1].cost_share - 0.03).abs() < 1e-9);
}

#[test]
fn what_tells_much_stays_once_the_cost_is_within_the_budget() {
    // Costs of the functions: 30 %, 3 % and 0.3 %. A call of the second function takes 30 times as long to execute as
    // to measure.
    let all = busy(&[(1e6, 50.0), (1e5, 900.0), (1e4, 50.0)]);
    assert_eq!(numbers(&switch_off(all.clone(), 0.05, 0.025, 1e8)), [0, 2]);
    assert_eq!(numbers(&switch_off(all, 0.029, 0.025, 1e8)), [0, 2, 1]);
}

#[test]
fn dependencies_go_first_and_what_is_needed_or_costs_nothing_stays() {
    let mut all = busy(&[(1e6, 50.0), (1e4, 50.0), (1e6, 50.0), (10.0, 20.0)]);
    all[1].is_own = false;
    all[2].may_go = false;
    assert_eq!(numbers(&switch_off(all, 0.0, 0.0, 1e8)), [1, 0]);
}

#[test]
fn a_function_goes_by_the_mean_of_many_calls_and_never_if_nothing_is_around_it() {
    let cost = CallCost {
        timed: 40.0,
        counted: 4.0,
    };
    let since = |now: Done, before: Done| busy_since(900, &now, (&before, &Done::default()), cost, 0.5);
    let done = |calls, timed, ticks| Done {
        calls,
        timed,
        ticks,
        ..Done::default()
    };
    let found = since(done(11_000, 110, 2_200_000), done(1_000, 10, 200_000)).unwrap();
    assert_eq!((found.number, found.mean_ns, found.may_go), (900, 100.0, true));
    assert!((found.cost_ns - (100.0 * 40.0 + 9_900.0 * 4.0)).abs() < 1e-6);
    // Both functions stay on. Too few calls of the first function were timed, and the calls of the other one take much
    // longer to execute than to measure.
    assert!(!since(done(11_000, 60, 2_200_000), done(0, 0, 0)).unwrap().may_go);
    assert!(!since(done(100, 100, 1_000_000), done(0, 0, 0)).unwrap().may_go);
    // Time in a recursion is counted only once.
    let recursion = Done {
        charged: 1_000,
        charged_once: 250,
        ..done(11_000, 110, 2_200_000)
    };
    assert_eq!(since(recursion, done(1_000, 10, 200_000)).unwrap().mean_ns, 25.0);
    // Only the calls since the last switch of modes make the mean.
    let in_other_mode = done(10_000, 10_000, 9_000_000);
    let both = done(11_000, 11_000, 9_200_000);
    let found = busy_since(900, &both, (&in_other_mode, &in_other_mode), cost, 0.5).unwrap();
    assert_eq!((found.mean_ns, found.may_go), (100.0, true));
    // The function was not called.
    assert_eq!(since(done(5, 5, 9), done(5, 5, 9)), None);
    let outermost = |ticks, charged_outermost| Done {
        charged: ticks,
        charged_once: ticks,
        charged_outermost,
        ..done(1_000, 1_000, ticks)
    };
    let may_go = |now| since(now, done(0, 0, 0)).unwrap().may_go;
    assert!(!may_go(outermost(200_000, 100_000)) && may_go(outermost(200_000, 100)));
    // An outermost function may be switched off if its calls take longer to measure than to execute.
    assert!(may_go(outermost(20_000, 20_000)));
}
