use tickscope_macros::profile;

trait Shape {
    #[profile]
    fn area(&self) -> u8;
}

fn main() {}
