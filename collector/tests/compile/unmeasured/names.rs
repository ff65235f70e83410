#[path = "../cases/names.rs"]
#[allow(dead_code)]
mod case;

fn main() {}
