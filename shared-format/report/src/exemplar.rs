//! Traces of slow calls in the formats of other tools, with the start and end of each call inside the slow call.
//!
//! ```text
//! Snapshot, Watch, Exemplar -> chrome      trace events: Perfetto, chrome://tracing
//!                           -> firefox     the processed format of the Firefox Profiler
//!                           -> speedscope  an evented profile
//! ```

mod call;
mod chrome;
mod firefox;
mod speedscope;

use std::io::{self, Write};

use tickscope_analysis::functions::Functions;
use tickscope_analysis::waterfall::Waterfall;
use tickscope_format::snapshot::{Exemplar, Snapshot, Watch};

use self::call::Call;

/// Format in which a slow call is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExemplarForm {
    /// Trace events as JSON, for Perfetto and `chrome://tracing`.
    Chrome,
    /// The Firefox Profiler's processed profile format.
    Firefox,
    /// An evented profile for speedscope.
    Speedscope,
}

impl ExemplarForm {
    /// Writes a slow call.
    ///
    /// # Errors
    /// Returns an error if writing to `out` fails. Also returns an error, and writes nothing, if the call has no trace.
    pub fn write(
        self,
        snapshot: &Snapshot,
        watch: &Watch,
        exemplar: &Exemplar,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Some(trace) = &exemplar.trace else {
            return Err(io::Error::other("what happened in the call is not known"));
        };
        let functions = Functions::of(snapshot);
        let of_path = watch
            .paths
            .iter()
            .map(|path| functions.of_site[path.site.index()].index());
        let call = Call {
            of_path: of_path.collect(),
            functions,
            waterfall: Waterfall::of(trace, watch),
            snapshot,
            watch,
            exemplar,
            trace,
        };
        match self {
            Self::Chrome => chrome::write(&call, out)?,
            Self::Firefox => firefox::write(&call, out)?,
            Self::Speedscope => speedscope::write(&call, out)?,
        }
        out.write_all(b"\n")
    }
}

#[cfg(test)]
mod tests;
