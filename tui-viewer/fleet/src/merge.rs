//! `tickscope merge`: adds up runs from one or more hosts and writes the sum to a file.

use std::path::Path;

use anyhow::{anyhow, ensure};
use tickscope_analysis::merge_runs::MergedRuns;
use tickscope_command::console::{Misuse, about, say};
use tickscope_command::{console, output_file};
use tickscope_format::addresses::Addresses;
use tickscope_format::file::open::RingFile;
use tickscope_format::{FormatError, Snapshot, snapshot_file};
use tickscope_programs::sampled_code;
use tickscope_report::archive;

use crate::args::MergeArgs;

/// Adds up the files, writes the sum to the output file, and prints its path.
///
/// # Errors
/// A file cannot be read (with `--skip-unreadable`: no file can be read), or the sum cannot be written.
pub fn run(args: &MergeArgs) -> anyhow::Result<u8> {
    let path = &args.output;
    if path == Path::new("-") {
        return Err(Misuse("a merged snapshot goes to a file: -o all.tks".into()).into());
    }
    output_file::check_kept(path).map_err(Misuse)?;
    // These checks come first, because reading many files can take a long time.
    ensure!(
        path.symlink_metadata().is_err(),
        "{} exists already; a snapshot never overwrites a file",
        path.display()
    );
    output_file::check_folder(path)?;
    let mut merged = MergedRuns::default();
    let mut unread = 0;
    for file in &args.files {
        match read(file) {
            Ok(snapshot) => merged.add(snapshot),
            Err(error) if args.skip_unreadable => {
                say(&format!("left out: {}", about(file, &error)));
                unread += 1;
            }
            Err(error) => {
                let why = about(file, &error);
                return Err(anyhow!(
                    "{why}; nothing was written; --skip-unreadable leaves such files out"
                ));
            }
        }
    }
    let Some((sum, said)) = merged.finish() else {
        return Err(anyhow!("none of {unread} files can be read: nothing was written"));
    };
    snapshot_file::write(path, &sum)?;
    said.iter().for_each(|line| say(line));
    console::write(&format!("{}\n", path.display()))?;
    Ok(console::DONE)
}

/// Reads the newest snapshot from a snapshot, a recording, a page or a ring.
fn read(path: &Path) -> Result<Snapshot, FormatError> {
    let (mut snapshot, addresses) = match archive::is_archive(path) {
        true => (archive::read(path)?, archive::addresses(path)),
        false => (RingFile::open(path)?.newest_snapshot()?.1, Addresses::default()),
    };
    sampled_code::read_code(&mut snapshot, addresses);
    Ok(snapshot)
}
