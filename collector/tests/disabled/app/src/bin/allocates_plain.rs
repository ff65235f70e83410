//! A program that allocates with the system's allocator.

#[global_allocator]
static ALLOCATOR: std::alloc::System = std::alloc::System;

fn main() {
    let mut words: Vec<String> = std::env::args().collect();
    words.push(format!("{words:?}"));
    let zeros = vec![0u8; words.len()];
    assert_eq!(zeros.iter().map(|&zero| usize::from(zero)).sum::<usize>(), 0);
}
