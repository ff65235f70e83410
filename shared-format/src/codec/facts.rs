//! The sections with facts about the whole program.

use super::section::{Section, anything, refuse};
use crate::snapshot::{CaptureInfo, ClockInfo, Lifetime, Process};

/// The process (name, pid, start time, uptime and warnings), its clock, the capture, and the totals since the program
/// started.
pub(super) type Info = (
    (String, u32, u64, u64, Vec<String>),
    ClockInfo,
    CaptureInfo,
    Lifetime,
);

pub(super) const INFO: Section = Section {
    id: 1,
    write: |s, out| {
        let Process {
            name,
            pid,
            started_unix_ns,
            uptime_ns,
            warnings,
            copies: _,
        } = &s.process;
        let process = (name, pid, started_unix_ns, uptime_ns, warnings);
        out.put((process, &s.clock, &s.capture, s.lifetime))
    },
    read: |to, body| {
        let (process, clock, capture, lifetime): Info = body.read()?;
        let (name, pid, started_unix_ns, uptime_ns, warnings) = process;
        let s = &mut to.snapshot;
        s.process = Process {
            name,
            pid,
            started_unix_ns,
            uptime_ns,
            warnings,
            copies: std::mem::take(&mut s.process.copies),
        };
        (s.clock, s.capture, s.lifetime) = (clock, capture, lifetime);
        Ok(())
    },
    check: |s| {
        let hz = Some(s.clock.ticks_per_second);
        let wrong = hz.filter(|hz| !(hz.is_finite() && *hz > 0.0));
        refuse("ticks per second", wrong, "a finite number above 0")
    },
};

pub(super) const COPIES: Section = Section {
    id: 29,
    write: |s, out| out.put_if(!s.process.copies.is_empty(), &s.process.copies),
    read: |to, body| body.read().map(|copies| to.snapshot.process.copies = copies),
    check: anything,
};

pub(super) const MEASURING: Section = Section {
    id: 6,
    write: |s, out| out.put(&s.measuring),
    read: |to, body| body.read().map(|measuring| to.snapshot.measuring = measuring),
    check: |s| {
        let wrong = Some(s.measuring.sampling_hz).filter(|hz| !hz.is_finite());
        refuse("sampling rate", wrong, "a finite number")
    },
};

pub(super) const WAITS: Section = Section {
    id: 15,
    write: |s, out| out.put_if(s.waits, true),
    read: |to, body| body.read().map(|waits| to.snapshot.waits = waits),
    check: anything,
};

pub(super) const WINDOW: Section = Section {
    id: 13,
    write: |s, out| out.put_if(s.window, true),
    read: |to, body| body.read().map(|window| to.snapshot.window = window),
    check: anything,
};

pub(super) const DRAINS: Section = Section {
    id: 25,
    write: |s, out| s.drains_ns.map_or(Ok(()), |ns| out.put(ns)),
    read: |to, body| body.read().map(|ns| to.snapshot.drains_ns = Some(ns)),
    check: |s| {
        let wrong = s.drains_ns.filter(|ns| !ns.is_finite() || *ns < 0.0);
        refuse("added time of loads at clock reads", wrong, "0 or more")
    },
};

pub(super) const SEEN_COST: Section = Section {
    id: 28,
    write: |s, out| s.seen_cost.map_or(Ok(()), |seen| out.put(seen)),
    read: |to, body| body.read().map(|seen| to.snapshot.seen_cost = Some(seen)),
    check: |s| {
        let wrong = s.seen_cost.filter(|seen| !seen.is_sound());
        refuse("measured cost", wrong.map(|seen| seen.ns), "0 or more")
    },
};

/// Sites that are on now but were off for part of the time since the reset. Sites that are off now are in
/// [`MEASURING`].
pub(super) const WAS_OFF: Section = Section {
    id: 32,
    write: |s, out| out.put_if(!s.was_off.is_empty(), &s.was_off),
    read: |to, body| body.read().map(|sites| to.snapshot.was_off = sites),
    check: |s| {
        let sites = s.sites.len();
        let unknown = s.counted_in_part().find(|site| site.index() >= sites);
        let unknown = unknown.map(|site| site.0);
        refuse("site switched off", unknown, format_args!("below {sites}"))
    },
};
