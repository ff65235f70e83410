//! Checks that no call is lost in any of the normal ways for a C program to end.

use tickscope_format::file::open::{Liveness, RingFile};

use crate::support::{Counted, Language, build, done, program};

/// Returns how many times to test each way of ending. `.ci/nightly` sets a high number, and runs busy loops at the
/// same time.
fn times() -> u32 {
    std::env::var("ENDS").map_or(1, |ends| ends.parse().unwrap())
}

fn all_calls_are_there_at_every_normal_end() {
    let compiler = Language::C.compiler();
    let dir = tempfile::tempdir().unwrap();
    let built = build(dir.path(), compiler, Language::C, &["-pthread"], "ends.c");
    for _ in 0..times() {
        for way in ["live", "finish", "main", "exit", "last thread"] {
            let place = tempfile::tempdir().unwrap();
            let mut command = program(&built, place.path());
            if way == "live" {
                command.env("TICKSCOPE", "live");
            }
            done(command.arg(way));
            let rings: Vec<_> = std::fs::read_dir(place.path().join("rings"))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            let [ring] = &rings[..] else {
                panic!("{way}: {rings:?}")
            };
            let ring = RingFile::open(ring).unwrap();
            assert!(
                matches!(ring.liveness().unwrap(), Liveness::Exited { .. }),
                "{way}"
            );
            let (_, snapshot) = ring.newest_snapshot().unwrap();
            assert_eq!(Counted(snapshot).calls()["work"], 100, "{way}");
        }
    }
}

tickscope_testkit::tests![all_calls_are_there_at_every_normal_end];
