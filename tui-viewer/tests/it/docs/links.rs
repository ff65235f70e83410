//! Links lead to files and headings that exist.

use std::path::{Component, Path, PathBuf};

use crate::docs::{FIRST_PAGES, OTHER_PAGES, book, markdown, read, root};

/// Returns where a link on a page leads: a path relative to the root of the repository, and an anchor.
fn resolved(page: &str, link: &str) -> (PathBuf, Option<String>) {
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let anchor = (!anchor.is_empty()).then(|| anchor.to_string());
    if file.is_empty() {
        return (page.into(), anchor);
    }
    let mut path = Path::new(page).parent().unwrap().to_path_buf();
    for part in Path::new(file).components() {
        if part == Component::ParentDir {
            assert!(path.pop(), "{page}: {link} leads out of the repository");
        } else {
            path.push(part);
        }
    }
    (path, anchor)
}

fn is_elsewhere(link: &str) -> bool {
    link.starts_with("https://") || link.starts_with("http://")
}

fn links_lead_to_files_and_headings() {
    let mut followed = 0;
    let pages = book();
    let others = OTHER_PAGES.iter().chain(&FIRST_PAGES).map(ToString::to_string);
    for page in pages.into_iter().chain(others) {
        for link in markdown::links(&read(&page)) {
            if is_elsewhere(&link) {
                continue;
            }
            let (path, anchor) = resolved(&page, &link);
            assert!(root().join(&path).exists(), "{page}: no file for {link}");
            if let Some(anchor) = anchor {
                let anchors = markdown::anchors(&read(path.to_str().unwrap()));
                assert!(
                    anchors.contains(&anchor),
                    "{page}: no heading for {link}: {anchors:?}"
                );
            }
            followed += 1;
        }
    }
    assert!(followed > 60, "{followed} links");
}

/// The built book contains only files in `docs/`.
fn links_of_the_book_stay_in_the_book() {
    for page in book() {
        for link in markdown::links(&read(&page)) {
            let (path, _) = resolved(&page, &link);
            assert!(
                is_elsewhere(&link) || path.starts_with("docs"),
                "{page}: {link} leads out of the book; name the file without a link"
            );
        }
    }
}

fn the_summary_has_every_page_once() {
    fn pages_below(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                pages_below(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path.to_str().unwrap().into());
            }
        }
    }
    let mut there = Vec::new();
    pages_below(Path::new("docs"), &mut there);
    there.retain(|page| page != "docs/SUMMARY.md");
    there.sort();
    let mut listed = book();
    listed.sort();
    assert_eq!(listed, there);
}

tickscope_testkit::tests![
    links_lead_to_files_and_headings,
    links_of_the_book_stay_in_the_book,
    the_summary_has_every_page_once
];
