//! Tests that cover all sections, and helpers for the tests of each section.

use bincode::Encode;
use proptest::prelude::*;

use super::section::{append, word};
use super::*;
pub(super) use crate::fixture::payload as encoded;
use crate::fixture::{self, programs, small_payload};
use crate::ids::SiteId;
use crate::snapshot::{Site, Thread};

/// Asserts that a valid snapshot is refused after each of the changes, with an error that contains `words`.
pub(super) fn refuses(words: &str, sound: &Snapshot, changes: &[fn(&mut Snapshot)]) {
    for (index, change) in changes.iter().enumerate() {
        let mut changed = sound.clone();
        change(&mut changed);
        let error = decode(&encoded(&changed)).unwrap_err().to_string();
        assert!(error.contains(words), "{index}: {error}");
    }
}

#[test]
fn payloads_with_the_same_sites_share_them() {
    let (first, mut second) = (fixture::two_threads(), fixture::two_threads());
    second.nodes.calls[0] += 1;
    let mut decoder = Decoder::default();
    let shown = [&first, &second].map(|snapshot| decoder.decode(&encoded(snapshot)).unwrap());
    assert_eq!(shown, [first.clone(), second.clone()]);
    assert!(std::ptr::eq(&*shown[0].sites, &*shown[1].sites));
    second.sites[0].line += 1;
    assert_eq!(decoder.decode(&encoded(&second)).unwrap(), second);
    assert_eq!(shown[0], first, "what is shared is not written to");
}

#[test]
fn a_snapshot_comes_back_as_it_was() {
    for snapshot in [
        Snapshot::default(),
        fixture::two_threads(),
        fixture::recursion(),
        fixture::slow_frames(),
        Snapshot {
            was_off: vec![SiteId(0)],
            ..fixture::over_budget()
        },
        programs::order_sim_counting(),
        programs::queries(),
    ] {
        assert_eq!(decode(&encoded(&snapshot)).unwrap(), snapshot);
    }
}

/// Earlier versions wrote muted scopes in a section of their own, which readers now skip.
#[test]
fn a_program_whose_scopes_were_muted_opens() {
    #[derive(Encode)]
    enum Policy {
        On,
    }
    #[derive(Encode)]
    enum Reason {
        Budget { learned: bool },
        Asked,
    }
    let muted =
        [Reason::Asked, Reason::Budget { learned: true }].map(|reason| (1u32, reason, 55.0, 20.0, 0.04));
    let snapshot = fixture::over_budget();
    let mut bytes = Vec::new();
    append(&mut bytes, 27, (Policy::On, Vec::from(muted)), CONFIG).unwrap();
    encode(&snapshot, &mut bytes).unwrap();
    assert_eq!(decode(&bytes).unwrap(), snapshot);
}

#[test]
fn a_window_comes_back_as_one_and_nothing_else_says_that_it_is_none() {
    let whole = fixture::two_threads();
    let window = Snapshot {
        window: true,
        ..whole.clone()
    };
    assert_eq!(decode(&encoded(&window)).unwrap(), window);
    assert_eq!(encoded(&window).len(), encoded(&whole).len() + 17);
}

#[test]
fn a_small_payload_says_the_same_but_latencies() {
    for mut snapshot in [
        Snapshot::default(),
        fixture::two_threads(),
        programs::order_sim_counting(),
        programs::queries(),
    ] {
        if !snapshot.nodes.is_empty() {
            let mut latencies = Latencies::default();
            latencies.push(0, &fixture::calls_of(5, 1));
            latencies::put_in(&mut snapshot, &latencies).unwrap();
        }
        let small = small_payload(&snapshot);
        assert!(small.len() <= encoded(&snapshot).len());
        snapshot.latencies = Latencies::default();
        assert_eq!(decode(&small).unwrap(), snapshot);
    }
}

#[test]
fn without_its_sites_a_payload_is_the_rest_of_it() {
    let snapshot = fixture::two_threads();
    let payload = encoded(&snapshot);
    let (mut others, sites) = split_sites(&payload).unwrap();
    assert_eq!(others.len() + sites.len(), payload.len());
    assert!(sites.len() > 16 && others.len() > 16);
    others.extend(&sites);
    assert_eq!(decode(&others).unwrap(), snapshot);
    for cut in 1..payload.len() {
        if let Ok((others, sites)) = split_sites(&payload[..cut]) {
            assert_eq!(others.len() + sites.len(), cut, "cut between two sections");
        }
    }
    assert!(split_sites(&payload[..payload.len() - 1]).is_err());
}

#[test]
fn bytes_left_over_in_a_section_are_refused() {
    let mut bytes = encoded(&Snapshot::default());
    let facts = word(&bytes, 8).unwrap();
    bytes[8..16].copy_from_slice(&(facts + 8).to_le_bytes());
    bytes.splice(16 + facts as usize..16 + facts as usize, [0; 8]);
    let error = decode(&bytes).unwrap_err().to_string();
    assert!(error.contains("8 bytes left over"), "{error}");
}

#[test]
fn many_short_texts_may_claim_what_they_hold() {
    // Short texts take the most memory per byte. With these numbers of texts, some sections are shorter than
    // `LEAST_CLAIM` and others are longer.
    for texts in [1, 130, 2_000, 40_000, 300_000] {
        let mut snapshot = Snapshot::default();
        let mut text = (0..texts).filter_map(char::from_u32).map(String::from);
        let mut next = || text.next().unwrap_or_default();
        snapshot.sites.extend((0..texts / 4).map(|_| Site {
            name: next(),
            module: next(),
            file: next(),
            line: 1,
            group: next(),
        }));
        assert_eq!(
            decode(&small_payload(&snapshot)).unwrap(),
            snapshot,
            "{texts} texts"
        );
        assert_eq!(decode(&encoded(&snapshot)).unwrap(), snapshot, "{texts} texts");
    }
}

#[test]
fn sections_of_any_length_may_claim_what_they_hold() {
    // Numbers with a short encoding take the most memory per byte. The row counts are just below and above each limit.
    for rows in [7, 2_000, 2_730, 4_000, 130_000, 180_000] {
        let mut snapshot = Snapshot::default();
        snapshot.sites.push(Default::default());
        for _ in 0..rows {
            snapshot.nodes.push(None, SiteId(0), 1, 1);
        }
        snapshot.threads.push(Thread {
            rows,
            ..Thread::default()
        });
        assert_eq!(
            decode(&small_payload(&snapshot)).unwrap(),
            snapshot,
            "{rows} rows"
        );
        assert_eq!(decode(&encoded(&snapshot)).unwrap(), snapshot, "{rows} rows");
    }
}

proptest! {
    #[test]
    fn any_snapshot_comes_back_as_it_was(snapshot in programs::any_snapshot()) {
        // The cost is not compared, because it may be NaN, which does not equal itself.
        let mut snapshot = snapshot;
        snapshot.capture.cost = Default::default();
        prop_assert_eq!(decode(&encoded(&snapshot)).unwrap(), snapshot);
    }
}
