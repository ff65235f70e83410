//! Keeping the activity of rows up to date.

use std::rc::Rc;

use tickscope_format::profile::hot::hot;

use crate::app::activity::ROWS_MAX;
use crate::app::data::Data;
use crate::app::state::App;

impl App {
    /// Another second may be over.
    pub(in crate::app) fn beat(&mut self) {
        let Some(newest) = &self.program.newest else {
            return;
        };
        let activity = &mut self.playback.activity;
        if !activity.is_due(newest.capture.unix_ns) {
            return;
        }
        // The tables on screen are those of the newest snapshot, unless they show something else of it.
        let same = |data: &&Data| Rc::ptr_eq(&data.snapshot, newest);
        match self.derived.data.as_ref().filter(same) {
            // All of the calls, whatever part of them is on screen.
            Some(data) if data.whole().rows.len() > ROWS_MAX => activity.note(newest, data.whole(), &[]),
            Some(data) if data.shows_all_calls() => activity.note(newest, data.whole(), data.hot()),
            Some(data) => activity.note(newest, data.whole(), &hot(data.whole())),
            None => activity.note_all(newest, &self.query.threads),
        }
    }
}
