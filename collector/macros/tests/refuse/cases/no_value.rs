use tickscope_macros::profile;

#[profile(name)]
fn alone() {}

#[profile(group =)]
fn nothing() {}

#[profile(name("x"))]
fn parentheses() {}

fn main() {}
