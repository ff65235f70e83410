//! A screen without a terminal: events and keys go in, cells come out. For pictures in documents.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use crate::app::message::Message;
use crate::app::state::App;
use crate::app::view::View;
use crate::cli::args::ThemeKind;
use crate::event_loop::meaning;
use crate::keys::decoder::Keyboard;
use crate::source::events::Events;
use crate::ui::view;

/// What happens before the screen is drawn.
#[derive(Debug)]
pub struct Shot<'a> {
    /// What is heard of the program, each so long after the screen began.
    pub events: Vec<(Duration, Events)>,
    /// What is typed then.
    pub keys: &'a str,
    /// Columns and rows.
    pub size: (u16, u16),
    /// The colours.
    pub theme: ThemeKind,
}

/// The names of the views; each has the key of its place, counted from 1.
pub fn views() -> impl Iterator<Item = &'static str> {
    View::ALL.into_iter().map(View::title)
}

/// The cells of the screen; the same for the same shot.
pub fn draw(shot: &Shot<'_>) -> Buffer {
    let (width, height) = shot.size;
    let mut app = App::new(Size::new(width, height), shot.theme, false, Some(0));
    for (at, events) in &shot.events {
        app.update(Message::Time(*at));
        app.update(Message::Events(Box::new(events.clone())));
    }
    for code in Keyboard::default().take(shot.keys.as_bytes()) {
        if let Some(message) = meaning(app.context(), code) {
            // Effects have no place outside a terminal.
            app.update(message);
        }
    }
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    view::draw(&app, &mut buffer);
    buffer
}
