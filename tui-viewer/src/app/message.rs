//! Messages to the app, and effects that the event loop carries out.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use ratatui::layout::Size;
use tickscope_format::Snapshot;
use tickscope_programs::events::{Events, Request};
use tickscope_programs::kept_traces::KeptTraces;
use tickscope_report::text::TextOptions;
use tui_input::InputRequest;

use crate::keys::action::Action;
use crate::keys::decoder::Code;
use crate::source::code_reader::{FoundCode, Unknown};

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) enum Message {
    /// A key was pressed that triggers this action.
    Do(Action),
    /// A key was pressed that edits the text of a search.
    Edit(InputRequest),
    /// A click on a cell.
    Click(u16, u16),
    /// The mouse was moved to a cell while its button was held.
    Drag(u16, u16),
    /// The wheel was turned: number of rows to scroll down (up if negative), and the cell under the pointer.
    Wheel(isize, u16, u16),
    /// The wheel was turned sideways: whether to the right, and the cell under the pointer.
    WheelAside(bool, u16, u16),
    /// A key that has no meaning in the context in which it was pressed.
    Unknown(Code),
    /// What a poll of the feed returned.
    Events(Box<Events>),
    /// Time since the viewer started.
    Time(Duration),
    /// The terminal has this new size.
    Resize(Size),
    /// The outcome of writing files: what they contain, and either their paths or the error.
    Wrote(&'static str, Result<Vec<PathBuf>, String>),
    /// Answer to a request for code.
    FoundCode(FoundCode),
    /// A request could not be sent.
    NotSent(Request, String),
    /// A ring file could not be opened, the editor could not open a source, or the thread that reads code could not be started.
    NotOpened(String),
}

/// Something for the event loop to do.
#[derive(Clone, Debug)]
pub(crate) enum Effect {
    /// Leave the viewer.
    Quit,
    /// Suspend the viewer, as Ctrl+Z does in a shell.
    Suspend,
    /// Draw everything again.
    Repaint,
    /// Send a request to the program.
    Send(Request),
    /// Open a ring file.
    Open(PathBuf),
    /// Look up code of the program that is still unknown.
    FindCode(Unknown),
    /// Write a report on the snapshot on the screen, for the chosen window and the calls in focus.
    WriteReport(Rc<Snapshot>, Box<TextOptions>),
    /// Write a slow call in a format for other tools.
    WriteCall {
        /// Snapshot on the screen.
        snapshot: Rc<Snapshot>,
        /// All traces of slow calls collected so far, because the snapshot contains only some of them.
        traces: Rc<KeptTraces>,
        /// Pattern of the watched function.
        function: String,
        /// Number of the call.
        number: u64,
    },
    /// Keep the snapshot that is on the screen.
    KeepSnapshot(Rc<Snapshot>),
    /// Capture the mouse if true, else leave it to the terminal.
    Mouse(bool),
    /// Open a place in the source in the user's editor.
    Edit(SourcePlace),
    /// Put a text into the terminal's clipboard.
    Copy(String),
}

/// A place in the source, as recorded in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePlace {
    /// Path of the file as the compiler saw it: either absolute, or relative to the directory in which the project was built.
    pub(crate) file: String,
    /// Line, counted from 1; 0 if it is not known.
    pub(crate) line: u32,
    /// Process id of the program, if it is running.
    pub(crate) pid: Option<u32>,
}
