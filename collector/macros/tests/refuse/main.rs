//! Tests the errors that `#[profile]` reports, with and without the feature `enable`, and the errors that the compiler
//! reports for mistakes in a profiled body.

#[test]
fn refusals() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/refuse/cases/*.rs");
    if cfg!(feature = "enable") {
        cases.compile_fail("tests/refuse/bodies/*.rs");
    }
}
