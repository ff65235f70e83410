#[path = "../cases/types.rs"]
#[allow(dead_code)]
mod case;

fn main() {}
