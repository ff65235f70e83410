//! Keys of the pane of source, and the code that it asks for.

use ratatui::layout::Rect;
use tickscope_format::Snapshot;
use tickscope_format::addresses::Addresses;
use tickscope_format::snapshot::{LINES_HZ, LinesState};
use tickscope_programs::events::Request;

use crate::app::layout::SOURCE_COMES;
use crate::app::message::Effect;
use crate::app::source::Source;
use crate::app::state::App;
use crate::app::view::View;
use crate::source::code_reader::FoundCode;

/// Number of lines of one step up or down.
const STEP: u32 = 3;

/// Lines of the pane without source: the title of the pane, and the titles of its columns.
pub(crate) const HEAD_LINES: u16 = 2;

impl App {
    /// Shows the source of the selected function, and asks the program for samples of its lines. On the screen of that
    /// function it hides the pane again, and ends the samples that this viewer has requested.
    pub(crate) fn turn_source(&mut self) {
        let state = self.program.newest.as_ref().map(|newest| newest.lines.state);
        if self.views.current != View::Function {
            let Some(chosen) = self.selected_function() else {
                return self.tell("no function here: choose a row with a function");
            };
            self.views.source.wanted = Some(true);
            self.go_to_function(chosen);
        } else {
            // A pane that came without a key gets samples first; only the next key hides it.
            let lacks_samples = self.views.source.wanted.is_none() && state == Some(LinesState::Off);
            self.views.source.wanted = Some(!self.shows_source() || lacks_samples);
        }
        let is_wanted = self.views.source.wanted == Some(true);
        if is_wanted && self.layout().source.is_none() {
            self.views.source.wanted = None;
            return self.tell("no room for the source: it needs 20 lines");
        }
        let source = &mut self.views.source;
        match is_wanted {
            true if state == Some(LinesState::Off) && self.program.status.answers() => {
                source.has_asked = true;
                self.ask_for_lines(LINES_HZ);
            }
            false if std::mem::take(&mut source.has_asked) && self.program.status.answers() => {
                self.ask_for_lines(0);
            }
            true | false => {}
        }
    }

    fn ask_for_lines(&mut self, hz: u32) {
        if self.is_free_for("lines") {
            self.send(Request::Lines(hz));
        }
    }

    /// Scrolls the source in the pane.
    pub(crate) fn scroll_source(&mut self, down: bool) {
        let lines = self.source_lines();
        let Some(source) = self.source() else { return };
        let first = self.views.source.first(source, lines);
        let next = match down {
            true => first.saturating_add(STEP),
            false => first.saturating_sub(STEP).max(1),
        };
        let key = source.key();
        self.views.source.first = Some((key, next));
    }

    /// Returns the source of the function on the screen, while it is shown.
    pub(crate) fn source(&self) -> Option<&Source> {
        self.derived.source.as_ref().filter(|_| self.shows_source())
    }

    /// Whether the pane of source is on the screen.
    pub(crate) fn shows_source(&self) -> bool {
        self.layout().source.is_some()
    }

    /// Whether the pane of source should be on the screen: the user's choice, else on large screens if the file exists.
    pub(crate) fn wants_source(&self) -> bool {
        let is_there = |source: &Source| !matches!(source.text, Some(Err(_)));
        self.may_want_source()
            && (self.views.source.wanted.is_some() || self.derived.source.as_ref().is_some_and(is_there))
    }

    /// Whether the code for the pane is requested.
    fn may_want_source(&self) -> bool {
        let size = self.screen.size;
        let large = size.width >= SOURCE_COMES.width && size.height >= SOURCE_COMES.height;
        self.views.current == View::Function
            && self.data().is_some_and(|data| data.around.is_some())
            && self.views.source.wanted.unwrap_or(large)
    }

    /// Returns the number of lines of the pane for the source itself.
    fn source_lines(&self) -> u16 {
        let pane = self.layout().source.unwrap_or(Rect::ZERO);
        pane.height.saturating_sub(HEAD_LINES)
    }

    /// Takes an answer about the program's code.
    pub(crate) fn take_code(&mut self, found: FoundCode) {
        // Rows are made of addresses, so new addresses change them.
        self.screen.dirty |= self.may_want_source() || matches!(found, FoundCode::Addresses { .. });
        self.views.source.known.take(found);
    }

    /// Takes the addresses that the recording of the newest snapshot has named.
    pub(crate) fn take_named(&mut self, addresses: Addresses) {
        if let Some(newest) = &self.program.newest
            && !addresses.is_empty()
        {
            let pid = self.pid_here(newest);
            self.views.source.known.take_named(pid, addresses);
        }
    }

    /// Returns the process id of a snapshot, or 0 if the number belongs to another process on this host.
    fn pid_here(&self, snapshot: &Snapshot) -> u32 {
        match self.program.is_elsewhere() {
            true => 0,
            false => snapshot.process.pid,
        }
    }

    /// Requests the unknown code of the samples on the screen.
    fn find_code(&mut self) {
        let revision = self.derived.data_memo.revision();
        if let Some(data) = &self.derived.data
            && self.derived.code_memo.is_new(revision)
            && !data.snapshot.lines.samples.is_empty()
        {
            let pid = self.pid_here(&data.snapshot);
            let known = &mut self.views.source.known;
            let unknown = known.addresses_of(&data.snapshot, pid);
            self.effects.extend(unknown.map(Effect::FindCode));
        }
    }

    /// Makes the pane again if its numbers have changed, and requests unknown code.
    pub(crate) fn derive_source(&mut self) {
        self.find_code();
        if !self.may_want_source() {
            return;
        }
        let Some((data, chosen)) = self
            .derived
            .data
            .as_ref()
            .zip(self.views.function.chosen.as_ref())
        else {
            return;
        };
        let known = &mut self.views.source.known;
        let key = (self.derived.seen_memo.revision(), known.revision());
        if self.derived.source_memo.is_new(key) {
            self.derived.source = Source::of(data, chosen.key, known);
        }
        if let Some(source) = &self.derived.source {
            self.effects
                .extend(known.file(&source.file).map(Effect::FindCode));
        }
        // The pane may have appeared or gone.
        let page = self.page();
        self.list_mut().keep_on_screen(page);
    }
}
