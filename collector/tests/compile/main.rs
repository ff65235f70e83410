//! What the compiler says of mistakes in calls of the library, word for word.

#[test]
fn mistakes() {
    trybuild::TestCases::new().compile_fail("tests/compile/cases/*.rs");
}
