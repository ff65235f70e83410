//! Tests the errors of `#[profile]`, with and without the feature `enable`, and the compiler's messages on mistakes in
//! a profiled body.

#[test]
fn refusals() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/refuse/cases/*.rs");
    if cfg!(feature = "enable") {
        cases.compile_fail("tests/refuse/bodies/*.rs");
    }
}
