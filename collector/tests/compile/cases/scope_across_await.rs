//! Scopes that are open across an `.await` in a future that must be `Send`.

async fn other() {}

async fn work() {
    tickscope::scope!("work");
    other().await;
}

async fn times() {
    tickscope::time!("times", other().await);
}

fn spawn<F: Future<Output = ()> + Send + 'static>(_: F) {}

fn main() {
    spawn(work());
    spawn(times());
    spawn(tickscope::future!("work", other()));
}
