//! Tests a program that uses the crate `profiling`: its call tree must have rows with the feature `enable`, and none
//! without it.

// Uses every macro, with every form of arguments that it accepts.
fn frame() {
    profiling::function_scope!();
    for part in 0..3 {
        profiling::scope!("part");
        if part == 1 {
            profiling::scope!("with data", format!("part {part}").as_str());
            work();
        }
    }
    World.step();
    profiling::finish_frame!();
}

#[profiling::function]
fn work() -> usize {
    profiling::function_scope!("not recorded");
    7
}

#[profiling::function]
async fn later() -> usize {
    std::future::ready(7).await
}

struct World;

#[profiling::all_functions]
impl World {
    fn step(&self) {
        assert_eq!(self.size() + World::MOST, 11);
    }

    #[profiling::skip]
    fn size(&self) -> usize {
        4
    }

    const MOST: usize = 7;

    /// This function's row is called `World::other`, after the type and the function.
    #[inline]
    #[allow(dead_code, reason = "the function has other attributes")]
    fn other(&self) {}
}

#[test]
fn rows_are_those_that_the_macros_name() {
    profiling::register_thread!();
    profiling::register_thread!("main");
    (0..2).for_each(|_| frame());
    let mut later = std::pin::pin!(later());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(later.as_mut().poll(&mut context).is_ready());
    let snapshot = tickscope::snapshot();
    #[cfg(feature = "enable")]
    {
        use tickscope_format::ids::NodeId;
        let name = |row: usize| snapshot.site_of(NodeId(row as u32)).name.as_str();
        let rows = 0..snapshot.nodes.len();
        let mut rows: Vec<(&str, u64)> = rows.map(|row| (name(row), snapshot.nodes.calls[row])).collect();
        rows.sort_unstable();
        let expected = [
            ("World::step", 2),
            ("frame", 2),
            ("frames", 2),
            ("later", 1),
            ("part", 6),
            ("with data", 2),
            ("work", 2),
            ("work", 2),
        ];
        assert_eq!(rows, expected);
    }
    #[cfg(not(feature = "enable"))]
    assert_eq!(snapshot.calls(), 0);
}
