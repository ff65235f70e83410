use proptest::prelude::*;
use tickscope_format::ids::ThreadId;
use tickscope_format::snapshot::{LineSample, Module, NO_MODULE};
use tickscope_testkit::fixture::{
    self,
    programs::{any_snapshot, run},
};

use super::*;

fn frame(module: &str, function: &str) -> Frame {
    Frame {
        function: function.into(),
        module: module.into(),
        file: format!("/src/{function}.rs"),
        line: 7,
    }
}

fn sample(inside: SampledIn, address: u64, samples: u64) -> LineSample {
    LineSample {
        inside,
        module: 0,
        address,
        samples,
        cpu_ns: samples * 100,
    }
}

/// Returns a module and its addresses. Address 1 resolves to the first of these lists of frames, address 2 to the second, and so
/// on.
fn known(frames: &[&[Frame]]) -> (Module, Addresses) {
    let module = Module {
        path: "/bin/app".into(),
        ..Module::default()
    };
    let mut addresses = Addresses::default();
    for (address, frames) in (1..).zip(frames) {
        addresses.insert(&module, address, frames.to_vec());
    }
    (module, addresses)
}

/// Returns the path, the self ticks, the sampled ticks and the error of the self time of each row.
fn rows(snapshot: &Snapshot) -> Vec<(String, u64, u64, u64)> {
    let row = |row: u32| {
        let path = std::iter::successors(Some(NodeId(row)), |&node| snapshot.nodes.parent_of(node));
        let mut path: Vec<_> = path
            .map(|node| snapshot.sites[snapshot.nodes.site[node.index()] as usize].path())
            .collect();
        path.reverse();
        let error = snapshot.estimates.iter().find(|estimate| estimate.node.0 == row);
        let own = snapshot.nodes.self_ticks[row as usize];
        let sampled = snapshot.measures.of_row(Quantity::Sampled, row);
        (
            path.join(" > "),
            own,
            sampled,
            error.map_or(0, |error| error.self_error),
        )
    };
    (0..snapshot.nodes.len() as u32).map(row).collect()
}

#[test]
fn what_is_not_counted_stands_below_what_called_it_with_its_time() {
    let mut s = Snapshot::default();
    for name in ["run", "parse", "eq"] {
        s.sites.push(fixture::site("app", name, 0));
    }
    let run = s.nodes.push(None, SiteId(0), 1, 10_000);
    let parse = s.nodes.push(Some(run), SiteId(1), 5, 400);
    s.nodes.push(Some(run), SiteId(2), 3, 50);
    s.threads.push(Thread {
        rows: 3,
        outside_ticks: 900,
        ..Thread::default()
    });
    s.functions = Some(Default::default());
    s.measures.push_row(Quantity::Waiting, run.0, 2_000);
    let (module, addresses) = known(&[
        &[frame("core::slice", "get"), frame("app", "run")],
        &[frame("core::slice", "get"), frame("app", "eq")],
        &[frame("", "memchr")],
        &[frame("std::rt", "start")],
        &[frame("app", "hash")],
    ]);
    s.lines.modules.push(module);
    let (run, parse, outside) = (
        SampledIn::Row(run.0),
        SampledIn::Row(parse.0),
        SampledIn::Thread(0),
    );
    s.lines.set([
        sample(run, 1, 20),
        sample(run, 2, 10),
        sample(run, 3, 5),
        sample(run, 4, 2),
        sample(run, 5, 1),
        // The address of this sample was not looked up.
        sample(run, 6, 1),
        // The place of this sample is unknown.
        LineSample {
            module: NO_MODULE,
            ..sample(run, 0, 1)
        },
        // By chance, these samples add up to more CPU time than the row has.
        sample(parse, 2, 6),
        sample(parse, 3, 2),
        LineSample {
            module: NO_MODULE,
            ..sample(outside, 9, 3)
        },
        sample(outside, 4, 3),
        sample(SampledIn::Measuring, 3, 4),
    ]);
    let with = with_sampled_rows(&s, &addresses);
    assert_eq!(
        rows(&with),
        [
            ("app::run".into(), 6_200, 0, 163),
            ("app::run > app::parse".into(), 0, 0, 42),
            ("app::run > app::eq".into(), 1_050, 1_000, 278),
            ("std::rt::start".into(), 300, 300, 122),
            ("(no file)".into(), 300, 300, 122),
            ("app::run > (others)".into(), 0, 1, 0),
            ("app::run > (others) > std::rt::start".into(), 200, 200, 163),
            ("app::run > (others) > app::hash".into(), 100, 100, 135),
            ("app::run > core::slice::get".into(), 2_000, 2_000, 316),
            ("app::run > memchr".into(), 500, 500, 221),
            ("app::run > app::parse > memchr".into(), 100, 100, 65),
            ("app::run > app::parse > app::eq".into(), 300, 300, 65),
        ]
    );
    assert_eq!(with.threads[0].outside_ticks, 300);
    assert_eq!(with.nodes.calls, [1, 5, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(with.lines, s.lines, "no sample is lost");
    // The samples cover half of the thread's CPU time.
    let mut late = s.clone();
    late.threads[0].cpu_ns = Some(2 * 5_400);
    let unscaled = rows(&with_unscaled_rows(&late, &addresses));
    let late = rows(&with_sampled_rows(&late, &addresses));
    let own = |name: &str| late.iter().find(|row| row.0 == name).map(|row| row.1);
    let got = (own("app::run"), own("app::run > memchr"));
    assert_eq!(got, (Some(2_400), Some(1_000)));
    let memchr = unscaled.iter().find(|row| row.0 == "app::run > memchr");
    assert_eq!(memchr.map(|row| row.1), Some(500), "as without a CPU time");
    assert_eq!(own("app::run > app::parse"), Some(0), "it has no more");
    assert_eq!(*with_sampled_rows(&with, &addresses), *with);
}

#[test]
fn rows_whose_time_was_outside_have_the_error_of_that_time() {
    let mut s = run(&[(0, "main", 1, 0), (1, "poll", 1_000, 90_000)]);
    s.waits = true;
    s.threads[0].cpu_ns = Some(100_000);
    s.estimates = [0, 1]
        .map(|row| fixture::estimate(row, 10, 20_000, 20_000))
        .into();
    let (module, addresses) = known(&[&[frame("std::rt", "start")]]);
    s.lines.modules.push(module);
    s.lines.set([
        sample(SampledIn::Row(1), 2, 500),
        sample(SampledIn::Thread(0), 1, 400),
    ]);
    let with = with_sampled_rows(&s, &addresses);
    let of = |row: usize| (with.estimates[row].self_error, with.estimates[row].total_error);
    assert_eq!(with.nodes.self_ticks, [0, 56_080, 33_920]);
    assert_eq!([of(0), of(1)], [(20_000, 20_122), (20_122, 20_122)]);
}

#[test]
fn few_samples_are_those_of_all_threads() {
    let mut s = Snapshot::default();
    s.sites.push(fixture::site("app", "run", 0));
    for thread in 0..3 {
        s.nodes.push(None, SiteId(0), 1, 10_000);
        s.threads.push(Thread {
            first_row: thread,
            rows: 1,
            ..Thread::default()
        });
    }
    s.functions = Some(Default::default());
    let (module, addresses) = known(&[
        &[frame("", "memchr")],
        &[frame("", "memcpy")],
        &[frame("", "read")],
    ]);
    s.lines.modules.push(module);
    let of = |thread, address| sample(SampledIn::Row(thread), address, 1);
    s.lines.set([of(0, 1), of(1, 1), of(2, 1), of(0, 2), of(1, 3)]);
    let with = rows(&with_sampled_rows(&s, &addresses));
    let called: Vec<&str> = with
        .iter()
        .map(|row| row.0.as_str())
        .filter(|path| path.contains('>'))
        .collect();
    let (others, memchr) = ("app::run > (others)", "app::run > memchr");
    let few = ["app::run > (others) > memcpy", "app::run > (others) > read"];
    assert_eq!(called, [others, few[0], memchr, others, few[1], memchr, memchr]);
}

proptest! {
    #[test]
    fn totals_stay_whatever_was_sampled(
        mut whole in any_snapshot(),
        samples in prop::collection::vec((any::<prop::sample::Index>(), 1..9u64, 1..20u64, 1..1_000_000_000u64), 0..40),
        has_functions in any::<bool>(),
        errors in prop::option::of(prop::collection::vec(0..100_000u64, 1..9)),
    ) {
        whole.functions = has_functions.then(Default::default);
        whole.waits = errors.is_some();
        for thread in whole.threads.iter_mut().filter(|_| errors.is_some()) {
            thread.cpu_ns = Some(1_000_000_000);
        }
        for (row, &error) in (0..whole.nodes.len() as u32).zip(errors.iter().flatten().cycle()) {
            if whole.sum_of(NodeId(row)).is_none() {
                whole.estimates.retain(|estimate| estimate.node.0 != row);
                whole.estimates.push(fixture::estimate(row, 3, error / 2, error));
            }
        }
        whole.estimates.sort_by_key(|estimate| estimate.node);
        let names: Vec<Frame> = whole.sites.iter().map(|site| frame(&site.module, &site.name)).collect();
        let at = |at: usize| names.get(at).cloned().unwrap_or_else(|| frame("libc", "read"));
        let (module, addresses) = known(&[&[at(0)], &[at(1), at(0)], &[at(9)], &[at(2)], &[frame("a", "b")], &[]]);
        whole.lines.modules.push(module);
        let module = whole.lines.modules.len() as u32 - 1;
        let rows = whole.nodes.len();
        let places = (0..rows as u32).filter(|&row| whole.sum_of(NodeId(row)).is_none()).map(SampledIn::Row);
        let places: Vec<_> = places
            .chain((0..whole.threads.len() as u32).map(SampledIn::Thread))
            .chain([SampledIn::Measuring])
            .collect();
        whole.lines.set(samples.into_iter().map(|(place, address, samples, cpu_ns)| LineSample {
            inside: *place.get(&places),
            module,
            address,
            samples,
            cpu_ns,
        }));
        let with = with_sampled_rows(&whole, &addresses);
        prop_assert_eq!(fixture::received(&with).calls(), whole.calls());
        let sums = |s: &Snapshot| -> Vec<u64> {
            let of = |thread| s.rows_of(thread).map(|row| s.nodes.self_ticks[row]).sum::<u64>();
            (0..).map(ThreadId).zip(&s.threads).map(|(id, thread)| thread.outside_ticks + of(id)).collect()
        };
        prop_assert_eq!(sums(&with), sums(&whole));
        // For each thread, returns the totals in `s` of as many rows as the thread has in `of`.
        let totals = |s: &Snapshot, of: &Snapshot| -> Vec<u64> {
            let totals = s.nodes.totals(&s.nodes.self_ticks);
            (0..).map(ThreadId).zip(&of.threads).flat_map(|(id, thread)| {
                let first = s.rows_of(id).start;
                totals[first..first + thread.rows as usize].to_vec()
            }).collect()
        };
        let off = with.measures.off_cpu_by_row(with.nodes.len());
        let is_whole = off.iter().zip(&with.nodes.self_ticks).all(|(off, ticks)| off <= ticks);
        prop_assert!(is_whole || whole.measures.off_cpu_by_row(rows).iter().zip(&whole.nodes.self_ticks).any(|(off, ticks)| off > ticks));
        let (before, after) = (totals(&whole, &whole), totals(&with, &whole));
        let mixed = with.measures.of(Quantity::Sampled).map_or_else(Vec::new, |column| column.rows.clone());
        for (id, thread) in (0..).map(ThreadId).zip(&whole.threads) {
            let first = with.rows_of(id).start;
            for (at, row) in whole.rows_of(id).enumerate() {
                // A counted row may gain time from samples in the row above it.
                let is_mixed = mixed.iter().any(|&(mixed, _)| mixed as usize == first + at);
                prop_assert!(after[row] <= before[row] || is_mixed, "{row} of {}", thread.rows);
                prop_assert!(after[row] >= before[row] || whole.waits, "{row} of {}", thread.rows);
            }
        }
    }
}

#[test]
fn samples_in_the_collectors_code_are_no_samples_of_a_row() {
    let mut s = Snapshot::default();
    s.sites.push(fixture::site("app", "run", 0));
    s.nodes.push(None, SiteId(0), 1, 10_000);
    s.threads.push(Thread {
        rows: 1,
        ..Thread::default()
    });
    s.functions = Some(Default::default());
    let (module, addresses) = known(&[
        &[frame("app", "hash")],
        &[frame("tickscope::enabled::functions::hooks", "enter")],
    ]);
    s.lines.modules.push(module);
    let row = SampledIn::Row(0);
    s.lines.set([sample(row, 1, 5), sample(row, 2, 3)]);
    let with = with_sampled_rows(&s, &addresses);
    let inside = with
        .lines
        .samples
        .iter()
        .map(|sample| (sample.inside, sample.samples));
    assert_eq!(inside.collect::<Vec<_>>(), [(row, 5), (SampledIn::Measuring, 3)]);
}
