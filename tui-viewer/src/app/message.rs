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
    /// The action of a key that was pressed.
    Do(Action),
    /// A key typed in the line of a search.
    Edit(InputRequest),
    /// A click on a cell.
    Click(u16, u16),
    /// The mouse was moved to a cell while its button was held.
    Drag(u16, u16),
    /// A turn of the wheel: number of rows to scroll down (up if negative), and the cell of the pointer.
    Wheel(isize, u16, u16),
    /// A sideways turn of the wheel: whether to the right, and the cell of the pointer.
    WheelAside(bool, u16, u16),
    /// A key that has no meaning in the context in which it was pressed.
    Unknown(Code),
    /// What a poll of the feed returned.
    Events(Box<Events>),
    /// Time since the viewer started.
    Time(Duration),
    /// The terminal has this new size.
    Resize(Size),
    /// Files were to be written: their kind, and their paths or the reason of the failure.
    Wrote(&'static str, Result<Vec<PathBuf>, String>),
    /// Answer to a request for code.
    FoundCode(FoundCode),
    /// A request could not be sent.
    NotSent(Request, String),
    /// A ring file or a source could not be opened.
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
    /// Look up code of the program that is not known yet.
    FindCode(Unknown),
    /// Write the report of the snapshot on the screen: the chosen window and the calls in focus.
    WriteReport(Rc<Snapshot>, Box<TextOptions>),
    /// Write a slow call in a format for other tools.
    WriteCall {
        /// Snapshot on the screen.
        snapshot: Rc<Snapshot>,
        /// Traces of slow calls that the snapshot leaves out.
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

/// A place in the source, as a program names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePlace {
    /// File as the compiler saw it: an absolute path, or a path relative to the folder in which the project was built.
    pub(crate) file: String,
    /// Line, counted from 1; 0 if it is not known.
    pub(crate) line: u32,
    /// Process id of the program, if it runs.
    pub(crate) pid: Option<u32>,
}
