//! What the attribute refuses, word for word.

#[test]
fn refusals() {
    trybuild::TestCases::new().compile_fail("tests/refuse/cases/*.rs");
}
