#[path = "../cases/guards.rs"]
#[allow(dead_code)]
mod case;

fn main() {}
