//! The example of the README: a session, and functions with one attribute each.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::time::{Duration, Instant};

#[tickscope::profile]
fn tokenize(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[tickscope::profile]
fn longest<'t>(words: &[&'t str]) -> &'t str {
    let longest = words.iter().copied().max_by_key(|word| word.len());
    longest.unwrap_or_default()
}

#[tickscope::profile]
fn rhymes(words: &[&str], with: &str) -> usize {
    let ending = &with[with.len().saturating_sub(2)..];
    words.iter().filter(|word| word.ends_with(ending)).count()
}

#[tickscope::profile]
fn read(text: &str) -> usize {
    let words = tokenize(text);
    rhymes(&words, longest(&words))
}

fn main() -> Result<(), String> {
    let seconds = std::env::args().nth(1).unwrap_or("10".to_owned());
    let seconds = seconds
        .parse()
        .map_err(|_| format!("usage: hello [SECONDS], not `{seconds}`"))?;
    let _tickscope = tickscope::start("hello");

    println!("Working for {seconds} s. To look inside, in another terminal: tickscope hello");
    let text = "the quick brown fox jumps over the lazy dog while five boxing wizards watch ".repeat(100);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut rhymes = 0;
    while Instant::now() < end {
        rhymes += read(&text);
    }
    println!("{rhymes} rhymes");
    Ok(())
}
