//! The code that runs in the program at each scope: it maintains the thread's call tree and everything that belongs to
//! it. It does no I/O and does not use the allocator. It takes no lock either, except for calls of futures and for slow
//! calls. Those locks are held briefly, and waiting for them is limited.

pub(crate) mod arena;
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
pub(crate) mod called_functions;
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
#[cfg_attr(
    not(feature = "functions"),
    allow(
        dead_code,
        reason = "polls of async bodies are seen only where the compiler has prepared them"
    )
)]
pub(crate) mod calls_by_future;
pub(crate) mod carried_calls;
pub(crate) mod catch_up;
pub(crate) mod choices;
pub(crate) mod current_thread;
pub(crate) mod deepest_nodes;
#[cfg(all(feature = "hooks", target_arch = "x86_64"))]
#[cfg_attr(
    not(feature = "functions"),
    allow(
        dead_code,
        reason = "polls of async bodies are seen only where the compiler has prepared them"
    )
)]
pub(crate) mod frames;
#[cfg(not(all(feature = "hooks", target_arch = "x86_64")))]
pub(crate) mod frames {
    //! Without hooks inserted by the compiler, there are no open functions to keep track of.

    use crate::enabled::record::arena::zeroed;
    use crate::enabled::record::node::Node;

    zeroed! {
        #[derive(Debug)]
        pub(crate) struct Frames {}
    }

    impl Frames {
        pub(crate) fn clear(&self) {}

        pub(crate) fn close_all(&self, _: impl Fn(&'static Node) -> u64, _: bool) {}

        pub(crate) fn close_inside(&self, _: &'static Node) -> u64 {
            0
        }
    }
}
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) mod function_sites;
pub(crate) mod hot_tree;
pub(crate) mod in_flight;
pub(crate) mod journal;
pub(crate) mod kept_calls;
pub(crate) mod labelled_sites;
pub(crate) mod latency;
#[cfg(all(feature = "functions", target_arch = "x86_64"))]
pub(crate) mod leaving;
pub(crate) mod live_blocks;
pub(crate) mod measures;
pub(crate) mod mode_switch;
pub(crate) mod node;
pub(crate) mod numbers;
pub(crate) mod open_spans;
pub(crate) mod owner;
pub(crate) mod path_sums;
pub(crate) mod pc_ring;
pub(crate) mod pool;
pub(crate) mod registry;
pub(crate) mod short_gaps;
pub(crate) mod site;
pub(crate) mod site_name;
pub(crate) mod site_table;

pub(crate) mod tree;
pub(crate) mod typical_paths;
pub(crate) mod untimed;
pub(crate) mod waiters;
pub(crate) mod waits;
pub(crate) mod watch;
pub(crate) mod watching;
