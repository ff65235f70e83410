use super::*;
use crate::render::fixtures;

#[test]
fn look() {
    for (name, s) in [("order", fixtures::order_sim_with_latencies()), ("hostile", fixtures::hostile()), ("adaptive", fixtures::order_sim_adaptive()),("empty", fixtures::empty()),("deep", fixtures::deep(3000)), ("large", fixtures::large(100_000)), ("ten", fixtures::large(10_000))] {
        let t = std::time::Instant::now();
        let p = page(&s, &PageOptions::default()).unwrap();
        println!("{name} {:?} {} bytes, {} rows, {} latencies", t.elapsed(), p.len(), s.nodes.len(), s.latencies.packed.len());
        std::fs::write(format!("/tmp/t-html/{name}.html"), p).unwrap();
    }
}
