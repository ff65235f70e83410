//! A program that uses tickscope with the oldest versions of all dependencies. It measures, publishes, and writes a
//! report in every format. If a format is not built in, the snapshot is kept instead.

use std::path::Path;

use tickscope::{Format, Mode, Status};

#[tickscope::profile]
fn work(rounds: u64) -> u64 {
    (0..rounds)
        .map(|round| tickscope::time!("step", std::hint::black_box(round)))
        .sum()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [dir, built] = &arguments[..] else {
        panic!(
            "found {arguments:?}, wanted a directory and the feature that is built in: `enable` or `export`"
        );
    };
    let session = tickscope::Builder::new("lowest")
        .dir(dir)
        .mode(Mode::Exact)
        .try_start()
        .expect("the ring is published");
    assert_eq!(session.status(), Status::Publishing);
    assert_eq!(session.warnings(), Vec::<String>::new());
    assert_eq!(work(1000), 499_500);
    assert_eq!(tickscope::snapshot().calls(), 1001);

    for (form, ending) in [
        (Format::Text, "txt"),
        (Format::Html, "html"),
        (Format::Folded, "folded"),
        (Format::Callgrind, "callgrind"),
        (Format::Tks, "tks"),
        (Format::Json, "json"),
        (Format::Speedscope, "speedscope.json"),
        (Format::Pprof, "pb.gz"),
    ] {
        let wanted = Path::new(dir).join(format!("report.{ending}"));
        let kept = Path::new(dir).join(format!("report.{ending}.tks"));
        let written = tickscope::dump(&wanted, form).expect("the report is written");
        // With only the feature `enable`, a snapshot is the only format that can be written. It is kept instead of
        // every other format.
        let is_built_in = built == "export" || form == Format::Tks;
        assert_eq!(written, if is_built_in { wanted } else { kept }, "{form:?}");
        assert!(written.metadata().is_ok_and(|file| file.len() > 0), "{form:?}");
    }
    println!("measured");
}
