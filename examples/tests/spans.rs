//! A server on a real executor, tokio, that is instrumented with `tracing` only. While the server waits, its spans are
//! calls in flight. When it is done, all of them have ended.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use tickscope_format::Snapshot;
use tickscope_format::ids::NodeId;
use tickscope_format::snapshot::Quantity;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tracing::{Instrument, info_span, instrument};

const CLIENTS: u64 = 20;
const REQUESTS: u64 = 50;

#[instrument(skip_all)]
async fn serve(mut client: TcpStream) {
    let mut byte = [0];
    while client.read_exact(&mut byte).await.is_ok() {
        answer(&mut client, byte[0]).await;
    }
}

#[instrument(skip(client))]
async fn answer(client: &mut TcpStream, request: u8) {
    tokio::task::yield_now().instrument(info_span!("look up")).await;
    client.write_all(&[encode(request)]).await.unwrap();
}

#[instrument(ret)]
fn encode(request: u8) -> u8 {
    request.wrapping_add(1)
}

/// Returns the number of calls, of calls in flight, and of ended calls, in all rows named `name`.
fn of(snapshot: &Snapshot, name: &str) -> (u64, i64, u64) {
    let rows = || (0..snapshot.nodes.len() as u32).filter(|&row| snapshot.site_of(NodeId(row)).name == name);
    let sum = |quantity| -> u64 { rows().map(|row| snapshot.measures.of_row(quantity, row)).sum() };
    let in_flight = sum(Quantity::InFlight) as i64 - sum(Quantity::EndedElsewhere) as i64;
    let calls = rows().map(|row| snapshot.nodes.calls[row as usize]).sum();
    (calls, in_flight, sum(Quantity::FutureEnds))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_with_spans_alone_is_seen() {
    tickscope_tracing::subscriber().init().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        let mut connections = Vec::new();
        for _ in 0..CLIENTS {
            let (client, _) = listener.accept().await.unwrap();
            connections.push(tokio::spawn(serve(client)));
        }
        for connection in connections {
            connection.await.unwrap();
        }
    });
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(TcpStream::connect(address).await.unwrap());
    }
    for round in 0..REQUESTS {
        for client in &mut clients {
            client.write_all(&[round as u8]).await.unwrap();
        }
        for client in &mut clients {
            let mut byte = [0];
            client.read_exact(&mut byte).await.unwrap();
            assert_eq!(byte[0], round as u8 + 1);
        }
    }
    // Each connection has been polled more than once, and waits for its client.
    let during = tickscope::snapshot();
    assert_eq!(of(&during, "serve").0, CLIENTS);
    assert_eq!(of(&during, "serve").1, CLIENTS as i64);
    drop(clients);
    server.await.unwrap();
    let after = tickscope::snapshot();
    assert_eq!(of(&after, "serve"), (CLIENTS, 0, CLIENTS));
    let all = CLIENTS * REQUESTS;
    for name in ["answer", "look up"] {
        let (calls, in_flight, over) = of(&after, name);
        assert_eq!((calls, in_flight), (all, 0), "{name}");
        // The first calls may have ended before it was known that their site belongs to a future. They are not counted
        // as ended calls.
        assert!((all - CLIENTS..=all).contains(&over), "{name}: {over} are over");
    }
    assert_eq!(of(&after, "encode"), (all, 0, 0));
    assert_eq!(after.capture.losses.unbalanced, 0);
    assert!(after.tasks.paths.is_empty());
}
