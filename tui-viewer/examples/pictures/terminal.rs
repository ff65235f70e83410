//! A terminal of a given size, and the viewer in it.

use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};
use vt100::Parser;

/// How long the viewer may take to show something.
const PATIENCE: Duration = Duration::from_secs(20);

/// The viewer draws at most so often that nothing more comes after this.
const QUIET: Duration = Duration::from_millis(700);

/// A viewer and its screen.
pub(crate) struct Terminal {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    parser: Arc<Mutex<Parser>>,
}

impl Terminal {
    /// Starts the viewer for the ring of a program.
    pub(crate) fn start(viewer: &Path, ring: &Path, (columns, rows): (u16, u16)) -> anyhow::Result<Self> {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size)?;
        let mut command = CommandBuilder::new(viewer);
        command.arg(ring);
        for (name, value) in [
            ("TERM", "xterm-256color"),
            ("COLORTERM", "truecolor"),
            ("LC_ALL", "C.UTF-8"),
        ] {
            command.env(name, value);
        }
        for name in ["NO_COLOR", "TICKSCOPE_THEME"] {
            command.env_remove(name);
        }
        let child = pair.slave.spawn_command(command)?;
        let mut output = pair.master.try_clone_reader()?;
        let keys = pair.master.take_writer()?;
        let cells = |count| NonZero::new(count).context("a terminal has cells");
        let parser = Arc::new(Mutex::new(Parser::new(cells(rows)?, cells(columns)?, 0)));
        let shown = Arc::clone(&parser);
        thread::spawn(move || {
            // The terminal is open as long as it is read.
            let _master = pair.master;
            let mut bytes = [0; 1 << 14];
            while let Ok(read @ 1..) = output.read(&mut bytes) {
                locked(&shown).process(&bytes[..read]);
            }
        });
        Ok(Self { child, keys, parser })
    }

    /// Types, and waits until the screen shows a text and has all that belongs to it.
    pub(crate) fn type_until(&mut self, keys: &str, text: &str) -> anyhow::Result<()> {
        self.keys.write_all(keys.as_bytes())?;
        self.keys.flush()?;
        let begin = Instant::now();
        while !locked(&self.parser).screen().contents().contains(text) {
            if begin.elapsed() > PATIENCE {
                bail!(
                    "the viewer never showed \"{text}\" but\n{}",
                    locked(&self.parser).screen().contents()
                );
            }
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(QUIET);
        Ok(())
    }

    /// Looks at the screen.
    pub(crate) fn look<T>(&self, at: impl FnOnce(&vt100::Screen) -> T) -> T {
        at(locked(&self.parser).screen())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It changes nothing, so it need not end by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn locked(parser: &Mutex<Parser>) -> MutexGuard<'_, Parser> {
    parser.lock().unwrap_or_else(PoisonError::into_inner)
}
