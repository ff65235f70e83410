//! Pushing profiles to Pyroscope, including to servers that reply with an error, with garbage or not at all.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use rustix::process::Signal;

use crate::support::{Done, Place, VIEWER, ended, refusals, send};

/// A request that the test's server has received.
struct Request {
    head: String,
    body: Vec<u8>,
}

/// Starts a server that replies to the first requests with `answers`, and to all further ones with status 200.
fn server(answers: &'static [&'static [u8]]) -> (String, mpsc::Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::channel();
    thread::spawn(move || {
        let mut answers = answers.iter();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let request = read(&stream);
            let answer = answers.next().copied();
            let _ = stream.write_all(
                answer.unwrap_or(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
            );
            drop(stream);
            if sender.send(request).is_err() {
                return;
            }
        }
    });
    (address, requests)
}

fn read(stream: &TcpStream) -> Request {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0);
    }
    let length = head
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap()];
    reader.read_exact(&mut body).unwrap();
    Request { head, body }
}

fn push(place: &Place, url: &str, more: &[&str]) -> Command {
    let mut command = place.command(VIEWER);
    command
        .args(["push", "--pyroscope", url, "--every", "1s"])
        .args(more);
    command
}

/// Stops the command with SIGTERM, and asserts that it exits successfully. Returns its output.
fn end(child: Child) -> Done {
    send(&child, Signal::TERM);
    ended(child).ok()
}

fn profiles_arrive_in_order_whatever_the_server_answers_first() {
    let place = Place::new();
    let (url, requests) = server(&[
        b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        b"",
        b"\x00garbage\r\n",
    ]);
    let program = place.start("busy");
    let token = place.work().join("token");
    fs::write(&token, "Bearer of-a-file\nmore").unwrap();
    let mut command = push(&place, &url, &["--label", "host=web-1", "--tenant", "shop"]);
    command.arg("--auth-file").arg(token);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let line = |request: &Request| request.head.lines().next().unwrap().to_owned();
    let first = requests.recv().unwrap();
    let wanted = format!("POST /ingest?name={}%7Bhost%3Dweb-1%7D&from=", program.name);
    assert!(first.head.starts_with(&wanted), "{}", first.head);
    let head = first.head.to_lowercase();
    assert!(head.contains("authorization: bearer of-a-file\r\n"), "{head}");
    assert!(head.contains("x-scope-orgid: shop\r\n"), "{head}");
    // A refused profile is sent again until it is accepted.
    for _ in 0..3 {
        let again = requests.recv().unwrap();
        assert_eq!((line(&again), &again.body), (line(&first), &first.body));
    }
    let next = requests.recv().unwrap();
    assert_ne!(line(&next), line(&first));
    assert!(next.body.windows(2).any(|two| two == [0x1f, 0x8b]), "a profile");
    let sent = " profiles were sent, 0 were dropped";
    end(child).says(&["answers 500; ", "the server takes profiles again", sent]);
}

fn what_the_server_refuses_is_dropped_and_said() {
    let place = Place::new();
    let (url, requests) =
        server(&[b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"]);
    let _program = place.start("busy");
    let mut command = push(&place, &url, &[]);
    command.env("TICKSCOPE_PUSH_AUTHORIZATION", "Basic abc");
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    let first = requests.recv().unwrap();
    let head = first.head.to_lowercase();
    assert!(head.contains("authorization: basic abc\r\n"), "{head}");
    let next = requests.recv().unwrap();
    assert_ne!(next.body, first.body);
    let dropped = "answers 403; this profile was dropped";
    end(child).says(&[dropped, " were sent, 1 were dropped"]);
}

fn addresses_that_cannot_be_used_are_refused() {
    let place = Place::new();
    let mut table = "
        2 push --pyroscope 127.0.0.1:4040 => wanted http://HOST:PORT
        2 push --pyroscope http://me:secret@host => a password in the address
        1 push --pyroscope http://127.0.0.1:1 --auth-file missing => --auth-file missing
        2 push --pyroscope http://host --ca-file ca.pem => wanted https://HOST
    "
    .to_owned();
    if !cfg!(feature = "tls") {
        table += "2 push --pyroscope https://host => no TLS";
    }
    for (done, code, says) in refusals(&table, |words| place.tickscope(words)) {
        let done = done.failed(code, &says);
        assert!(!done.err.contains("secret"), "{}", done.err);
    }
}

/// Servers whose certificates are issued by a private certificate authority.
#[cfg(feature = "tls")]
mod tls {
    use tickscope_testkit::suite::skip;

    use super::*;
    use crate::support::finish;

    /// Runs openssl. If it is missing, the test is skipped.
    fn openssl(place: &Place, words: &str) {
        let mut command = Command::new("openssl");
        command.args(words.split(' ')).current_dir(place.work());
        let Ok(output) = command.stderr(Stdio::piped()).output() else {
            skip("no openssl here");
        };
        assert!(output.status.success(), "{words}: {output:?}");
    }

    /// A Python script that runs an HTTPS server. The server replies to all requests with status 200, and prints its
    /// port and each request line.
    const SERVER: &str = r#"
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        print(self.requestline, flush=True)
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("server.pem", "server.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
"#;

    pub(super) fn a_server_is_trusted_by_the_authority_that_is_given_and_by_no_other() {
        let (place, _program) = Place::with("busy");
        fs::write(place.work().join("names"), "subjectAltName=DNS:localhost").unwrap();
        let openssl = |words: &str| openssl(&place, words);
        for name in ["ca", "other"] {
            let files = format!("-keyout {name}.key -out {name}.pem -subj /CN={name}");
            openssl(&format!("req -x509 -newkey rsa:2048 -nodes {files}"));
        }
        openssl("req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost");
        openssl(
            "x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -extfile names",
        );
        let mut python = Command::new("python3");
        python
            .args(["-c", SERVER])
            .current_dir(place.work())
            .stdout(Stdio::piped());
        let Ok(mut server) = python.spawn() else {
            skip("no python3 here");
        };
        let mut said = BufReader::new(server.stdout.take().unwrap()).lines();
        let url = format!("https://localhost:{}", said.next().unwrap().unwrap());
        let authority = |name: &str| place.work().join(name).to_str().unwrap().to_owned();
        let sending = |more: &[&str]| {
            let mut command = push(&place, &url, more);
            command.stderr(Stdio::piped()).spawn().unwrap()
        };
        let trusting = sending(&["--ca-file", &authority("ca.pem")]);
        let request = said.next().unwrap().unwrap();
        assert!(request.starts_with("POST /ingest?name="), "{request}");
        let told = end(trusting).err;
        assert!(!told.contains(" 0 profiles were sent"), "{told}");
        for more in [&[][..], &["--ca-file", &authority("other.pem")]] {
            let mut child = sending(more);
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
            let refusal = lines.find(|line| {
                line.as_ref()
                    .is_ok_and(|line| line.contains("waiting") || line.contains("profiles wait"))
            });
            let refusal = refusal.unwrap().unwrap();
            assert!(refusal.contains("certificate"), "{refusal}");
            send(&child, Signal::TERM);
            assert!(child.wait().unwrap().success());
        }
        server.kill().unwrap();
        server.wait().unwrap();
        finish(&mut push(&place, &url, &["--ca-file", &authority("server.key")]))
            .failed(1, &["found no certificate"]);
    }
}

tickscope_testkit::tests![
    profiles_arrive_in_order_whatever_the_server_answers_first,
    what_the_server_refuses_is_dropped_and_said,
    addresses_that_cannot_be_used_are_refused,
    #[cfg(feature = "tls")]
    tls::a_server_is_trusted_by_the_authority_that_is_given_and_by_no_other,
];
