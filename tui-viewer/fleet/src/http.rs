//! Just enough HTTP for a scrape, on one thread and in bounded memory no matter what clients send.
//!
//! A request must be a GET or HEAD with a head of at most 8 KiB, and each connection lasts at most ten seconds. At most
//! 64 connections are open. When another one arrives, it replaces the oldest connection to which no response is being
//! written, or if there is none, the oldest of all. Slow or silent clients therefore cannot keep a scraper out.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Maximum number of open connections.
pub(crate) const CONNECTIONS_MOST: usize = 64;

/// Maximum number of connections that are accepted in one turn, so that the open connections are soon served again.
const ACCEPTED_MOST: usize = 16;

/// Maximum size of the head of a request, in bytes.
const HEAD_MOST: usize = 8 << 10;

/// Maximum duration of a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum time that a connection stays open after its response has been sent.
const FAREWELL: Duration = Duration::from_secs(1);

/// A request for a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Request {
    /// Whether this is a HEAD request, which wants no body.
    pub(crate) is_head: bool,
    /// Path of the resource, without the query string.
    pub(crate) path: String,
    /// Values of all `Accept` headers, concatenated.
    pub(crate) accept: String,
}

/// An HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Status code and reason phrase: `200 OK`.
    pub(crate) status: &'static str,
    /// Value of the `Content-Type` header.
    pub(crate) content_type: &'static str,
    /// The content.
    pub(crate) body: Arc<str>,
}

/// A server at an address.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) listener: TcpListener,
    connections: Vec<Connection>,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    deadline: Instant,
    state: State,
}

#[derive(Debug)]
enum State {
    /// The part of the request's head that has arrived.
    Reading(Vec<u8>),
    /// Head and body of the response, and the total number of bytes sent so far.
    Writing(Vec<u8>, Arc<str>, usize),
    /// The response has been sent. Further input is read and dropped: if the socket were closed with unread input, the
    /// system could discard the response.
    Leaving,
}

impl Server {
    /// Starts listening on the first of these addresses that can be used.
    ///
    /// # Errors
    /// The system's error if none of the addresses can be used, for example because they are in use or belong to
    /// another machine.
    pub(crate) fn bind(addresses: &[SocketAddr]) -> io::Result<Self> {
        let listener = TcpListener::bind(addresses)?;
        listener.set_nonblocking(true)?;
        Ok(Self {
            listener,
            connections: Vec::new(),
        })
    }

    /// Waits up to `wait` until connections are ready, then serves these and accepts new ones. A signal ends the wait
    /// early.
    ///
    /// # Errors
    /// The system's error while waiting.
    pub(crate) fn turn(
        &mut self,
        wait: Duration,
        answer: &mut dyn FnMut(&Request) -> Answer,
    ) -> io::Result<()> {
        let now = Instant::now();
        let deadlines = self.connections.iter().map(|connection| connection.deadline);
        let wait = deadlines
            .map(|at| at.saturating_duration_since(now))
            .min()
            .unwrap_or(wait)
            .min(wait);
        let timeout = Timespec {
            tv_sec: wait.as_secs() as i64,
            tv_nsec: i64::from(wait.subsec_nanos()),
        };
        let mut waits: Vec<PollFd<'_>> = vec![PollFd::new(&self.listener, PollFlags::IN)];
        waits.extend(self.connections.iter().map(|connection| {
            let flags = match connection.state {
                State::Writing(..) => PollFlags::OUT,
                State::Reading(_) | State::Leaving => PollFlags::IN,
            };
            PollFd::new(&connection.stream, flags)
        }));
        match poll(&mut waits, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready: Vec<bool> = waits.iter().map(|wait| !wait.revents().is_empty()).collect();
        let now = Instant::now();
        let mut ready_ones = ready.iter().skip(1);
        self.connections.retain_mut(|connection| {
            let is_ready = ready_ones.next().is_some_and(|ready| *ready);
            (!is_ready || connection.go_on(answer)) && connection.deadline > now
        });
        if ready[0] {
            self.accept(now);
        }
        Ok(())
    }

    fn accept(&mut self, now: Instant) {
        for _ in 0..ACCEPTED_MOST {
            // No connection is waiting, or this one failed. The next turn accepts others.
            let Ok((stream, _)) = self.listener.accept() else {
                return;
            };
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            if self.connections.len() >= CONNECTIONS_MOST {
                let idle = |connection: &Connection| !matches!(connection.state, State::Writing(..));
                // Connections are in the order in which they were accepted.
                let oldest = self.connections.iter().position(idle).unwrap_or(0);
                self.connections.remove(oldest);
            }
            self.connections.push(Connection {
                stream,
                deadline: now + PATIENCE,
                state: State::Reading(Vec::new()),
            });
        }
    }
}

impl Connection {
    /// Reads or writes without blocking. Returns false if the connection has ended.
    fn go_on(&mut self, answer: &mut dyn FnMut(&Request) -> Answer) -> bool {
        let mut buffer = [0; 2048];
        match &mut self.state {
            State::Reading(head) => {
                match self.stream.read(&mut buffer) {
                    Ok(0) => return false,
                    Ok(count) => head.extend_from_slice(&buffer[..count]),
                    Err(error) => return is_passing(&error),
                }
                let (request, reply) = match parse(head) {
                    None => return true,
                    Some(Ok(request)) => {
                        let reply = answer(&request);
                        (request, reply)
                    }
                    Some(Err(status)) => (Request::default(), refusal(status)),
                };
                let head = format!(
                    "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nX-Content-Type-Options: nosniff\r\n\
                     Connection: close\r\n\r\n",
                    reply.status,
                    reply.content_type,
                    reply.body.len()
                );
                let body = if request.is_head { "".into() } else { reply.body };
                self.state = State::Writing(head.into_bytes(), body, 0);
                self.write()
            }
            State::Writing(..) => self.write(),
            State::Leaving => match self.stream.read(&mut buffer) {
                Ok(count) => count > 0,
                Err(error) => is_passing(&error),
            },
        }
    }

    fn write(&mut self) -> bool {
        let State::Writing(head, body, sent) = &mut self.state else {
            return true;
        };
        loop {
            let rest = match sent.checked_sub(head.len()) {
                None => &head[*sent..],
                Some(of_body) => &body.as_bytes()[of_body..],
            };
            if rest.is_empty() {
                break;
            }
            match self.stream.write(rest) {
                Ok(0) => return false,
                Ok(count) => *sent += count,
                Err(error) => return is_passing(&error),
            }
        }
        self.state = State::Leaving;
        self.deadline = self.deadline.min(Instant::now() + FAREWELL);
        self.stream.shutdown(Shutdown::Write).is_ok()
    }
}

fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Returns an error response whose body is just the status.
pub(crate) fn refusal(status: &'static str) -> Answer {
    Answer {
        status,
        content_type: "text/plain; charset=utf-8",
        body: format!("{status}\n").into(),
    }
}

/// Parses the head of a request. Returns `None` while it is incomplete, and the status of the response as an error if
/// it is invalid.
fn parse(head: &[u8]) -> Option<Result<Request, &'static str>> {
    const BAD: &str = "400 Bad Request";
    // Input that cannot be HTTP is refused at once, without waiting for a complete head.
    let word = head.split(|&byte| byte == b' ').next().unwrap_or_default();
    if word.len() > 16 || !word.iter().all(u8::is_ascii_uppercase) {
        return Some(Err(BAD));
    }
    let end = head.windows(4).position(|four| four == b"\r\n\r\n");
    let Some(end) = end.filter(|&end| end <= HEAD_MOST) else {
        let is_long = head.len() > HEAD_MOST;
        return is_long.then_some(Err("431 Request Header Fields Too Large"));
    };
    let Ok(text) = std::str::from_utf8(&head[..end]) else {
        return Some(Err(BAD));
    };
    let mut lines = text.split("\r\n");
    let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let [method, target, version] = words[..] else {
        return Some(Err(BAD));
    };
    if !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return Some(Err(BAD));
    }
    let is_head = match method {
        "GET" => false,
        "HEAD" => true,
        _ => return Some(Err("405 Method Not Allowed")),
    };
    let mut accept = String::new();
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            return Some(Err(BAD));
        };
        if name.eq_ignore_ascii_case("accept") {
            accept += value;
        }
    }
    Some(Ok(Request {
        is_head,
        path: target.split('?').next().unwrap_or_default().to_owned(),
        accept,
    }))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn heads_are_read_whole_or_refused() {
        let request = parse(b"GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\nACCEPT: text/plain\r\n\r\n");
        let wanted = Request {
            is_head: false,
            path: "/metrics".into(),
            accept: " text/plain".into(),
        };
        assert_eq!(request, Some(Ok(wanted)));
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHost"), None);
        assert_eq!(parse(b""), None);
        for (head, status) in [
            (&b"POST / HTTP/1.1\r\n\r\n"[..], "405"),
            (b"\x16\x03\x01\x02", "400"),
            (b"get / HTTP/1.1\r\n\r\n", "400"),
            (b"GET / HTTP/2\r\n\r\n", "400"),
            (b"GET /\r\n\r\n", "400"),
            (b"GET http://a/ HTTP/1.1\r\n\r\n", "400"),
            (b"GET / HTTP/1.1\r\nno colon\r\n\r\n", "400"),
            (b"GET / HTTP/1.1\r\nA: \xff\r\n\r\n", "400"),
        ] {
            let found = parse(head).unwrap().unwrap_err();
            assert!(found.starts_with(status), "{found}: {}", head.escape_ascii());
        }
        let long = [&b"GET / HTTP/1.1\r\nA: "[..], &[b'a'; HEAD_MOST]].concat();
        for long in [&long[..], &[&long[..], b"\r\n\r\n"].concat()] {
            assert_eq!(
                parse(long).unwrap().unwrap_err(),
                "431 Request Header Fields Too Large"
            );
        }
    }

    /// Starts a server that stops after this many requests, once all connections have ended. The thread returns the
    /// maximum number of connections that were open at the same time.
    fn serve(requests: usize) -> (SocketAddr, thread::JoinHandle<usize>) {
        let mut server = Server::bind(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        let address = server.listener.local_addr().unwrap();
        let serving = thread::spawn(move || {
            let (mut asked, mut most) = (0, 0);
            // The body is too large for a socket to take it in one write.
            let body: Arc<str> = "0123456789abcdef".repeat(1 << 17).into();
            while asked < requests || !server.connections.is_empty() {
                let mut answer = |_: &Request| {
                    asked += 1;
                    Answer {
                        status: "200 OK",
                        content_type: "text/plain",
                        body: body.clone(),
                    }
                };
                server.turn(Duration::from_secs(1), &mut answer).unwrap();
                most = most.max(server.connections.len());
            }
            most
        });
        (address, serving)
    }

    fn get(address: SocketAddr) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn silent_clients_keep_nobody_out() {
        let (address, serving) = serve(2);
        let mut silent = Vec::new();
        for index in 0..200 {
            let mut stream = TcpStream::connect(address).unwrap();
            // Each client sends half of a request, or nothing. The server may close the connection before the write.
            if index % 2 == 0 {
                let _ = stream.write_all(b"GET / HT");
            }
            silent.push(stream);
            if index == 100 {
                assert!(get(address).ends_with("abcdef"));
            }
        }
        let text = get(address);
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.contains("Content-Length: 2097152\r\n"));
        assert_eq!(text.split_once("\r\n\r\n").unwrap().1.len(), 16 << 17);
        drop(silent);
        assert!(serving.join().unwrap() <= CONNECTIONS_MOST);
    }

    #[test]
    fn garbage_is_answered_and_the_next_request_too() {
        let (address, serving) = serve(1);
        for garbage in [
            &b"\x16\x03\x01\x02\x00\x01"[..],
            &[b'A'; 100],
            b"PUT / HTTP/1.1\r\n\r\n",
        ] {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(garbage).unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            assert!(text.starts_with("HTTP/1.1 40"), "{text}");
        }
        assert!(get(address).starts_with("HTTP/1.1 200 OK\r\n"));
        serving.join().unwrap();
    }
}
