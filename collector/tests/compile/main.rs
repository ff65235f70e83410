//! What the compiler says of mistakes in calls of the library, word for word.

#[test]
fn mistakes() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile/cases/*.rs");
    // Other packages of the workspace switch the feature on; `cargo test -p tickscope --features enable` alone does not.
    if cfg!(not(feature = "report")) {
        cases.compile_fail("tests/compile/without_report/*.rs");
    }
}
