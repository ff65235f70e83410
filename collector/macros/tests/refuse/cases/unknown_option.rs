use tickscope_macros::profile;

#[profile(nam = "x")]
fn misspelt() {}

#[profile("x")]
fn no_word() {}

#[profile(, name = "x")]
fn comma_first() {}

#[profile(r#name = "x")]
fn raw() {}

fn main() {}
