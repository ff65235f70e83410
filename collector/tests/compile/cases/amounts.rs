//! What `count!` and `value!` do not take, and to what `gauge!` cannot be set.

fn main() {
    let below_zero: i32 = -1;
    tickscope::count!("a", below_zero);
    tickscope::value!("b", below_zero);
    tickscope::gauge!("c", 0.5f32);
    let level = 0.5f32;
    tickscope::gauge!("d", level);
}
