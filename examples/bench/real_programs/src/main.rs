//! Runs five real libraries. The script `run` of this package builds the program twice: with scopes in the functions of
//! the libraries, and without scopes.
//!
//! `real_programs share CASE SECONDS PLAIN` compares each function's share of the time in tickscope with its share in
//! perf. PLAIN is the program without scopes. For this, perf runs both programs again, with `plain` or `scoped` as the
//! first argument.

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tickscope_bench::share::{Case, Program, be_recorded, compare};
use tickscope_bench::truth::Function;
use tickscope_bench::workloads::work;

/// The cases. Each has a name, which is also the name of its function; that function, which does one unit of work and
/// opens no scope itself; and the library that the function calls.
const CASES: [(&str, fn(), &str); 5] = [
    ("markdown", markdown, "pulldown-cmark"),
    ("compressor", compressor, "miniz_oxide"),
    ("regex", regex, "regex-lite"),
    ("xml", xml, "roxmltree"),
    ("decompressor", decompressor, "ruzstd"),
];

/// Returns the functions of a case in which there are scopes. These are the unit itself, and the functions that the
/// file `scopes` lists for the library.
fn functions(unit: &'static str, library: &str) -> Vec<Function> {
    let lines = include_str!("../scopes").lines();
    let of_library = lines.filter(|line| line.split(' ').next() == Some(library));
    let names = of_library.flat_map(|line| line.split(' ').skip(3));
    let unit = Function {
        name: "unit",
        symbol: unit,
    };
    [unit].into_iter().chain(names.map(Function::new)).collect()
}

fn in_unit(unit: fn()) {
    tickscope::scope!("unit");
    unit();
}

/// Converts about 30 kB of Markdown to HTML.
#[inline(never)]
fn markdown() {
    static TEXT: LazyLock<String> = LazyLock::new(|| text(300));
    let mut html = String::with_capacity(2 * TEXT.len());
    pulldown_cmark::html::push_html(&mut html, pulldown_cmark::Parser::new(&TEXT));
    black_box(html);
}

/// Compresses about 50 kB of text.
#[inline(never)]
fn compressor() {
    static TEXT: LazyLock<String> = LazyLock::new(|| text(500));
    black_box(miniz_oxide::deflate::compress_to_vec(TEXT.as_bytes(), 4));
}

/// Finds numbers and marked words in about 10 kB of text.
#[inline(never)]
fn regex() {
    static TEXT: LazyLock<String> = LazyLock::new(|| text(100));
    static SEARCHED: LazyLock<regex_lite::Regex> = LazyLock::new(|| {
        let searched = regex_lite::Regex::new(r"\*\w+\*|[0-9]{2,4}|(?:par|sig)[a-z]*");
        searched.unwrap_or_else(|error| unreachable!("{error}"))
    });
    black_box(SEARCHED.find_iter(&TEXT).count());
}

/// Parses a document of about 100 kB. It has an element for each line of a text, and the first two words of the line
/// are attributes.
#[inline(never)]
fn xml() {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let line = |line: &str| {
            let line = line.replace('&', "&amp;").replace(['<', '>', '"'], "");
            let mut words = line.splitn(3, ' ');
            let [first, second, rest] = [(); 3].map(|()| words.next().unwrap_or_default());
            format!("<line first=\"{first}\" second=\"{second}\"><text>{rest}</text></line>\n")
        };
        format!("<text>{}</text>", text(500).lines().map(line).collect::<String>())
    });
    black_box(roxmltree::Document::parse(&TEXT).is_ok());
}

/// Decompresses about 50 kB of text.
#[inline(never)]
fn decompressor() {
    static COMPRESSED: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let level = ruzstd::encoding::CompressionLevel::Fastest;
        ruzstd::encoding::compress_to_vec(text(500).as_bytes(), level)
    });
    static DECODER: LazyLock<Mutex<(ruzstd::decoding::FrameDecoder, Vec<u8>)>> =
        LazyLock::new(|| Mutex::new((ruzstd::decoding::FrameDecoder::new(), vec![0; 1 << 17])));
    let mut decoder = DECODER.lock().unwrap_or_else(PoisonError::into_inner);
    let (decoder, text) = &mut *decoder;
    black_box(decoder.decode_all(&COMPRESSED, text).is_ok());
}

/// Returns a Markdown text with this many paragraphs. It is the same text every time.
fn text(paragraphs: u64) -> String {
    const WORDS: [&str; 24] = [
        "the", "scope", "of", "a", "function", "is", "open", "while", "it", "runs", "and", "each", "clock",
        "read", "takes", "some", "time", "parser", "signal", "thread", "memory", "waits", "longer", "than",
    ];
    let mut state = 1;
    let mut below = |end: u64| {
        state = work(1, state);
        (state >> 20) % end
    };
    let mut text = String::new();
    for _ in 0..paragraphs {
        text += match below(8) {
            0 => "\n\n## ",
            1 | 2 => "\n- ",
            3 => "\n1. ",
            4 => "\n> ",
            5 => "\n\n    ",
            _ => "\n\n",
        };
        for _ in 0..8 + below(16) {
            let word = WORDS[below(24) as usize];
            match below(24) {
                0 => text += &format!("*{word}* "),
                1 => text += &format!("**{word}** "),
                2 => text += &format!("`{word}` "),
                3 => text += &format!("[{word}](https://example.org/{word}) "),
                4 => text += &format!("{} ", below(10_000)),
                5 => text += &format!("{word} & {word}\n"),
                _ => text += &format!("{word} "),
            }
        }
    }
    text
}

fn run(words: &[&str]) -> Result<(), String> {
    let named = |name| {
        let case = CASES.iter().find(|case| case.0 == name);
        case.ok_or(format!("{name}: no such case"))
    };
    match *words {
        ["plain", name, seconds] => be_recorded(named(name)?.1, None, seconds),
        ["scoped", name, mode, seconds] => {
            let unit = named(name)?.1;
            be_recorded(|| in_unit(unit), Some(mode), seconds)
        }
        ["share", name, seconds, plain] => {
            let &(name, _, library) = named(name)?;
            let functions = functions(name, library);
            let case = Case {
                name,
                functions: &functions,
            };
            let seconds = seconds
                .parse()
                .map_err(|_| format!("{seconds}: wanted seconds"))?;
            let file = std::env::current_exe().map_err(|error| error.to_string())?;
            let plain = Program {
                file: Path::new(plain),
                words: &["plain", name],
            };
            let scoped = Program {
                file: &file,
                words: &["scoped", name],
            };
            compare(&case, plain, scoped, Duration::from_secs_f64(seconds)).map(drop)
        }
        _ => Err("usage: real_programs share CASE SECONDS PLAIN".into()),
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
