//! What a column is, and the cells that it takes.

use crate::app::sort::SortKey;

/// What a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// Share of total time.
    TotalShare,
    /// Share of the function on the screen.
    OfShare,
    /// Share of self time.
    SelfShare,
    /// The view's main share as a bar.
    Bar,
    /// Total time.
    Total,
    /// Self time.
    SelfTime,
    /// Number of calls.
    Calls,
    /// Calls of one function by another, of all its calls.
    CallsOf,
    /// Total time of a call, on average.
    Avg,
    /// What half of the calls did not exceed.
    P50,
    /// What 99 of 100 calls did not exceed.
    P99,
    /// The longest call.
    Max,
    /// How busy it was in the last seconds.
    Spark,
    /// The function.
    Name,
    /// Its file and line.
    Where,
    /// The thread.
    Thread,
    /// Its kernel id, or how many have finished.
    Tid,
    /// What a thread does; whether a site was met or is off.
    State,
    /// Share of a CPU in the last interval.
    Busy,
    /// The same of the last intervals, side by side.
    Course,
    /// Time on a CPU.
    Cpu,
    /// Time outside any scope.
    Outside,
    /// The innermost function that is open.
    Now,
    /// The module of a site.
    Module,
}

/// A column in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// What it shows.
    pub(crate) column: Column,
    /// Its first cell.
    pub(crate) x: u16,
    /// Its cells.
    pub(crate) width: u16,
}

impl Column {
    /// All of them, as the help tells them.
    pub(crate) const ALL: [Self; 24] = [
        Self::TotalShare,
        Self::SelfShare,
        Self::OfShare,
        Self::Bar,
        Self::Total,
        Self::SelfTime,
        Self::Calls,
        Self::CallsOf,
        Self::Avg,
        Self::P50,
        Self::P99,
        Self::Max,
        Self::Spark,
        Self::Name,
        Self::Where,
        Self::Thread,
        Self::Tid,
        Self::State,
        Self::Busy,
        Self::Course,
        Self::Cpu,
        Self::Outside,
        Self::Now,
        Self::Module,
    ];

    /// What it shows, for the help.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::TotalShare => "share of all time shown, callees included",
            Self::OfShare => "share of the function that is shown",
            Self::SelfShare => "share of all time shown, without callees",
            Self::Bar => "the first share again, as a length",
            Self::Total => "time in it, with callees and waiting",
            Self::SelfTime => "the same without measured callees",
            Self::Calls => "calls that began",
            Self::CallsOf => "in Function: calls by it, of all calls",
            Self::Avg => "TOTAL of a call on average",
            Self::P50 => "half of the calls took no longer",
            Self::P99 => "99 of 100 calls took no longer",
            Self::Max => "the longest call",
            Self::Spark => "time in each second, of its own busiest",
            Self::Name => "function or scope, with its module",
            Self::Where => "file and line",
            Self::Thread => "name of the thread",
            Self::Tid => "its kernel id; of ended ones how many",
            Self::State => "what a thread does; if a site is off",
            Self::Busy => "share of a CPU in the last interval",
            Self::Course => "BUSY interval by interval, newest right",
            Self::Cpu => "time on a CPU, as the kernel counts it",
            Self::Outside => "time outside of any scope",
            Self::Now => "the innermost scope that is open",
            Self::Module => "module that the site is in",
        }
    }

    /// The words above it.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::TotalShare => "%TOT",
            Self::OfShare => "%OF",
            Self::SelfShare => "%SELF",
            Self::Bar => "",
            Self::Total => "TOTAL",
            Self::SelfTime => "SELF",
            Self::Calls | Self::CallsOf => "CALLS",
            Self::Avg => "AVG",
            Self::P50 => "P50",
            Self::P99 => "P99",
            Self::Max => "MAX",
            Self::Spark => "LAST 30 s",
            Self::Name => "FUNCTION",
            Self::Where => "WHERE",
            Self::Thread => "THREAD",
            Self::Tid => "TID",
            Self::State => "STATE",
            Self::Busy => "BUSY",
            Self::Course => "LATELY",
            Self::Cpu => "CPU",
            Self::Outside => "OUTSIDE",
            Self::Now => "NOW IN",
            Self::Module => "MODULE",
        }
    }

    /// What sorting by it means.
    pub(crate) fn sort_key(self) -> Option<SortKey> {
        match self {
            Self::TotalShare | Self::OfShare | Self::Total => Some(SortKey::Total),
            Self::SelfShare | Self::SelfTime => Some(SortKey::SelfTime),
            Self::Calls | Self::CallsOf => Some(SortKey::Calls),
            Self::Avg => Some(SortKey::Avg),
            Self::P50 => Some(SortKey::P50),
            Self::P99 => Some(SortKey::P99),
            Self::Max => Some(SortKey::Max),
            Self::Name | Self::Thread => Some(SortKey::Name),
            Self::Tid => Some(SortKey::Tid),
            Self::State => Some(SortKey::State),
            Self::Busy => Some(SortKey::Busy),
            Self::Cpu => Some(SortKey::Cpu),
            Self::Outside => Some(SortKey::Outside),
            Self::Bar | Self::Spark | Self::Where | Self::Course | Self::Now | Self::Module => None,
        }
    }

    /// Whether it is a part of a whole.
    pub(crate) fn is_share(self) -> bool {
        matches!(self, Self::TotalShare | Self::OfShare | Self::SelfShare)
    }

    /// Whether its text ends where the column ends.
    pub(crate) fn is_number(self) -> bool {
        !matches!(
            self,
            Self::Bar
                | Self::Spark
                | Self::Name
                | Self::Where
                | Self::Thread
                | Self::State
                | Self::Course
                | Self::Now
                | Self::Module
        )
    }

    /// Cells for its longest text: numbers never grow beyond.
    pub(crate) fn cells(self, bar: u16) -> u16 {
        match self {
            Self::Bar => bar,
            Self::Spark => 10,
            // A mark for an upper bound stands before the number.
            Self::Max => 7,
            Self::TotalShare | Self::OfShare | Self::SelfShare | Self::Total | Self::SelfTime => 6,
            // Two counts and what stands between them.
            Self::CallsOf => 11,
            Self::Calls | Self::Avg | Self::P50 | Self::P99 => 6,
            Self::Tid | Self::Outside => 8,
            Self::Busy | Self::Cpu => 6,
            Self::Name
            | Self::Where
            | Self::Thread
            | Self::State
            | Self::Course
            | Self::Now
            | Self::Module => 0,
        }
    }
}

/// Cells between two columns.
pub(crate) fn gap(width: u16) -> u16 {
    if width >= 110 { 2 } else { 1 }
}
