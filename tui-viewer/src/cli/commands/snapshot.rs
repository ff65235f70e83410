//! `tickscope snapshot`: writes a snapshot to a file.

use std::path::Path;

use anyhow::bail;
use tickscope_command::console::Misuse;
use tickscope_command::{console, output_file};
use tickscope_format::snapshot_file;
use tickscope_programs::local_time;
use tickscope_programs::sampled_code;

use crate::cli::args::TargetArgs;
use crate::cli::commands::live_snapshot;
use crate::cli::commands::live_snapshot::{LiveSnapshot, Reader};
use crate::event_loop::saved_files;

/// Writes the snapshot of a target to a file, and prints the file's path.
///
/// # Errors
/// There is no such target, or it cannot be read or written.
pub fn run(args: &TargetArgs, file: Option<&Path>) -> anyhow::Result<u8> {
    if file == Some(Path::new("-")) {
        bail!("a snapshot goes to a file, not to standard output; for that: tickscope report");
    }
    file.map_or(Ok(()), output_file::check_kept).map_err(Misuse)?;
    let wanted = args.wanted();
    let found = live_snapshot::find(args, Reader::Script, None)?;
    let LiveSnapshot {
        mut snapshot,
        addresses,
        ..
    } = live_snapshot::of(&found, &wanted)?;
    // Code is read here, because the program's files may be missing on the machine that opens the snapshot.
    sampled_code::read_code(&mut snapshot, addresses);
    let path = match file {
        Some(path) => {
            anyhow::ensure!(
                path.symlink_metadata().is_err(),
                "{} exists already; a snapshot never overwrites a file",
                path.display()
            );
            output_file::check_folder(path)?;
            snapshot_file::write(path, &snapshot)?;
            path.to_path_buf()
        }
        None => {
            saved_files::keep_snapshot(&snapshot, local_time::utc_offset_s()).map_err(anyhow::Error::msg)?
        }
    };
    console::write(&format!("{}\n", path.display()))?;
    Ok(console::DONE)
}
