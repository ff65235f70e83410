//! Copying through the terminal (OSC 52), which works over ssh, where no other clipboard can be reached.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// Returns the sequence that makes a terminal put the text into its clipboard.
pub(crate) fn copy_sequence(text: &str) -> String {
    format!("\x1b]52;c;{}\x07", STANDARD.encode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_sent_in_base64_with_its_padding() {
        assert_eq!(copy_sequence("foob"), "\x1b]52;c;Zm9vYg==\x07");
    }
}
