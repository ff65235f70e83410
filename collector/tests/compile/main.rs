//! Code that must compile, and code that must not, with the compiler's exact messages. Both kinds are tested with the
//! feature `enable` and without.

const IS_MEASURED: bool = cfg!(all(
    feature = "enable",
    target_os = "linux",
    not(tickscope_unsupported)
));

/// Code that must compile. The tests in `tests/disabled` use the same file.
#[allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    reason = "a program's code"
)]
#[path = "../disabled/lib/src/user.rs"]
mod user;

#[test]
fn each_form_of_each_macro_compiles_with_the_feature_and_without() {
    assert_eq!(user::macros(&[1, 2]), Some(3));
    user::numbers();
    user::own_numbers("text");
    user::notes(1);
    assert_eq!(tickscope::snapshot().calls() > 0, IS_MEASURED);
}

#[test]
#[ignore = "it builds cargo projects: .ci/nightly forms"]
fn mistakes_are_refused_with_the_feature_and_without() {
    let cases = trybuild::TestCases::new();
    if !IS_MEASURED {
        // These are the same cases as in `cases`. Only the source positions inside the library differ in the expected
        // messages.
        return cases.compile_fail("compile/unmeasured/*.rs");
    }
    cases.compile_fail("compile/cases/*.rs");
    // Skipped in builds of the whole workspace, in which other packages enable `report`.
    if cfg!(not(feature = "report")) {
        cases.compile_fail("compile/without_report/*.rs");
    }
}
