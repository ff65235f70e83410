//! A small axum server. Its handlers have `#[instrument]`, and tower-http makes a span for each request. `check.sh`
//! builds the server with crates from the registry, and sends requests to it.

use std::time::Duration;

use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::routing::get;
use tower_http::trace::TraceLayer;
use tracing::instrument;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    tickscope_tracing::subscriber()
        .with_target("hyper", tickscope_tracing::LevelFilter::OFF)
        .init()?;
    let routes = Router::new()
        .route("/item/{number}", get(item))
        .route("/never", get(never))
        .route("/dump/{name}", get(dump))
        .layer(TraceLayer::new_for_http());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?.port());
    axum::serve(listener, routes)
        .with_graceful_shutdown(async { tokio::signal::ctrl_c().await.unwrap_or(()) })
        .await?;
    Ok(())
}

/// Waits twice, and replies.
#[instrument]
async fn item(Path(number): Path<u32>) -> String {
    let found = query(number).await;
    tokio::task::yield_now().await;
    format!("item {found}\n")
}

#[instrument]
async fn query(number: u32) -> u32 {
    tokio::time::sleep(Duration::from_millis(1)).await;
    number
}

/// Waits until hyper drops the future because the client has disconnected.
#[instrument]
async fn never() -> StatusCode {
    forever().await;
    StatusCode::OK
}

#[instrument]
async fn forever() {
    std::future::pending::<()>().await;
}

/// Writes a snapshot.
#[instrument]
async fn dump(Path(name): Path<String>) -> Result<String, StatusCode> {
    let written = tickscope_tracing::tickscope::dump(name, tickscope_tracing::tickscope::Format::Json);
    let path = written.map_err(|_| StatusCode::CONFLICT)?;
    Ok(path.display().to_string())
}
