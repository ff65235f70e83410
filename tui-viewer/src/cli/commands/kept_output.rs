//! Keeps a program's output in a file while the screen is shown, and passes it on afterwards.

use std::fs::File;
use std::io;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

/// Unnamed file to which a program appends its output. The program gets file handles with a separate position, so that
/// its writes do not move the position of the reader.
#[derive(Debug)]
pub struct KeptOutput {
    file: File,
    /// Number of bytes that have been passed on.
    position: u64,
}

impl KeptOutput {
    /// Creates an empty file.
    ///
    /// # Errors
    /// The system reports an error.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: tempfile::tempfile()?,
            position: 0,
        })
    }

    /// Returns a new handle to the file, for the program's output.
    ///
    /// # Errors
    /// The system reports an error.
    pub fn for_program(&self) -> io::Result<File> {
        File::options()
            .append(true)
            .open(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// Copies to `out` what the program has written since the last call.
    ///
    /// # Errors
    /// Reading or writing fails.
    pub fn pass_on(&mut self, out: &mut impl Write) -> io::Result<()> {
        let mut buffer = [0; 8192];
        loop {
            let read = self.file.read_at(&mut buffer, self.position)?;
            if read == 0 {
                return out.flush();
            }
            out.write_all(&buffer[..read])?;
            self.position += read as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_or_written_over_while_it_is_passed_on() {
        let mut kept = KeptOutput::new().unwrap();
        let (mut program, mut errors) = (kept.for_program().unwrap(), kept.for_program().unwrap());
        let mut out = Vec::new();
        let mut expected = String::new();
        for line in 0..100 {
            let text = format!("line {line}\n");
            if line % 3 == 0 { &mut errors } else { &mut program }
                .write_all(text.as_bytes())
                .unwrap();
            expected += &text;
            if line % 7 == 0 {
                kept.pass_on(&mut out).unwrap();
            }
        }
        kept.pass_on(&mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
