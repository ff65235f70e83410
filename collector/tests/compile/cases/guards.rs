//! Guards, builders and futures that end in the statement that makes them.

#![deny(unused_must_use)]

fn main() {
    tickscope::scope_guard!("a");
    tickscope::pause();
    tickscope::start("a");
    tickscope::Builder::new("a");
    tickscope::future!("a", async {});
}
