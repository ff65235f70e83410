//! Determines where a function comes from, based on the path of its source file. Also shortens that path for the table,
//! because a program must not contain paths from the machine that built it.

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use tickscope_format::function_table::Origin;
use tickscope_symbols::function_name::{Name, is_std};

/// The folders that contain a program's sources.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sources {
    /// The root folder of the workspace.
    pub(crate) workspace_root: PathBuf,
    /// The packages of the workspace.
    pub(crate) members: Vec<Member>,
    /// Folder in which the compiler is installed, as `rustc --print sysroot` prints it.
    pub(crate) sysroot: PathBuf,
}

/// A package of the workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    /// Folder of the package.
    pub(crate) dir: PathBuf,
    /// Name and version of the package: `app 0.1.0`.
    pub(crate) package: String,
}

/// The origin of a function, with its package and file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) origin: Origin,
    /// Name and version of the package, or only the name if the version is unknown.
    pub(super) package: String,
    /// Path of the file, as written to the table.
    pub(super) file: String,
}

/// Determines where functions come from. Each file is examined only once.
#[derive(Debug)]
pub(super) struct Places<'a> {
    /// Path of the workspace root as it was given, and also its canonical path if that is different.
    roots: Vec<PathBuf>,
    /// Folders of the packages, with the name and version of each package. The longest path comes first.
    members: Vec<(PathBuf, &'a str)>,
    sysroot: &'a Path,
    known: HashMap<String, Option<Place>>,
}

impl Sources {
    pub(super) fn places(&self) -> Places<'_> {
        let mut members: Vec<(PathBuf, &str)> = self
            .members
            .iter()
            .flat_map(|member| names_of(&member.dir).map(|dir| (dir, member.package.as_str())))
            .collect();
        members.sort_by_key(|(dir, _)| std::cmp::Reverse(dir.components().count()));
        Places {
            roots: names_of(&self.workspace_root).collect(),
            members,
            sysroot: &self.sysroot,
            known: HashMap::new(),
        }
    }
}

/// Returns the path of a folder as it was given, and also its canonical path if that is different.
fn names_of(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let named = (!dir.as_os_str().is_empty()).then(|| dir.to_path_buf());
    let real = fs::canonicalize(dir).ok().filter(|real| real != dir);
    named.into_iter().chain(real)
}

impl Places<'_> {
    /// Determines where a function comes from, based on its name and the path of its file. The path may be empty.
    pub(super) fn of(&mut self, file: &str, name: &Name) -> Place {
        let by_file = match self.known.get(file) {
            Some(known) => known.clone(),
            None => {
                let found = self.of_file(&plain(Path::new(file)));
                self.known.insert(file.to_string(), found.clone());
                found
            }
        };
        by_file.unwrap_or_else(|| self.of_crate(file, name))
    }

    fn of_file(&self, file: &Path) -> Option<Place> {
        if !file.is_absolute() {
            return None;
        }
        let std = self.std(file);
        std.or_else(|| self.built(file)).or_else(|| self.package(file))
    }

    /// Recognises a file of the standard library. Its path is `/rustc/HASH/library/...` in programs, or leads to the
    /// sources that are installed with the compiler.
    fn std(&self, file: &Path) -> Option<Place> {
        let text = file.to_str()?;
        let rest = if let Some(rest) = text.strip_prefix("/rustc/") {
            rest.split_once('/')?.1
        } else if let Some(rest) = text.strip_prefix("/rust/deps/") {
            rest
        } else {
            let in_sysroot = file.strip_prefix(self.sysroot).ok().and_then(Path::to_str);
            let rest = in_sysroot.and_then(|rest| rest.strip_prefix("lib/rustlib/src/"));
            let rest = rest.or_else(|| Some(text.split_once("/lib/rustlib/src/rust/library/")?.1));
            let rest = rest?;
            rest.strip_prefix("rust/").unwrap_or(rest)
        };
        Some(Place::std(rest))
    }

    /// Recognises a file that a build script wrote: `target/.../build/NAME-HASH/out/...`.
    fn built(&self, file: &Path) -> Option<Place> {
        let parts = texts(file);
        let at = parts.windows(3).position(|parts| {
            let hash = parts[1].rsplit_once('-').map_or("", |(_, hash)| hash);
            parts[0] == "build"
                && parts[2] == "out"
                && hash.len() == 16
                && hash.bytes().all(|b| b.is_ascii_hexdigit())
        })?;
        let name = parts[at + 1].rsplit_once('-')?.0;
        let member = self.members.iter().find(|(_, package)| name_of(package) == name);
        Some(Place {
            origin: if member.is_some() {
                Origin::Own
            } else {
                Origin::Dependency
            },
            package: member.map_or(name, |(_, package)| package).to_string(),
            file: format!("{name}/{}", parts[at + 2..].join("/")),
        })
    }

    fn package(&self, file: &Path) -> Option<Place> {
        let member = self.members.iter().find(|(dir, _)| file.starts_with(dir));
        let depth = member.map_or(0, |(dir, _)| dir.components().count());
        // The folder for fetched packages may be inside the workspace, or the workspace inside that folder. The inner
        // one of the two counts.
        if let Some((place, place_depth)) = fetched(file)
            && place_depth > depth
        {
            return Some(place);
        }
        let root = self.roots.iter().find_map(|root| file.strip_prefix(root).ok());
        if let Some(inside) = root
            && let ["vendor", name, rest @ ..] = texts(inside).as_slice()
            && self
                .members
                .iter()
                .all(|(dir, _)| !dir.ends_with(Path::new("vendor").join(name)))
        {
            return Some(Place::dependency(name, rest));
        }
        if let Some((dir, package)) = member {
            let inside = root.or_else(|| file.strip_prefix(dir).ok())?;
            return Some(Place {
                origin: Origin::Own,
                package: package.to_string(),
                file: texts(inside).join("/"),
            });
        }
        Some(elsewhere(file))
    }

    /// Determines the origin from the name of the crate alone.
    fn of_crate(&self, file: &str, name: &Name) -> Place {
        // A relative path reveals no folders of this machine. It means that the compiler was told to remap paths, for
        // reproducible builds.
        let is_plain = !file.is_empty() && !Path::new(file).is_absolute() && !file.starts_with("..");
        let file = if is_plain { file.to_string() } else { String::new() };
        let Some(crate_name) = name.crate_name().filter(|name| !name.is_empty()) else {
            return Place {
                origin: Origin::Unknown,
                package: String::new(),
                file,
            };
        };
        let same = |package: &str| name_of(package).replace('-', "_") == crate_name;
        let member = self.members.iter().find(|(_, package)| same(package));
        Place {
            origin: match member {
                Some(_) => Origin::Own,
                None if is_std(crate_name) => Origin::Std,
                None => Origin::Dependency,
            },
            package: member.map_or(crate_name, |(_, package)| package).to_string(),
            file,
        }
    }
}

impl Place {
    /// Creates a `Place` from a path such as `library/core/src/option.rs`, or from the path of a crate that the
    /// standard library depends on.
    fn std(file: &str) -> Self {
        let mut parts = file.split('/');
        let package = match (parts.next(), parts.next()) {
            (Some("library"), Some(name)) => name.to_string(),
            (Some(folder), _) => named_version(folder).unwrap_or_else(|| folder.to_string()),
            (None, _) => String::new(),
        };
        Self {
            origin: Origin::Std,
            package,
            file: file.to_string(),
        }
    }

    /// Creates a `Place` in a dependency. The package is named after its folder.
    fn dependency(folder: &str, rest: &[&str]) -> Self {
        Self {
            origin: Origin::Dependency,
            package: named_version(folder).unwrap_or_else(|| folder.to_string()),
            file: [&[folder], rest].concat().join("/"),
        }
    }

    /// Returns the module that corresponds to the file's path, such as `app::net::http` for `src/net/http.rs`. It is
    /// used for functions whose name does not contain a module.
    pub(super) fn module(&self) -> String {
        let path = self
            .file
            .rsplit_once("src/")
            .map_or(self.file.as_str(), |(_, behind)| behind);
        let Some(path) = path.strip_suffix(".rs") else {
            return String::new();
        };
        let mut module = name_of(&self.package).replace('-', "_");
        for part in path.split('/') {
            if !matches!(part, "lib" | "main" | "mod") {
                module.push_str("::");
                module.push_str(part);
            }
        }
        module
    }
}

/// Recognises a file of a package that cargo has fetched. Also returns the depth of the package's folder.
fn fetched(file: &Path) -> Option<(Place, usize)> {
    let parts = texts(file);
    // The depth includes the root of the path, which `texts` leaves out. So four parts have a depth of 5.
    for at in (0..parts.len()).rev() {
        match parts[at..] {
            ["registry", "src", _index, folder, ref rest @ ..] => {
                return Some((Place::dependency(folder, rest), at + 5));
            }
            ["git", "checkouts", folder, _revision, ref rest @ ..] => {
                let name = folder.rsplit_once('-').map_or(folder, |(name, _)| name);
                return Some((Place::dependency(name, rest), at + 5));
            }
            _ => {}
        }
    }
    None
}

/// Creates a `Place` for a file outside all known folders. Its path is shortened to begin with the folder that contains
/// `src`.
fn elsewhere(file: &Path) -> Place {
    let parts = texts(file);
    let from = parts
        .iter()
        .rposition(|part| *part == "src")
        .and_then(|src| src.checked_sub(1));
    if file.extension().is_some_and(|extension| extension == "rs") {
        let from = from.unwrap_or(parts.len().saturating_sub(1));
        if let [folder, rest @ ..] = &parts[from..]
            && !rest.is_empty()
        {
            return Place::dependency(folder, rest);
        }
        return Place {
            origin: Origin::Dependency,
            package: String::new(),
            file: parts[from..].join("/"),
        };
    }
    Place {
        origin: Origin::Unknown,
        package: String::new(),
        file: parts.last().unwrap_or(&"").to_string(),
    }
}

/// Converts the folder `NAME-VERSION` to `NAME VERSION`.
fn named_version(folder: &str) -> Option<String> {
    folder.match_indices('-').find_map(|(at, _)| {
        let (name, version) = (&folder[..at], &folder[at + 1..]);
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let mut numbers = version.splitn(3, '.');
        let is_version = numbers.next().is_some_and(is_number)
            && numbers.next().is_some_and(is_number)
            && numbers
                .next()
                .is_some_and(|patch| patch.starts_with(|c: char| c.is_ascii_digit()));
        is_version.then(|| format!("{name} {version}"))
    })
}

/// Returns the name from a package of the form `NAME VERSION`.
fn name_of(package: &str) -> &str {
    package.split(' ').next().unwrap_or_default()
}

/// Returns the components of a path as text, without the root.
fn texts(path: &Path) -> Vec<&str> {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(part) => part.to_str(),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    });
    parts.collect()
}

/// Removes `.` and `..` from a path. The compiler leaves them in the paths of modules with `#[path]`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.pop() => {}
            Component::ParentDir | Component::Normal(_) | Component::RootDir | Component::Prefix(_) => {
                plain.push(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests;
