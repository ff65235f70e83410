//! Arguments of `tickscope push`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::args::every;

/// Text after the options in `tickscope push --help`.
const NOTES: &str = "\
A profile, as pprof, covers all processes of a program since the previous profile. If the server
does not answer, profiles wait: at most 240, or 64 MiB; then the oldest are dropped, with a
message. An answer 4xx drops its profile at once.

Keep a password out of the command line, where others can read it. TICKSCOPE_PUSH_AUTHORIZATION
is the whole value of the header Authorization, \"Bearer TOKEN\" or \"Basic BASE64\"; or it is the first
line of --auth-file, which is read for each profile.

Examples:
  tickscope push --pyroscope http://127.0.0.1:4040
  tickscope push order-book --pyroscope http://pyroscope:4040 --label host=web-1 --tenant shop";

/// What to send, and to which server and tenant.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = NOTES)]
pub struct PushArgs {
    /// Send profiles only of the program with this name.
    pub program: Option<String>,
    /// The Pyroscope server: http://HOST:4040.
    #[arg(long, value_name = "URL")]
    pub pyroscope: String,
    /// Time that each profile covers: 1s to 1h.
    #[arg(long, value_name = "DURATION", value_parser = every, default_value = "15s")]
    pub every: Duration,
    /// A label for all profiles. May be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    pub label: Vec<(String, String)>,
    /// The tenant (X-Scope-OrgID).
    #[arg(long, value_name = "ID", value_parser = tenant)]
    pub tenant: Option<String>,
    /// File whose first line is the value of the Authorization header.
    #[arg(long, value_name = "FILE")]
    pub auth_file: Option<PathBuf>,
    /// For https: PEM file with the CA certificates to trust; no others are trusted.
    #[arg(long, value_name = "FILE")]
    pub ca_file: Option<PathBuf>,
    /// Read only the rings in this directory. May be given several times.
    #[arg(long, value_name = "DIR")]
    pub dir: Vec<PathBuf>,
}

fn label(text: &str) -> Result<(String, String), String> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    match text.split_once('=') {
        Some((name, value)) if is_name(name) => Ok((name.into(), value.into())),
        _ => Err("wanted NAME=VALUE, with a name of letters, digits and _, like host=web-1".into()),
    }
}

fn tenant(text: &str) -> Result<String, String> {
    match !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic()) {
        true => Ok(text.into()),
        false => Err("wanted letters, digits and signs without spaces".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_names() {
        assert_eq!(label("host=a=b"), Ok(("host".into(), "a=b".into())));
        for bad in ["host", "=a", "1a=b", "a b=c"] {
            assert!(label(bad).is_err(), "{bad}");
        }
    }
}
