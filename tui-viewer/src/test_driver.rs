//! Drives an app in tests: sends it keys, and returns what is on the screen.

use std::rc::Rc;
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use ratatui::style::{Color, Modifier};
use tickscope_format::Snapshot;
use tickscope_format::addresses::Frame;
use tickscope_format::function_table::{Function, Origin, encode};
use tickscope_format::ids::SiteId;
use tickscope_format::snapshot::{Functions, OverBudget};
use tickscope_programs::events::{Events, Past, Target};
use tickscope_programs::known_functions::KnownFunctions;
use tickscope_programs::status::Status;
use tickscope_testkit::fixture;
use tickscope_testkit::test_program::payload;

use crate::app::message::{Effect, Message};
use crate::app::state::App;
use crate::app::view::View;
use crate::cli::args::look::ThemeKind;
use crate::event_loop::meaning;
use crate::keys::decoder::Code;
use crate::orderbook;
use crate::source::code_reader::{FoundCode, Unknown};
use crate::ui::view;

/// Returns an app that has received no data.
pub(crate) fn empty(width: u16, height: u16) -> App {
    App::new(Size::new(width, height), ThemeKind::Sixteen, false, Some(0))
}

/// Returns an app that shows the test program as a running program.
pub(crate) fn live(width: u16, height: u16) -> App {
    showing(width, height, orderbook::snapshot(1_340))
}

/// Returns an app that shows the given snapshot, as if its program were running.
pub(crate) fn showing(width: u16, height: u16, snapshot: Snapshot) -> App {
    let mut app = empty(width, height);
    events(&mut app, Status::Live, Some(snapshot));
    app
}

/// Sends an app the events of one poll. Returns the app's effects.
pub(crate) fn events(app: &mut App, status: Status, snapshot: Option<Snapshot>) -> Vec<Effect> {
    let target = Target {
        name: "orderbook-sim".into(),
        pid: 41_873,
        path: "a.ring".into(),
    };
    let snapshot = snapshot.map(Rc::new);
    app.update(Message::Events(Box::new(Events {
        target: Some(target),
        snapshot,
        ..Events::quiet(status)
    })))
}

/// Returns a snapshot of the test program as if it had been built by `cargo tickscope`: its sites are functions. A few
/// other functions were never called, and one function is over the budget.
pub(crate) fn with_functions(tenths: u64) -> (Snapshot, Rc<KnownFunctions>) {
    let mut s = orderbook::snapshot(tenths);
    let function = |name: &str, module: &str, size: u32, origin: Origin| Function {
        name: name.into(),
        module: module.into(),
        file: "src/lib.rs".into(),
        line: 1,
        size,
        origin,
        ..Function::default()
    };
    let met = s.sites.iter().filter(|site| !site.file.is_empty());
    let mut all: Vec<Function> = met
        .map(|site| Function {
            file: site.file.clone(),
            line: site.line,
            ..function(&site.name, &site.module, 400, Origin::Own)
        })
        .collect();
    all.extend([
        function("Book::depth", "orderbook_sim::book", 500, Origin::Own),
        function("Book::is_empty", "orderbook_sim::book", 24, Origin::Own),
        function(
            "Level::<u64>::best",
            "orderbook_sim::book::level",
            300,
            Origin::Own,
        ),
        function("Regex::find", "regex_automata::meta", 900, Origin::Dependency),
        function("Cache::new", "regex_automata::meta", 40, Origin::Dependency),
        function("Formatter::pad", "core::fmt", 700, Origin::Std),
    ]);
    let table = encode(0..8, &all).expect("it is small");
    let known = KnownFunctions::of_table(table).expect("it was just written");
    let over = SiteId(6);
    s.measuring.off_sites.push(over);
    s.functions = Some(Functions {
        known: all.len() as u32,
        on: all.len() as u32 - 5,
        budget: 0.05,
        cost_share: 0.031,
        call_ns: 31.0,
        over_budget: vec![OverBudget {
            site: over,
            mean_ns: 85.4,
            cost_share: 0.121,
            learned: false,
        }],
        ..Functions::default()
    });
    (s, Rc::new(known))
}

/// Returns an app that shows [`fixture::sampled`] and has already received the code for its samples.
pub(crate) fn sampled(width: u16, height: u16) -> App {
    let mut app = empty(width, height);
    let effects = events(&mut app, Status::Live, Some(fixture::sampled()));
    find_code(&mut app, effects);
    app.after("1")
}

/// Presses a key, and answers the requests for code that the app makes. Returns the app's other effects.
pub(crate) fn key_and_code(app: &mut App, code: Code) -> Vec<Effect> {
    let effects = key(app, code);
    find_code(app, effects)
}

/// Answers an app's requests for the code of the program in [`fixture::sampled`]. Returns the app's other effects.
pub(crate) fn find_code(app: &mut App, effects: Vec<Effect>) -> Vec<Effect> {
    let frame = |function: &str, file: &str, line: u64| Frame {
        function: function.into(),
        module: String::new(),
        file: file.into(),
        line: line as u32,
    };
    let own = |line| frame("game::draw_frame", "/home/x/src/main.rs", line);
    let frames_of = |address: u64| match address {
        1..=14 => vec![own(address)],
        20 => vec![
            frame(
                "<std::collections::hash::map::HashMap<K,V,S> as core::iter::Extend<(K,V)>>::extend",
                "/rust/map.rs",
                7,
            ),
            own(15),
        ],
        30 => vec![frame("memchr_avx2", "/crates/memchr/src/lib.rs", 80)],
        40 => vec![frame("game::scene::parse", "/home/x/src/main.rs", 21)],
        _ => Vec::new(),
    };
    let mut others = Vec::new();
    let mut asked = effects;
    while !asked.is_empty() {
        let mut next = Vec::new();
        for effect in asked {
            let Effect::FindCode(unknown) = effect else {
                others.push(effect);
                continue;
            };
            let found = match unknown {
                Unknown::Addresses { pid, addresses } => FoundCode::Addresses {
                    pid,
                    frames: addresses
                        .into_iter()
                        .map(|(module, address)| (module, address, frames_of(address)))
                        .collect(),
                    problems: [(
                        "/usr/lib/libc.so.6".into(),
                        "/usr/lib/libc.so.6: no debug information".into(),
                    )]
                    .into(),
                },
                Unknown::File { pid, file } => FoundCode::File {
                    pid,
                    lines: match file.starts_with('/') {
                        true => Ok((1..=40).map(|line| format!("    line({line});")).collect()),
                        false => Err(format!("no {file} in /home or above")),
                    },
                    file,
                },
            };
            next.extend(app.update(Message::FoundCode(found)));
        }
        asked = next;
    }
    others
}

/// Sends an app a snapshot and the functions of its program, both as returned by [`with_functions`].
pub(crate) fn tell_functions(app: &mut App, snapshot: Snapshot, known: &Rc<KnownFunctions>) {
    events(app, Status::Live, None);
    app.update(Message::Events(Box::new(Events {
        snapshot: Some(Rc::new(snapshot)),
        functions: Some(Rc::clone(known)),
        ..Events::quiet(Status::Live)
    })));
}

/// Sets the app's clock to `ms` milliseconds after the screen was opened.
pub(crate) fn at(app: &mut App, ms: u64) {
    app.update(Message::Time(Duration::from_millis(ms)));
}

/// Presses a key. Returns the app's effects.
pub(crate) fn key(app: &mut App, key: Code) -> Vec<Effect> {
    let message = meaning(app.context(), key);
    message.map_or_else(Vec::new, |message| app.update(message))
}

/// Types the characters one after the other. A newline stands for the Enter key.
pub(crate) fn keys(app: &mut App, text: &str) -> Vec<Effect> {
    let code = |c| match c {
        '\n' => Code::Enter,
        c => Code::Char(c),
    };
    text.chars().flat_map(|c| key(app, code(c))).collect()
}

impl App {
    pub(crate) fn after(mut self, typed: &str) -> Self {
        keys(&mut self, typed);
        self
    }
}

/// Shows a view by pressing its number key.
pub(crate) fn show(app: &mut App, view: View) {
    let digit = char::from_digit(view as u32 + 1, 10).expect("there are fewer than ten");
    key(app, Code::Char(digit));
}

/// Returns the screen as cells.
pub(crate) fn screen(app: &App) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, app.screen.size.width, app.screen.size.height));
    view::draw(app, &mut buffer);
    buffer
}

/// Returns the screen as text.
pub(crate) fn text(app: &App) -> String {
    let buffer = screen(app);
    let mut out = String::new();
    for y in 0..buffer.area.height {
        let mut end = out.len();
        let mut skip = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            // The second cell of a wide character is empty.
            if skip > 0 {
                skip -= 1;
                continue;
            }
            out.push_str(symbol);
            // A single-byte character occupies one cell. Checking this first saves time, because the tests read
            // millions of cells in total.
            if symbol.len() > 1 {
                skip = crate::text::cells::width(symbol).saturating_sub(1);
            }
            if symbol != " " {
                end = out.len();
            }
        }
        out.truncate(end);
        out.push('\n');
    }
    out
}

/// Returns the screen as text, followed by a list of the runs of cells that have a colour or a modifier.
pub(crate) fn looks(app: &App) -> String {
    let buffer = screen(app);
    let mut out = text(app);
    out.push_str("---\n");
    for y in 0..buffer.area.height {
        let mut runs: Vec<(u16, u16, String)> = Vec::new();
        for x in 0..buffer.area.width {
            let cell = &buffer[(x, y)];
            let look = look(cell.fg, cell.bg, cell.modifier);
            match runs.last_mut() {
                Some((_, end, last)) if *last == look && *end + 1 == x => *end = x,
                _ => runs.push((x, x, look)),
            }
        }
        let runs: Vec<String> = runs
            .into_iter()
            .filter(|(.., look)| !look.is_empty())
            .map(|(start, end, look)| format!("{start}-{end} {look}"))
            .collect();
        if !runs.is_empty() {
            out.push_str(&format!("{y:>2}: {}\n", runs.join(", ")));
        }
    }
    out
}

fn look(fg: Color, bg: Color, modifier: Modifier) -> String {
    let mut words = Vec::new();
    if fg != Color::Reset {
        words.push(fg.to_string().to_lowercase());
    }
    if bg != Color::Reset {
        words.push(format!("on {}", bg.to_string().to_lowercase()));
    }
    words.extend(modifier.iter_names().map(|(name, _)| name.to_lowercase()));
    words.join(" ")
}

/// Returns the name of the selected row.
pub(crate) fn selected(app: &App) -> String {
    let (data, row) = app.selected().expect("a row is selected");
    data.label(row.what).to_string()
}

/// Returns the line of the selected row, counted from the first visible row.
pub(crate) fn line(app: &App) -> usize {
    app.list().cursor.index - app.list().cursor.offset
}

/// Like [`line`], but returns `None` if no row is selected.
pub(crate) fn line_or_none(app: &App) -> Option<usize> {
    let cursor = &app.list().cursor;
    app.list().selected().map(|_| cursor.index - cursor.offset)
}

/// For each of the sizes, types the keys and compares the app's screen with a stored snapshot.
macro_rules! golden {
    ($name:literal, $sizes:expr, $keys:expr, $app:expr) => {
        for (width, height) in $sizes {
            let app = $app(width, height).after($keys);
            let name = format!("{}_{width}x{height}", $name);
            insta::assert_snapshot!(name, crate::test_driver::looks(&app));
        }
    };
}
pub(crate) use golden;

/// Encodes a snapshot as a record, in the form in which feeds deliver it.
pub(crate) fn past(snapshot: &Snapshot) -> Past {
    Past {
        unix_ns: snapshot.capture.unix_ns,
        kind: snapshot.capture.kind,
        payload: payload(snapshot).into(),
    }
}
