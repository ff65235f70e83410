use super::*;
use crate::render::fixtures;

#[test]
fn look() {
    for (name, s) in [("order", fixtures::order_sim_with_latencies()), ("hostile", fixtures::hostile()), ("adaptive", fixtures::order_sim_adaptive()),("empty", fixtures::empty()),("deep", fixtures::deep(3000))] {
        std::fs::write(format!("/tmp/t-html/{name}.html"), page(&s, &PageOptions::default()).unwrap()).unwrap();
    }
}
