//! What `#[profile]` refuses, with the feature `enable` and without, and what the compiler says of mistakes in a profiled body.

#[test]
fn refusals() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/refuse/cases/*.rs");
    if cfg!(feature = "enable") {
        cases.compile_fail("tests/refuse/bodies/*.rs");
    }
}
