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
    /// Let the tool why have a program watch a function for some seconds.
    #[arg(long)]
    pub allow_control: bool,
    /// Where no program of a name runs, let the tools read its newest run that has ended.
    #[arg(long)]
    pub ended: bool,
    /// Look into this directory and no other; without it as TICKSCOPE_DIR says.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
