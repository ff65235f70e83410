//! Keeping the activity of rows up to date.

use std::rc::Rc;

use tickscope_format::profile::hot::hot;

use crate::app::activity::{Pulse, ROWS_MAX};
use crate::app::data::Data;
use crate::app::state::Model;

impl Model {
    /// How busy rows were before the moment on screen, as far as that is known.
    pub(crate) fn pulse(&self) -> Option<&Pulse> {
        if self.frozen {
            self.time.pulse_then.as_ref()
        } else {
            Some(&self.time.pulse)
        }
    }

    /// Begins again with what history knows: other threads are in scope, or records from before have come.
    pub(in crate::app) fn restart_pulse(&mut self) {
        let time = &mut self.time;
        time.pulse = match &self.newest {
            Some(newest) => Pulse::until(&time.history, newest, &self.scope).unwrap_or_default(),
            None => Pulse::default(),
        };
        if self.frozen {
            let shown = self.shown.as_ref();
            time.pulse_then = shown.and_then(|shown| Pulse::until(&time.history, shown, &self.scope));
        }
    }

    /// Another second may be over.
    pub(in crate::app) fn beat(&mut self) {
        let Some(newest) = &self.newest else { return };
        let pulse = &mut self.time.pulse;
        if !pulse.is_due(newest.capture.unix_ns) {
            return;
        }
        // The tables on screen are those of the newest snapshot, unless they show something else of it.
        let same = |data: &&Data| Rc::ptr_eq(&data.snapshot, newest);
        match self.data.as_ref().filter(same) {
            // All of the calls, whatever part of them is on screen.
            Some(data) if data.whole().rows.len() > ROWS_MAX => pulse.note(newest, data.whole(), &[]),
            Some(data) if data.shows_all_calls() => pulse.note(newest, data.whole(), data.hot()),
            Some(data) => pulse.note(newest, data.whole(), &hot(data.whole())),
            None => pulse.note_all(newest, &self.scope),
        }
    }
}
