#![allow(clippy::unwrap_used, reason = "tests")]
//! The README says of the keys what the key table says.

const BEGIN: &str = "<!-- keys: begin -->\n";
const END: &str = "<!-- keys: end -->\n";

/// `UPDATE_README=1 cargo test -p tickscope-cli --test readme` writes it anew.
#[test]
fn the_readme_has_the_key_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../README.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let begin = readme.find(BEGIN).unwrap() + BEGIN.len();
    let end = readme.find(END).unwrap();
    let table = tickscope_cli::key_table_markdown();
    if std::env::var_os("UPDATE_README").is_some() {
        std::fs::write(path, format!("{}{table}{}", &readme[..begin], &readme[end..])).unwrap();
        return;
    }
    assert_eq!(
        &readme[begin..end],
        table,
        "UPDATE_README=1 cargo test -p tickscope-cli --test readme"
    );
}
