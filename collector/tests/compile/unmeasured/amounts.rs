#[path = "../cases/amounts.rs"]
#[allow(dead_code)]
mod case;

fn main() {}
