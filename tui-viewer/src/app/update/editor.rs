//! The source of what is selected.

use crate::app::message::Effect;
use crate::app::message::SourcePlace;
use crate::app::state::App;

// === impl App ===

impl App {
    /// Opens the selected row's file at its line.
    pub(in crate::app) fn edit_source(&mut self, effects: &mut Vec<Effect>) {
        let Some((data, row)) = self.derived.data.as_ref().zip(self.list().selected()) else {
            return;
        };
        let Some(function) = data.function(row.what) else {
            let label = data.label(row.what).to_string();
            self.complain(format!("{label} has no source"));
            return;
        };
        let function = data.tree.functions.get(function);
        effects.push(Effect::Edit(SourcePlace {
            file: function.file.clone(),
            line: function.line,
            // Of one that has ended the number may be another program's by now.
            pid: self.program.status.answers().then_some(data.snapshot.process.pid),
        }));
    }
}
