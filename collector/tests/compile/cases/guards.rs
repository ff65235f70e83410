//! Guards, builders and futures that are dropped at once, in the statement that creates them.

#![deny(unused_must_use)]

fn main() {
    tickscope::scope_guard!("a");
    tickscope::pause();
    tickscope::start("a");
    tickscope::Builder::new("a");
    tickscope::future!("a", async {});
}
