//! The program `allocates_plain` with `tickscope::Alloc` as its allocator.

#[global_allocator]
static ALLOCATOR: tickscope::Alloc = tickscope::Alloc::system();

fn main() {
    let mut words: Vec<String> = std::env::args().collect();
    words.push(format!("{words:?}"));
    let zeros = vec![0u8; words.len()];
    assert_eq!(zeros.iter().map(|&zero| usize::from(zero)).sum::<usize>(), 0);
}
