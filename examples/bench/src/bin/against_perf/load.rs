//! Sends requests to a server, as its clients would.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::Outcome;

/// The first answer counts as complete when the server has sent nothing for this long.
const SILENCE: Duration = Duration::from_millis(200);

/// Sends requests to a server on this host, `gap` apart on average, but not before the answer to the last one is there. The
/// gaps are random, because in step with the kernel's tick, samples would always see the same part of a request. The first
/// answer ends when the server falls silent. All later answers must have the same length.
fn ask(port: u16, requests: usize, gap: Duration, request: &[u8]) -> io::Result<()> {
    let begin = Instant::now();
    let mut server = loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(server) => break server,
            // The server may not be listening yet.
            Err(_) if begin.elapsed() < Duration::from_secs(30) => thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(error),
        }
    };
    server.set_nodelay(true)?;
    server.write_all(request)?;
    let mut answer = vec![0; 1 << 20];
    let mut length = server.read(&mut answer)?;
    server.set_read_timeout(Some(SILENCE))?;
    while let Ok(more @ 1..) = server.read(&mut answer[length..]) {
        length += more;
    }
    server.set_read_timeout(None)?;
    let (begin, mut due) = (Instant::now(), Duration::ZERO);
    for random in randoms(server.local_addr()?.port()).take(requests - 1) {
        due += gap.mul_f64(2.0 * random);
        thread::sleep(due.saturating_sub(begin.elapsed()));
        server.write_all(request)?;
        server.read_exact(&mut answer[..length])?;
    }
    Ok(())
}

/// Returns numbers from 0 to 1, by Park and Miller's generator.
fn randoms(seed: u16) -> impl Iterator<Item = f64> {
    const LIMIT: u64 = (1 << 31) - 1;
    let next = |last: &u64| Some(last * 16_807 % LIMIT);
    std::iter::successors(Some(u64::from(seed.max(1))), next).map(|number| number as f64 / LIMIT as f64)
}

/// Opens several connections to a server at the same time, and sends the requests over each of them, `gap` microseconds
/// apart. In `request`, `\r` and `\n` stand for CR and LF.
pub(crate) fn load(port: &str, connections: &str, requests: &str, gap: &str, request: &str) -> Outcome<()> {
    let (port, connections, requests) = (port.parse()?, connections.parse::<usize>()?, requests.parse()?);
    let gap = Duration::from_micros(gap.parse()?);
    let request = request.replace("\\r", "\r").replace("\\n", "\n");
    thread::scope(|scope| {
        let ask = || ask(port, requests, gap, request.as_bytes());
        let all: Vec<_> = (0..connections).map(|_| scope.spawn(ask)).collect();
        all.into_iter()
            .try_for_each(|one| Ok(one.join().map_err(|_| "a connection has panicked")??))
    })
}
