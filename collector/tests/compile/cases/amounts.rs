//! What `count!` does not add.

fn main() {
    let below_zero: i32 = -1;
    tickscope::count!("a", below_zero);
}
