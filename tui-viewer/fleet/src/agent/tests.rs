use std::fs;
use std::path::Path;

use tickscope_format::snapshot::CaptureKind;
use tickscope_testkit::test_program::TestProgram;

use super::*;
use crate::account::ItemKind;
use crate::amounts::Kind;

fn agent(dir: &Path, per_pid: bool) -> Agent {
    Agent::new(AgentOptions {
        places: vec![dir.to_path_buf()],
        per_pid,
        account: AccountOptions {
            top: 20,
            grouped: false,
            latency: true,
        },
    })
}

/// Makes the agent read all rings. Returns how often the program's function `work` was called, and how many of its
/// processes are running.
fn found(agent: &mut Agent, program: &str) -> (u64, u64) {
    agent.look();
    let key = AccountKey {
        program: program.into(),
        pid: None,
    };
    let account = &agent.accounts[&key];
    let mut items = account.items(ItemKind::Function);
    let work = items.find(|item| item.name == "app::work").unwrap();
    (work.exported().unwrap().get(Kind::Calls), account.now.running)
}

#[test]
fn numbers_add_up_over_resets_undos_lost_rings_and_runs() {
    let dir = tempfile::tempdir().unwrap();
    let mut first = TestProgram::named(dir.path(), "app", 1, 1);
    // The program is reset before the agent's first round.
    first.shows(3, CaptureKind::Periodic);
    first.reset(10);
    first.shows(1, CaptureKind::Periodic);
    let mut agent = agent(dir.path(), false);
    assert_eq!(found(&mut agent, "app"), (11, 1));
    assert_eq!(found(&mut agent, "app"), (11, 1), "nothing new");
    // The program is reset twice between two rounds.
    first.reset(4);
    first.reset(6);
    first.shows(2, CaptureKind::Periodic);
    assert_eq!(found(&mut agent, "app"), (22, 1));
    // The undo restores the 6 calls from before the last reset, so counting continues from 6 + 2.
    first.withdraws = Some(2);
    first.epoch += 1;
    first.shows(9, CaptureKind::Periodic);
    assert_eq!(found(&mut agent, "app"), (23, 1));
    // The ring is lost, and the program continues in another one.
    let path = first.ring.path().to_path_buf();
    fs::remove_file(&path).unwrap();
    let mut again = TestProgram::named(dir.path(), "app", 1, 2);
    (again.seq, again.epoch, again.withdraws) = (first.seq, first.epoch, first.withdraws);
    drop(first);
    assert_eq!(found(&mut agent, "app"), (23, 0));
    again.shows(12, CaptureKind::Periodic);
    again.ring.link().unwrap();
    assert_eq!(found(&mut agent, "app"), (26, 1));
    // The agent itself is restarted, once with its saved state and once without.
    let kept = agent.keep().unwrap();
    let mut agent = Agent::go_on(agent.options.clone(), &kept).unwrap();
    assert_eq!(found(&mut agent, "app"), (26, 1), "the epochs before are in it");
    let mut new = Agent::new(agent.options.clone());
    assert_eq!(found(&mut new, "app"), (12, 1), "the ring does not show them");
    for (kept, why) in [
        (&b"{}"[..], "missing field"),
        (
            br#"{"tickscope_metrics":1,"accounts":[],"runs":[{"closed":5}]}"#,
            "form 1",
        ),
    ] {
        let error = Agent::go_on(agent.options.clone(), kept).unwrap_err();
        assert!(error.contains(why), "{error}");
    }
    // A second process starts while the first one is still running, and outlives it.
    let mut second = TestProgram::named(dir.path(), "app", 2, 3);
    second.shows(100, CaptureKind::Periodic);
    assert_eq!(found(&mut agent, "app"), (126, 2));
    again.shows(13, CaptureKind::Final);
    drop(again);
    assert_eq!(found(&mut agent, "app"), (127, 1));
    drop(second);
    assert_eq!(found(&mut agent, "app"), (127, 0));
    for entry in fs::read_dir(dir.path()).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    for _ in 0..=ABSENCES_MOST {
        assert_eq!(found(&mut agent, "app"), (127, 0), "what was counted stays");
    }
    assert!(agent.runs.is_empty(), "and the runs go");
}

#[test]
fn garbage_is_counted_and_said_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut program = TestProgram::named(dir.path(), "app", 1, 1);
    program.shows(3, CaptureKind::Periodic);
    fs::write(dir.path().join("a.ring"), "no ring").unwrap();
    fs::write(dir.path().join("b.ring"), [0; 9000]).unwrap();
    // A truncated ring, as a full disk would leave behind, and a ring whose records are overwritten with noise.
    let bytes = fs::read(program.ring.path()).unwrap();
    fs::write(dir.path().join("c.ring"), &bytes[..bytes.len() / 2]).unwrap();
    let mut other = TestProgram::named(dir.path(), "other", 5, 9);
    other.shows(1, CaptureKind::Periodic);
    let mut noise = fs::read(other.ring.path()).unwrap();
    let begin = noise.len() - (1 << 20);
    noise[begin..]
        .iter_mut()
        .enumerate()
        .for_each(|(at, byte)| *byte = (at * 31 % 251) as u8);
    fs::remove_file(other.ring.path()).unwrap();
    fs::write(dir.path().join("d.ring"), noise).unwrap();
    let mut agent = agent(dir.path(), false);
    let said = agent.look();
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(
        said[0].contains("a.ring: not served: not a tickscope"),
        "{}",
        said[0]
    );
    assert_eq!(agent.look(), [""; 0]);
    assert_eq!(agent.state.unreadable_rings, 4);
    assert_eq!(found(&mut agent, "app"), (3, 1));
    fs::remove_file(dir.path().join("a.ring")).unwrap();
    agent.look();
    assert_eq!(agent.state.unreadable_rings, 3);
}

#[test]
fn names_that_come_and_go_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let mut agent = agent(dir.path(), false);
    let numbers: Vec<u64> = (0..PROGRAMS_MOST as u64 + 5).collect();
    // Five programs start and end between two rounds.
    for five in numbers.chunks(5) {
        let start = |&number| {
            let mut program = TestProgram::named(dir.path(), &format!("app-{number}"), number, number);
            program.shows(1, CaptureKind::Periodic);
            program
        };
        let programs: Vec<TestProgram> = five.iter().map(start).collect();
        agent.look();
        for program in programs {
            fs::remove_file(program.ring.path()).unwrap();
        }
    }
    assert_eq!(agent.accounts.len(), PROGRAMS_MOST);
    assert_eq!(agent.state.programs_left_out, 5);
    let runs = agent.runs.len();
    assert!(runs <= 5 * (ABSENCES_MOST as usize + 2), "{runs}");
}

#[test]
fn the_series_of_a_process_end_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut agent = agent(dir.path(), true);
    let mut program = TestProgram::named(dir.path(), "app", 1, 1);
    program.shows(1, CaptureKind::Periodic);
    agent.look();
    let pids: Vec<Option<u32>> = agent.accounts.keys().map(|key| key.pid).collect();
    assert_eq!(pids, [Some(std::process::id())]);
    fs::remove_file(program.ring.path()).unwrap();
    for _ in 0..=ABSENCES_MOST {
        agent.look();
    }
    assert!(agent.accounts.is_empty());
}

/// Measures the CPU time and memory of an agent that reads fifty programs with a thousand nodes each, with one scrape
/// after every round of records. If FLEET_DIR is set, the rings are created in that directory, and after the
/// measurement the programs keep publishing, so that another agent can read them.
#[test]
#[ignore = "takes minutes: .ci/nightly fleet"]
fn fifty_programs_cost_a_hundredth_of_a_core() {
    use crate::exposition::{Style, exposition};
    let own = tempfile::tempdir().unwrap();
    let chosen = std::env::var_os("FLEET_DIR");
    let dir = chosen.as_deref().map_or(own.path(), Path::new);
    let mut programs: Vec<TestProgram> = (0..50)
        .map(|number| TestProgram::named(dir, &format!("app-{number}"), number, number + 1))
        .collect();
    let mut agent = agent(dir, false);
    let mut show = |second: u64| {
        let mut snapshot = tickscope_testkit::ring::snapshot(1000, 4, 400, 1);
        let (calls, ticks) = (&mut snapshot.nodes.calls, &mut snapshot.nodes.self_ticks);
        calls.iter_mut().chain(ticks).for_each(|number| *number *= second);
        for row in 0..1000 {
            let mut histogram = tickscope_format::latency::Histogram::default();
            (0..second).for_each(|call| histogram.insert(1 << (8 + (row as u64 + call) % 20)));
            snapshot.latencies.push(row, &histogram);
        }
        for program in &mut programs {
            snapshot.capture.unix_ns = now_unix_ns();
            program.publish(&mut snapshot);
        }
    };
    let thread_cpu = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let resident_kb = || -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .unwrap();
        line.trim_end_matches("kB").trim().parse().unwrap()
    };
    let (mut cpu, mut bytes, mut resident) = (Duration::ZERO, 0, Vec::new());
    let scrapes = 40;
    for second in 1..=scrapes {
        show(second);
        let begin = thread_cpu();
        assert_eq!(agent.look(), [""; 0]);
        bytes = exposition(&agent.accounts, &agent.state, 1, Style::OpenMetrics).len();
        if second > 1 {
            cpu += thread_cpu() - begin;
        }
        resident.push(resident_kb());
    }
    let each = cpu / (scrapes as u32 - 1);
    let (early, late) = (resident[scrapes as usize / 2], resident[scrapes as usize - 1]);
    println!(
        "fleet: 50 programs of 1000 nodes: {each:?} a scrape of {bytes} bytes, {early} kB, {late} kB later"
    );
    // With one round every 15 s, this is 1 % of a core.
    assert!(
        cfg!(debug_assertions) || each <= Duration::from_millis(150),
        "{each:?}"
    );
    assert!(late <= early + early / 10, "{resident:?}");
    if chosen.is_some() {
        for second in scrapes.. {
            show(1 + second % 1000);
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}
