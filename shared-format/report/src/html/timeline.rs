//! The timeline of a recording for the page's scripts. Each thread is a string with a few characters per time slot.
//!
//! Numbers are written with the characters of `LETTERS`, least significant digit first. A number below 64 is a single character.
//! In a larger number, each character except the last is a digit in base 22, and the last one holds the remaining high part.
//!
//! A slot consists of these numbers:
//!
//! ```text
//! working  waiting  N  (function share) N times  1 + function that waited most, or 0 if unknown; only if waiting > 0
//! ```
//!
//! Times and shares are percentages of one CPU, and functions are indices into the list `functions`. A space stands for an empty
//! slot, and `=` repeats the previous slot.

use std::collections::HashMap;

use tickscope_analysis::functions::Functions;
use tickscope_format::snapshot::Snapshot;

use super::json::{end, list, member, strings};
use crate::escape::visible;
use crate::modules::{COLOURS, HUES, Modules};
use crate::slots::{Load, Row, Slots};

/// The characters that numbers are written with. None of them has to be escaped in JSON.
const LETTERS: &[u8; ENDS + MORE] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_!#$%()*+,./:;?@[]^`{|}";

/// How many of these characters can end a number, and how many occur only before the end.
const ENDS: usize = 64;
const MORE: usize = 22;

/// Number of shades of each colour. Functions of the same colour cycle through the shades.
const TONES: usize = 4;

/// Appends the timeline, or nothing if there are no slots.
pub(super) fn write(out: &mut String, snapshot: &Snapshot, slots: &Slots) {
    if slots.times.is_empty() {
        return;
    }
    let functions = Functions::of(snapshot);
    let modules = Modules::of(&functions);
    let all = functions.list.iter().enumerate();
    let by_key: HashMap<u64, usize> = all.map(|(at, f)| (f.key, at)).collect();
    // The functions that the page knows, which excludes functions whose rows were all left out.
    let shown: Vec<(u64, usize)> = slots
        .functions
        .iter()
        .filter_map(|&key| Some((key, *by_key.get(&key)?)))
        .collect();
    let place: HashMap<u64, u32> = (0..).zip(&shown).map(|(at, &(key, _))| (key, at)).collect();
    out.push_str("\n\"timeline\":{");
    member(out, "began_ms", slots.began_unix_ns / 1_000_000);
    let ms = |ns: u64| ns / 1_000_000;
    member(out, "ms", ms(slots.length_ns).max(1));
    list(out, "begin", slots.times.iter().map(|&(begin, _)| ms(begin)));
    list(
        out,
        "length",
        slots.times.iter().map(|&(begin, end)| ms(end) - ms(begin)),
    );
    list(out, "functions", shown.iter().map(|(_, function)| function));
    let mut used = [0usize; HUES];
    let colours = shown.iter().map(|&(_, function)| {
        let hue = modules
            .get(function)
            .map_or(0, |module| usize::from(module.hue) % HUES);
        used[hue] += 1;
        format!("{:06x}", tone(hue, used[hue] - 1))
    });
    strings(out, "colour", colours);
    strings(out, "thread", slots.rows.iter().map(|row| label(slots, row)));
    list(
        out,
        "all",
        slots.rows.iter().map(|row| {
            let mut text = String::from("\"");
            cell(&mut text, &row.all, &place);
            text + "\""
        }),
    );
    strings(out, "slots", slots.rows.iter().map(|row| cells(row, &place)));
    member(out, "left_out", slots.left_out);
    member(out, "waits", slots.waits);
    end(out);
    out.push(',');
}

/// Returns the name of a thread. If several threads have this name, the thread's id is added, or `(ended)` if the row stands for
/// ended threads.
fn label(slots: &Slots, row: &Row) -> String {
    let name = visible(&row.name, false);
    match slots.rows.iter().filter(|other| other.name == row.name).count() {
        ..=1 => name.into_owned(),
        _ if row.tid == 0 => format!("{name} (ended)"),
        _ => format!("{name} ({})", row.tid),
    }
}

/// Returns the shade for the function with the index `number` among those with the colour `hue`.
fn tone(hue: usize, number: usize) -> u32 {
    let [light, dark] = COLOURS[hue];
    let mixed = |colour: u32, with: u32, percent: u32| {
        let part = |shift: u32| {
            let (one, other) = ((colour >> shift) & 255, (with >> shift) & 255);
            ((one * (100 - percent) + other * percent) / 100) << shift
        };
        part(16) | part(8) | part(0)
    };
    match number % TONES {
        0 => light,
        1 => mixed(dark, 0, 20),
        2 => mixed(light, 0xff_ff_ff, 45),
        _ => mixed(dark, 0, 45),
    }
}

fn cells(row: &Row, place: &HashMap<u64, u32>) -> String {
    let mut out = String::new();
    let mut before: Option<&Load> = None;
    for load in &row.loads {
        if *load == Load::default() {
            out.push(' ');
        } else if before == Some(load) {
            out.push('=');
        } else {
            cell(&mut out, load, place);
        }
        before = Some(load);
    }
    out
}

fn cell(out: &mut String, load: &Load, place: &HashMap<u64, u32>) {
    let functions = load.functions.iter();
    let functions: Vec<(u32, u32)> = functions
        .filter_map(|&(key, share)| Some((*place.get(&key)?, share)))
        .collect();
    number(out, load.working);
    number(out, load.waiting);
    number(out, functions.len() as u32);
    for (function, share) in functions {
        number(out, function);
        number(out, share);
    }
    if load.waiting > 0 {
        let waits_in = load.waits_in.and_then(|key| place.get(&key));
        number(out, waits_in.map_or(0, |at| at + 1));
    }
}

fn number(out: &mut String, value: u32) {
    let mut rest = value as usize;
    while rest >= ENDS {
        out.push(char::from(LETTERS[ENDS + rest % MORE]));
        rest /= MORE;
    }
    out.push(char::from(LETTERS[rest]));
}
