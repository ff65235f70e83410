//! A mock of the collector: the items that the expansion uses write to a thread-local log.
//!
//! A scope is logged as `+name .. -name`. A future is logged as `*name` when it is counted, and as `+name -name` for
//! each poll. A name in a group is logged as `group/name`.

use std::cell::RefCell;

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn note(what: impl Into<String>) {
    LOG.with_borrow_mut(|log| log.push(what.into()));
}

/// Calls `run`, and returns its result and what it logged.
pub(crate) fn logged<T>(run: impl FnOnce() -> T) -> (T, &'static str) {
    LOG.take();
    let result = run();
    (result, LOG.take().join(" ").leak())
}

/// Returns the log of `run`.
pub(crate) fn log_of<T>(run: impl FnOnce() -> T) -> &'static str {
    logged(run).1
}

pub(crate) struct Site(pub(crate) String);

impl Site {
    /// Makes a site. `path` is the path of a helper function that is nested in the function to be named.
    pub(crate) fn new(group: Option<&str>, name: Option<&str>, path: &str) -> Self {
        let path = path.trim_end_matches("::here").trim_end_matches("::{{closure}}");
        let name = name.unwrap_or(path.rsplit("::").next().unwrap_or(path));
        Site(group.map_or(name.to_owned(), |group| format!("{group}/{name}")))
    }
}

pub(crate) struct Guard(String);

impl Guard {
    pub(crate) fn enter(site: &Site) -> Self {
        note(format!("+{}", site.0));
        Guard(site.0.clone())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        note(format!("-{}", self.0));
    }
}

pub(crate) mod __private {
    use std::pin::pin;
    use std::task::Poll;

    pub(crate) async fn profile_future<F: Future>(site: &'static super::Site, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut counted = false;
        std::future::poll_fn(move |context| {
            if !counted {
                counted = true;
                super::note(format!("*{}", site.0));
            }
            let _guard = super::Guard::enter(site);
            match future.as_mut().poll(context) {
                Poll::Ready(output) => Poll::Ready(output),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}

macro_rules! site_of {
    ($group:expr, $name:expr) => {{
        fn here() {}
        $crate::mock::Site::new($group, $name, std::any::type_name_of_val(&here))
    }};
}
pub(crate) use site_of;

// The macro accepts only literals, so the tests do not compile if the attribute passes other arguments.
macro_rules! scope_ {
    () => {
        let _guard = $crate::mock::Guard::enter(&$crate::mock::site_of!(None, None));
    };
    ($name:literal) => {
        let _guard = $crate::mock::Guard::enter(&$crate::mock::site_of!(None, Some($name)));
    };
    (group = $group:literal) => {
        let _guard = $crate::mock::Guard::enter(&$crate::mock::site_of!(Some($group), None));
    };
    (group = $group:literal, $name:literal) => {
        let _guard = $crate::mock::Guard::enter(&$crate::mock::site_of!(Some($group), Some($name)));
    };
}
pub(crate) use scope_ as scope;

macro_rules! site_ {
    () => {
        &*Box::leak(Box::new($crate::mock::site_of!(None, None)))
    };
    ($name:literal) => {
        &*Box::leak(Box::new($crate::mock::site_of!(None, Some($name))))
    };
    (group = $group:literal) => {
        &*Box::leak(Box::new($crate::mock::site_of!(Some($group), None)))
    };
    (group = $group:literal, $name:literal) => {
        &*Box::leak(Box::new($crate::mock::site_of!(Some($group), Some($name))))
    };
}
pub(crate) use site_ as __site;
