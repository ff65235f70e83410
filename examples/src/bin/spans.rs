//! A program instrumented with the `tracing` crate. One line in `main` is enough for its spans to appear as rows in
//! tickscope.
#![allow(clippy::print_stdout, reason = "a program that speaks to its user")]

use std::time::{Duration, Instant};

use tracing::{info_span, instrument, warn};

#[instrument]
fn order(number: u64) -> u64 {
    let words = parse(&format!("order {number} of {} parts", number % 7));
    let _store = info_span!("store").entered();
    if number.is_multiple_of(100) {
        warn!(number, "a round number");
    }
    checksum(&words)
}

#[instrument(skip(text))]
fn parse(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[instrument(level = "debug", skip_all)]
fn checksum(words: &[String]) -> u64 {
    let bytes = || words.iter().flat_map(|word| word.bytes());
    (0..200).fold(7, |sum: u64, round| {
        bytes().fold(sum, |sum, byte| sum.rotate_left(5) ^ u64::from(byte) ^ round)
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // This line is all that tickscope needs; the next one is optional. Without it, the program publishes from its
    // first span on if TICKSCOPE=live is set in the environment.
    tickscope_tracing::subscriber().count_events().init()?;
    let _tickscope = tickscope::start("spans");

    let seconds = std::env::args().nth(1).unwrap_or("10".to_owned());
    let seconds = seconds
        .parse()
        .map_err(|_| format!("usage: spans [SECONDS], not `{seconds}`"))?;
    println!("Working for {seconds} s. To look inside, in another terminal: tickscope spans");
    let end = Instant::now() + Duration::from_secs(seconds);
    let orders = (0..).take_while(|number| *number < 100 || Instant::now() < end);
    let sum = orders.map(order).fold(0, u64::wrapping_add);
    println!("checksum {sum:x}");
    Ok(())
}
