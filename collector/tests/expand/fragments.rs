//! Tests items that a `macro_rules!` generates. Its fragments reach the attribute in invisible groups.

use tickscope_macros::profile;

use crate::mock::{log_of, logged};

macro_rules! function {
    ($(#[$meta:meta])* $vis:vis $name:ident, $row:literal, $result:ty, $body:block) => {
        #[profile(name = $row)]
        $(#[$meta])*
        $vis fn $name() -> $result $body

        pub(crate) struct Holder;

        #[profile(group = $row)]
        impl Holder {
            $(#[$meta])*
            $vis fn method() -> $result $body
            $vis async fn future() -> Result<$result, std::num::ParseIntError> {
                let _: u8 = "1".parse()?;
                Ok($body)
            }
        }
    };
}

function!(#[inline] #[must_use] pub(crate) made, "row", fn(u8) -> u8, { |x| x + 1 });

mod private {
    use super::*;
    function!(
        #[doc = "quiet"]
        made,
        "quiet",
        u8,
        { 4 }
    );

    pub(super) fn call() -> u8 {
        made() + Holder::method()
    }

    pub(super) async fn later() -> Result<u8, std::num::ParseIntError> {
        Holder::future().await
    }
}

macro_rules! whole {
    ($first:item $($item:item)*) => {
        #[profile(name = "alone")]
        $first

        mod items {
            #[tickscope_macros::profile]
            pub(crate) mod inside {
                $first
                $($item)*
            }
        }
    };
}

whole! {
    pub(crate) fn first() {}
    #[tickscope_macros::profile(skip)]
    pub(crate) fn second() {}
}

macro_rules! with_speaker {
    ($meta:meta) => {
        #[profile]
        mod spoken {
            #[$meta]
            pub(crate) fn quiet() {}
        }
    };
}
with_speaker!(tickscope_macros::profile(skip));

macro_rules! with_abi {
    ($abi:literal) => {
        #[profile]
        mod foreign {
            pub(crate) extern $abi fn called() {}
        }
    };
}
with_abi!("C");

macro_rules! rooted {
    ($root:path) => {
        #[profile(crate = $root)]
        fn by_fragment() {}

        #[profile(crate = $crate::mock)]
        fn by_dollar() {}
    };
}
rooted!(crate::mock);

#[test]
fn fragments() {
    assert_eq!(logged(|| made()(1)), (2, "+row -row"));
    assert_eq!(logged(|| Holder::method()(1)), (2, "+row/method -row/method"));
    assert_eq!(
        logged(private::call),
        (8, "+quiet -quiet +quiet/method -quiet/method")
    );
    drop(Holder::future());
    let future = std::pin::pin!(private::later());
    let log = log_of(|| future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())));
    assert_eq!(log, "*quiet/future +quiet/future -quiet/future");
    assert_eq!(log_of(items::inside::first), "+first -first");
    assert_eq!(log_of(first), "+alone -alone");
    assert_eq!(log_of(items::inside::second), "");
    assert_eq!(log_of(spoken::quiet), "");
    assert_eq!(log_of(|| foreign::called()), "+called -called");
    assert_eq!(log_of(by_fragment), "+by_fragment -by_fragment");
    assert_eq!(log_of(by_dollar), "+by_dollar -by_dollar");
}
