//! Arguments of `tickscope mcp`.

use std::path::PathBuf;

use clap::Args;

/// Text after the options in `tickscope mcp --help`.
const ABOUT: &str = "\
A client starts this command and speaks the Model Context Protocol with it, one JSON message a line. It has six tools:
programs, top, why, compare, mark and sites. They read; nothing in a program changes unless --allow-control says so.

Example of a client's configuration:
  {\"mcpServers\": {\"tickscope\": {\"command\": \"tickscope\", \"args\": [\"mcp\"]}}}";

/// What clients may do, and where to look for programs.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = ABOUT)]
pub struct McpArgs {
    /// Allow the tool `why` to make a program watch a function for some seconds.
    #[arg(long)]
    pub allow_control: bool,
    /// If no program with the requested name is running, let the tools read the most recent run that has ended.
    #[arg(long)]
    pub ended: bool,
    /// Search for programs only in this directory. Default: TICKSCOPE_DIR, or else /dev/shm/tickscope-UID and
    /// /tmp/tickscope-UID.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
