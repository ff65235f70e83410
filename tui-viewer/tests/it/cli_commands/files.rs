//! Files that are not rings, and rings that are broken: each causes one clear error line, but never a panic or a hang.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::support::{Place, cut, line_with};

/// Commands that open a file.
const COMMANDS: [&str; 5] = ["report", "stacks", "snapshot", "reset", "attach"];

/// Creates broken files. Returns the path of each, with the error message expected for it.
fn broken(place: &Place) -> Vec<(PathBuf, &'static str)> {
    let program = place.start("stuck");
    let ring = place.ring_of(program.pid()).unwrap();
    let whole = fs::read(&ring).unwrap();
    let kept = place.work().join("kept.tks");
    place.told(&["snapshot", "-o", "kept.tks", &program.name]);
    let kept_bytes = fs::read(&kept).unwrap();
    drop(program);
    fs::remove_file(&kept).unwrap();
    fs::remove_file(&ring).unwrap();

    let dir = place.work().join("broken");
    fs::create_dir(&dir).unwrap();
    let mut files = Vec::new();
    let mut add = |name: &str, bytes: &[u8], says| {
        fs::write(dir.join(name), bytes).unwrap();
        files.push((dir.join(name), says));
    };
    // The bytes are pseudorandom, but the same in each run.
    let random: Vec<u8> = (0..70_000u32)
        .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    add("empty.ring", b"", "not a tickscope file");
    add("random.ring", &random, "not a tickscope file");
    add("random.tks", &random, "not a tickscope file");
    add("random.json", &random, "reports as .json cannot be opened again");
    add("text.html", b"<html>", "not a tickscope file");
    add("magic.ring", b"TICKRING", "truncated: 8 bytes");
    add("page.ring", &whole[..5000], "truncated: 5000 bytes");
    add("half.ring", &whole[..whole.len() / 2], "truncated");
    let mut gutted = whole.clone();
    gutted[3 * 4096..].fill(0);
    add("gutted.ring", &gutted, "no whole record");
    let version = 1u64.rotate_left(32).to_le_bytes();
    let mut noise = [b"TICKRING".as_slice(), &version, &random].concat();
    noise.truncate(whole.len());
    add("noise.ring", &noise, "damaged");
    add("half.tks", &kept_bytes[..kept_bytes.len() / 2], "no whole record");
    add("head.tks", &kept_bytes[..20], "truncated");
    for (name, bytes) in [("newer.ring", &whole), ("newer.tks", &kept_bytes)] {
        add(name, bytes, "format 9.0, this tickscope reads 1.");
        let file = fs::OpenOptions::new().write(true).open(dir.join(name)).unwrap();
        file.write_all_at(&(9u64 << 32).to_le_bytes(), 8).unwrap();
    }
    files
}

fn broken_targets_get_one_line_and_code_one() {
    let place = Place::new();
    let refused = |command: &str, path: &str, says: &str| {
        let done = place.tickscope(&[command, path]).failed(1, &[says]);
        // If nothing is wrong with the file, the message need not name it.
        if says != "nothing to reset" {
            assert!(done.err.contains(path), "which one? {}", done.err);
        }
    };
    for (path, says) in broken(&place) {
        let path = path.to_str().unwrap();
        refused("report", path, says);
        for command in COMMANDS.iter().skip(1).filter(|_| path.contains("/half.")) {
            // `reset` recognizes a snapshot by its file extension, and refuses it without reading it.
            let is_kept = *command == "reset" && path.ends_with(".tks");
            refused(command, path, if is_kept { "kept snapshot" } else { says });
        }
        if path.ends_with("/gutted.ring") {
            refused("reset", path, "nothing to reset");
        }
    }
    for (path, says) in [
        ("/dev/null", "is a device or socket, wanted a plain file"),
        ("/proc/self/mem", "/proc/self/mem"),
        ("/", "directory"),
    ] {
        refused("report", path, says);
    }
    // The message names the cause only once.
    let done = place.tickscope(&["report", "/proc/self/mem"]).with_code(1);
    assert_eq!(done.err.matches("Input/output error").count(), 1, "{}", done.err);
}

fn a_list_with_broken_files_in_it_shows_them_and_the_others() {
    let place = Place::new();
    let mut files = broken(&place);
    let program = place.start("stuck");
    // The broken files are moved next to the ring of a running program.
    for entry in fs::read_dir(place.work().join("broken")).unwrap() {
        let path = entry.unwrap().path();
        fs::rename(&path, place.rings().join(path.file_name().unwrap())).unwrap();
    }
    for (path, _) in &mut files {
        *path = place.rings().join(path.file_name().unwrap());
    }
    let done = place.tickscope(&["list"]).ok().quiet();
    let live = line_with(&done.out, &program.name);
    assert!(live.contains("running"), "{live}");
    for (path, says) in &files {
        if path.extension().unwrap() != "ring" || *says == "no whole record" {
            continue;
        }
        let path = path.to_str().unwrap();
        let lines: Vec<&str> = done.out.lines().filter(|line| line.contains(path)).collect();
        let [line] = lines[..] else {
            panic!("one line for {path}: {lines:?}")
        };
        assert!(line.contains("broken") && line.contains(says), "{line}");
        assert_eq!(line.matches(path).count(), 1, "{line}");
    }
    let json = place.document(&["list", "--json"]);
    for (path, says) in &files {
        let mut programs = json["programs"].as_array().unwrap().iter();
        let entry = programs.find(|entry| entry["path"] == path.to_str().unwrap());
        if let Some(entry) = entry.filter(|entry| !entry["error"].is_null()) {
            assert!(entry["error"].as_str().unwrap().contains(says), "{entry}");
        }
    }
}

fn a_ring_cut_while_its_program_runs_is_said() {
    let (place, program) = Place::with("stuck");
    let path = place.ring_of(program.pid()).unwrap();
    // The program is stopped first, because it might otherwise write to the part of the file that is cut off.
    program.stop();
    cut(&path, 6000);
    let path = path.display();
    for command in COMMANDS {
        place.refuses(&format!("1 {command} {path} => truncated: 6000 bytes… {path}"));
    }
    // A search by name finds no readable ring.
    place.tickscope(&["report", &program.name]).with_code(2);
}

fn what_is_compared_with_is_opened_before_the_screen_and_needs_one() {
    let place = Place::new();
    place.refuses("2 --compare none.tks => no file none.tks");
    fs::write(place.work().join("text.tks"), "hello").unwrap();
    place.refuses("1 attach --compare text.tks => not a tickscope file");
    let program = place.start("stuck");
    place.told(&["snapshot", "-o", "kept.tks", &program.name]);
    let table = "1 NAME --compare kept.tks => --compare needs a terminal";
    place.refuses(&table.replace("NAME", &program.name));
}

tickscope_testkit::tests![
    broken_targets_get_one_line_and_code_one,
    a_list_with_broken_files_in_it_shows_them_and_the_others,
    a_ring_cut_while_its_program_runs_is_said,
    what_is_compared_with_is_opened_before_the_screen_and_needs_one,
];
