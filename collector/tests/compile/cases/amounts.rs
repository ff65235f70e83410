//! What `count!` and `value!` do not take, to what `gauge!` cannot be set, and what `note!` cannot show.

struct Silent;

fn main() {
    let below_zero: i32 = -1;
    tickscope::count!("a", below_zero);
    tickscope::value!("b", below_zero);
    tickscope::count!("c", 5i64);
    tickscope::value!("d", -5isize);
    tickscope::count!("e", -5);
    tickscope::count!("f", 5u128);
    tickscope::count!("g", 1.5);
    tickscope::value!("h", "text");
    tickscope::gauge!("i", 0.5f32);
    let level = 0.5f32;
    tickscope::gauge!("j", level);
    tickscope::gauge!("k", 5i128);
    tickscope::note!("l", Silent);
    tickscope::note!(7, "m");
    tickscope::future!("n", 7);
}
