//! One thread alone, and all of them again.

use crate::app::figures::What;
use crate::app::state::App;
use crate::app::thread_choice::ThreadChoice;
use crate::app::view::Origin;
use crate::app::view::View;

impl App {
    /// Only the selected thread, in the tree; all of them again where it is the one already.
    pub(in crate::app) fn enter_thread(&mut self) {
        let Some((data, What::Thread(row))) = self
            .derived
            .data
            .as_ref()
            .zip(self.list().selected().map(|row| row.what))
        else {
            return;
        };
        let thread = &data.snapshot.threads[row as usize];
        let only = ThreadChoice::One {
            name: thread.name.clone(),
            tid: thread.tid,
        };
        if self.query.threads == only {
            self.show_time_of(ThreadChoice::All);
            self.tell("all threads are shown again");
        } else {
            self.show_time_of(only);
            self.show(View::Tree);
            self.views.came_from = Some(Origin {
                view: View::Threads,
                filtered: true,
            });
            self.tell("only this thread is shown; a shows all");
        }
    }
}
