#[path = "../cases/scope_across_await.rs"]
#[allow(dead_code)]
mod case;

fn main() {}
