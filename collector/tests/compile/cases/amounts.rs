//! Arguments of types that `count!`, `value!`, `gauge!` and `note!` do not accept.

struct Silent;

fn main() {
    tickscope::count!("e", -5);
    tickscope::count!("g", 1.5);
    tickscope::value!("h", "text");
    tickscope::gauge!("i", 0.5f32);
    let level = 0.5f32;
    tickscope::gauge!("j", level);
    tickscope::note!("l", Silent);
    tickscope::note!(7, "m");
    tickscope::future!("n", 7);
}
