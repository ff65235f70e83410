//! A program that carries tickscope with the oldest versions of all that it needs: it measures, publishes and writes
//! every form of report that it is built with.

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

    for (form, ending, needs) in [
        (Format::Text, "txt", "enable"),
        (Format::Html, "html", "enable"),
        (Format::Folded, "folded", "enable"),
        (Format::Callgrind, "callgrind", "enable"),
        (Format::Tks, "tks", "enable"),
        (Format::Json, "json", "export"),
        (Format::Csv, "csv", "export"),
        (Format::Speedscope, "speedscope.json", "export"),
        (Format::Pprof, "pb.gz", "export"),
    ] {
        let path = Path::new(dir).join(format!("report.{ending}"));
        let written = tickscope::dump(&path, form);
        assert_eq!(
            written.is_ok(),
            needs == "enable" || built == "export",
            "{form:?}: {written:?}"
        );
        assert_eq!(path.metadata().is_ok_and(|file| file.len() > 0), written.is_ok());
    }
    println!("measured");
}
