//! The text of this crate's own source files, for viewers on machines without these files.

use std::path::Path;

macro_rules! texts {
    ($($name:literal),* $(,)?) => { &[$(($name, include_str!($name))),*] };
}

/// All files, with their paths relative to the directory of this file.
const FILES: &[(&str, &str)] = texts![
    "database.rs",
    "database/pool.rs",
    "demo.rs",
    "image.rs",
    "lib.rs",
    "light.rs",
    "probe.rs",
    "random.rs",
    "scene.rs",
    "shop.rs",
    "shop/cache.rs",
    "shop/catalogue.rs",
    "shop/requests.rs",
    "shop/store.rs",
    "sources.rs",
    "spawn.rs",
    "sphereflake.rs",
    "tasks.rs",
    "tasks/answer.rs",
    "tasks/executor.rs",
    "tasks/patience.rs",
    "tasks/timer.rs",
    "tracer.rs",
    "vector.rs",
];

/// Returns a source file of this crate as it was at compile time, or `None` for other files. `path` comes from a scope
/// or from debug information.
pub fn source(path: &str) -> Option<&'static str> {
    let folder = Path::new(file!()).parent()?;
    let found = FILES
        .iter()
        .find(|(name, _)| Path::new(path).ends_with(folder.join(name)));
    found.map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    fn below(folder: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let files = paths.flat_map(|path| match path.is_dir() {
            true => below(&path),
            false => vec![path],
        });
        files.collect()
    }

    #[test]
    fn all_files_are_there_with_their_text() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let files = below(&folder);
        assert_eq!(files.len(), FILES.len());
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            assert!(
                source(file.to_str().unwrap()) == Some(&*text),
                "{}",
                file.display()
            );
        }
        assert_eq!(source(file!()), Some(include_str!("sources.rs")));
        assert_eq!(source("src/no_such.rs"), None);
        assert_eq!(source("scene.rs"), None, "a name alone");
    }
}
