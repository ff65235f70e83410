//! An application that depends on a library. Both use tickscope; only the application may enable it.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use disabled_lib::user::{self, Shape, Thing};
use tickscope::Status;

/// The library's `user.rs` once more, compiled as part of the crate that has the feature `enable`.
#[path = "../../lib/src/user.rs"]
mod own;

fn ready<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("nothing here waits"),
    }
}

macro_rules! run_all {
    ($user:ident) => {{
        assert_eq!($user::macros(&[3]), Some(7));
        assert_eq!($user::macros(&[]), None);
        assert_eq!($user::function(&1), 1);
        $user::options(1);
        assert_eq!(ready($user::asynchronous("four")), 4);
        assert_eq!(ready($user::futures("four")), 17);
        assert_eq!($user::bounded(3), 3);
        let thing = $user::Thing::new(3u32);
        assert_eq!((thing.get(), thing.skipped(), ready(thing.later())), (3, 3, 3));
        assert_eq!($user::Shape::twice(&thing), 18);
        assert_eq!($user::inside::called(), 5);
        $user::numbers();
        $user::own_numbers("text");
        $user::auto_traits();
        $user::notes(1);
        assert_eq!(ready($user::returned::all()).unwrap(), 14);
    }};
}

fn main() {
    let enabled = cfg!(feature = "enable");
    // Same condition as in tickscope's `lib.rs`.
    let on = enabled && cfg!(all(target_os = "linux", not(tickscope_unsupported)));
    run_all!(user);
    run_all!(own);
    assert_eq!(Thing(2u32).area(), 4);
    assert_eq!(
        disabled_lib::pair::pair_plain(&[1, 2]),
        disabled_lib::pair::pair_scoped(&[1, 2])
    );
    let shown = format!("{:?}", tickscope::snapshot());
    // Names from both the library and the application, some of macros and some of attributes.
    for part in [
        "constant",
        "renamed",
        "Thing::get",
        "asynchronous",
        "grouped future",
        "deeper",
        "disabled_lib::user",
        "disabled_app::own",
    ] {
        assert_eq!(shown.contains(part), on, "{part}: {shown}");
    }
    assert_eq!(tickscope::snapshot().calls() > 0, on);
    assert_eq!(user::calls().2, 0, "nothing since the reset");
    assert_eq!(own::calls().3, 0, "nothing since the reset");

    let dump = std::env::temp_dir().join(format!("disabled-app.{}.tks", std::process::id()));
    for dumps in [user::dumps, own::dumps] {
        dumps(&dump).unwrap();
        assert_eq!(std::fs::remove_file(&dump).is_ok(), on);
    }

    let (session, _) = user::start("disabled-app");
    drop(own::start("disabled-app"));
    let nothing = if enabled { Status::Unsupported } else { Status::Off };
    assert_eq!(session.status() == nothing, !on);
    if !on {
        let warned = session.warnings().join("; ");
        assert_eq!(warned.contains("tickscope measures on Linux"), enabled, "{warned}");
    }
    let joined = own::try_start("disabled-app").unwrap();
    assert_eq!(joined.path().is_some(), on);
    println!("{}", if on { "measured" } else { "nothing was measured" });
}
