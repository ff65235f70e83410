use tickscope_macros::profile;

#[profile]
#[path = "module_in_a_file/other.rs"]
mod other;

fn main() {
    other::called();
}
