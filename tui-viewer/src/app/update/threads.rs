//! Choosing whether the time of one thread or of all threads is shown.

use crate::app::state::{App, Overlay};
use crate::app::threads::{ThreadChoice, busiest_first};
use crate::app::view::{Origin, View};

impl App {
    /// Shows only the selected thread, in the tree; shows all threads again if only this thread is shown already.
    pub(crate) fn enter_thread(&mut self) {
        let Some((data, row)) = self.selected() else {
            return;
        };
        let thread = &data.snapshot.threads[row.what.row as usize];
        let only = ThreadChoice::One {
            name: thread.name.clone(),
            tid: thread.tid,
        };
        if self.query.threads == only {
            self.show_time_of(ThreadChoice::All);
            self.tell("all threads are shown again");
        } else {
            let from = self.views.current;
            self.show_time_of(only);
            self.show(View::Tree);
            self.views.came_from = Some(Origin {
                view: from,
                filtered: true,
            });
            self.tell("only this thread is shown; a shows all");
        }
    }

    /// Shows the list of threads to choose from. If a thread is chosen already, shows all threads again instead.
    pub(crate) fn choose_threads(&mut self) {
        if self.query.threads == ThreadChoice::All {
            let order = self.shown().map(|shown| busiest_first(shown)).unwrap_or_default();
            self.overlay = Some(Overlay::Threads { index: 0, order });
        } else {
            self.choose_time_of(ThreadChoice::All);
        }
    }

    /// Shows the time of threads that the user has chosen explicitly, a choice that Escape does not undo.
    pub(crate) fn choose_time_of(&mut self, threads: ThreadChoice) {
        if let Some(origin) = &mut self.views.came_from {
            origin.filtered = false;
        }
        self.show_time_of(threads);
    }

    /// Shows the time of these threads.
    pub(crate) fn show_time_of(&mut self, threads: ThreadChoice) {
        self.query.threads = threads;
        self.playback.restart_activity(&self.program, &self.query.threads);
    }
}
