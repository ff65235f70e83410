//! Suggests a function if no function has the given name.

use tickscope_format::Snapshot;
use tickscope_format::path::{parts, plain_parts, tail};

use crate::did_you_mean::hint;

/// Returns ` (did you mean NAME?)`, where NAME is the function name in the snapshot that is most similar to `name`, or an
/// empty string if none is similar enough.
pub fn similar(name: &str, snapshot: &Snapshot) -> String {
    similar_of(name, snapshot.sites.iter().map(|site| site.path()))
}

/// Like [`similar`], but chooses among functions with these paths.
pub fn similar_of(name: &str, paths: impl IntoIterator<Item = String>) -> String {
    let mut names = Vec::new();
    for path in paths {
        let plain = plain_parts(&path).collect::<Vec<_>>().join("::");
        let ends = 1..=parts(&plain).count();
        for end in ends.map(|count| tail(&plain, count)) {
            names.extend(end.strip_suffix("::{closure}").map(String::from));
            names.push(end.to_owned());
        }
        names.push(path);
    }
    hint(name, &names.iter().map(String::as_str).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_any_end_of_a_name() {
        let near = |name: &str| similar_of(name, ["app::net::Service<T>::call::{closure#0}".to_string()]);
        assert_eq!(near("cal"), " (did you mean call?)");
        assert_eq!(
            near("Servic::call::{closure}"),
            " (did you mean Service::call::{closure}?)"
        );
        assert_eq!(
            near("net::Service::call::{closur}"),
            " (did you mean net::Service::call::{closure}?)"
        );
        assert_eq!(near("Service::call::{closure}"), "");
        assert_eq!(near("other"), "");
    }
}
