//! Functions that return a future without being `async`, and `#[async_trait]` methods. A call to any of them is an
//! async call.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::pin::Pin;
use std::time::Duration;

use async_trait::async_trait;
use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::Quantity;
use tokio::time::sleep;

/// Time that each call waits.
const WAIT: Duration = Duration::from_millis(50);

#[tickscope::profile]
fn built() -> impl Future<Output = ()> {
    async { sleep(WAIT).await }
}

#[tickscope::profile]
fn boxed() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move { sleep(WAIT).await })
}

#[tickscope::profile]
fn of_another_crate() -> impl Future<Output = ()> {
    sleep(WAIT)
}

#[tickscope::profile]
async fn asynchronous() {
    sleep(WAIT).await;
}

#[async_trait]
trait Store {
    async fn get(&self, key: &str) -> Result<usize, std::num::ParseIntError>;

    /// Waits like `get`.
    async fn both(&self, key: &str) -> usize {
        self.get(key).await.unwrap_or(0)
    }
}

struct OnTheMethod;

#[async_trait]
impl Store for OnTheMethod {
    #[tickscope::profile]
    async fn get(&self, key: &str) -> Result<usize, std::num::ParseIntError> {
        sleep(WAIT).await;
        key.parse()
    }
}

struct AboveTheBlock;

#[tickscope::profile]
#[async_trait]
impl Store for AboveTheBlock {
    async fn get(&self, key: &str) -> Result<usize, std::num::ParseIntError> {
        sleep(WAIT).await;
        key.parse()
    }
}

struct BelowTheOther;

#[async_trait]
#[tickscope::profile]
impl Store for BelowTheOther {
    async fn get(&self, key: &str) -> Result<usize, std::num::ParseIntError> {
        sleep(WAIT).await;
        key.parse()
    }
}

#[async_trait]
#[tickscope::profile]
trait Defaults: Sync {
    async fn twice(&self) -> u8 {
        sleep(WAIT).await;
        2
    }
}

impl Defaults for OnTheMethod {}

/// Returns the number of ended calls in all rows whose name has the suffix `name`, and the sum of their wall times.
fn calls(snapshot: &Snapshot, name: &str) -> (u64, Duration) {
    let rows: Vec<u32> = (0..snapshot.nodes.len() as u32)
        .filter(|&row| snapshot.site_of(NodeId(row)).name.ends_with(name))
        .collect();
    let sum = |quantity| -> u64 {
        let column = snapshot.measures.of(quantity);
        rows.iter()
            .map(|&row| column.map_or(0, |column| column.of_row(row)))
            .sum()
    };
    let seconds = sum(Quantity::FutureTime) as f64 / snapshot.clock.ticks_per_second;
    (sum(Quantity::FutureEnds), Duration::from_secs_f64(seconds))
}

#[test]
fn futures_that_functions_return_are_async_calls() {
    let _session = tickscope::start("returned-futures");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        built().await;
        boxed().await;
        of_another_crate().await;
        asynchronous().await;
        assert_eq!(OnTheMethod.both("1").await, 1);
        assert_eq!(AboveTheBlock.both("2").await, 2);
        assert_eq!(BelowTheOther.both("3").await, 3);
        assert_eq!(OnTheMethod.twice().await, 2);
    });
    let snapshot = tickscope::snapshot();
    for name in [
        "built",
        "boxed",
        "of_another_crate",
        "asynchronous",
        "OnTheMethod::get",
        "AboveTheBlock::get",
        "BelowTheOther::get",
        "twice",
    ] {
        let (ended, wall) = calls(&snapshot, name);
        assert_eq!(ended, 1, "{name}");
        // The rate of the clock is only known approximately, so the shown time may be slightly too short.
        assert!(wall > WAIT * 9 / 10, "{name} lasted {wall:?}");
    }
}
