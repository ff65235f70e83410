//! `tickscope mcp`: sessions over standard input and output, in which the test writes the client's messages itself. A
//! session with the official client is in `tests/mcp_client`.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::support::{Place, Program, VIEWER, finish_with, send, until, until_true};

struct Client {
    server: Program,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(place: &Place, args: &[&str]) -> Self {
        let mut command = place.command(VIEWER);
        command
            .arg("mcp")
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            server: Program::of(child),
            id: 0,
        }
    }

    fn send(&mut self, line: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line).unwrap();
        input.write_all(b"\n").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.output.read_line(&mut line).unwrap() > 0, "it has ended");
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(answer["jsonrpc"], "2.0");
        answer
    }

    /// Sends a request in the newest revision of the protocol.
    fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.id += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let request = json!({ "jsonrpc": "2.0", "id": self.id, "method": method, "params": params });
        self.send(request.to_string().as_bytes());
        let answer = self.receive();
        assert_eq!(answer["id"], self.id);
        answer
    }

    /// Calls a tool that must succeed. Returns its result.
    fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": name, "arguments": arguments }));
        let result = &answer["result"];
        assert_eq!(result["isError"], false, "{answer}");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.len() <= 2_000, "{text}");
        let parsed: Value = serde_json::from_str(text).unwrap();
        assert_eq!(parsed, result["structuredContent"]);
        parsed
    }

    /// Calls a tool that must fail. Returns its error.
    fn error(&mut self, name: &str, arguments: Value) -> String {
        let answer = self.ask("tools/call", json!({ "name": name, "arguments": arguments }));
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = &answer["result"]["content"][0]["text"];
        text.as_str().unwrap().to_string()
    }
}

fn a_tool_answers_by_name_of_a_run_that_has_ended_only_with_the_flag() {
    let (place, mut program) = Place::with("busy");
    program.end();
    let pid = program.pid().to_string();
    for flag in [&[][..], &["--ended"]] {
        let mut client = Client::start(&place, flag);
        for (tool, of) in [
            ("top", "target"),
            ("sites", "target"),
            ("mark", "target"),
            ("compare", "before"),
        ] {
            let arguments = |target: &str| match tool {
                "compare" => json!({ of: target, "after": pid }),
                _ => json!({ of: target }),
            };
            if flag.is_empty() {
                let error = client.error(tool, arguments(&program.name));
                let says = format!("(pid {pid}, exited); give its pid, or give --ended");
                assert!(error.contains(&says), "{tool}: {error}");
            } else {
                client.call(tool, arguments(&program.name));
            }
            client.call(tool, arguments(&pid));
        }
    }
}

fn the_six_tools_answer_from_a_program_that_runs() {
    let (place, program) = Place::with("busy");
    let mut client = Client::start(&place, &[]);
    let found = client.ask("server/discover", json!({}));
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    let tools = client.ask("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["programs", "top", "why", "compare", "mark", "sites"]);

    let pid = program.pid().to_string();
    let programs = client.call("programs", json!({}));
    let mut programs = programs["programs"].as_array().unwrap().iter();
    let ours = programs.find(|one| one["pid"] == program.pid());
    assert_eq!(ours.unwrap()["live"], true);
    let mark = client.call("mark", json!({ "target": pid }));
    assert_eq!(mark["mark"], "mark-1");
    let calls = |answer: &Value| -> u64 {
        let functions = answer["functions"].as_array().unwrap().iter();
        functions.map(|row| row["calls"].as_u64().unwrap()).sum()
    };
    let since = until("there were calls since the mark", || {
        let since = client.call("top", json!({ "target": pid, "since": "mark-1", "by": "calls" }));
        (calls(&since) > 0).then_some(since)
    });
    assert_eq!(since["when"], "since mark-1");
    let all = client.call("top", json!({ "target": program.name, "by": "calls" }));
    assert!(calls(&all) > calls(&since), "{all} {since}");
    let mark = format!("mark {{\"target\":\"{}\"}}", program.name);
    assert_eq!(all["next"][0], mark, "it may not watch");
    let changed = client.call("compare", json!({ "before": "mark-1", "after": pid }));
    let whole = &changed["whole"]["calls"];
    assert!(whole[1].as_f64() > whole[0].as_f64(), "{changed}");
    let notes = changed["notes"].to_string();
    assert!(notes.contains("before and after are of one run"), "{changed}");
    let sites = client.call("sites", json!({ "target": pid, "matching": "leaf" }));
    assert_eq!((&sites["shown"], &sites["total"]), (&json!(1), &json!(1)));

    // The requests above have not changed the program.
    let before = place.json(&program.name);
    assert_eq!(before["rules"], json!([]));
    assert_eq!(before["reset_epoch"], 0);
    let said = client.error("why", json!({ "function": "leaf", "target": pid, "seconds": 1 }));
    let may_only_read = "this server may only read; start it as tickscope mcp --allow-control";
    assert!(said.contains(may_only_read), "{said}");
    let said = client.error("why", json!({ "function": "leaf", "target": pid }));
    assert!(said.contains("leaf is not watched"), "{said}");

    // Closing standard input ends the server.
    drop(client.input.take());
    assert!(client.server.child.wait().unwrap().success());
}

fn why_may_watch_where_that_is_allowed_and_leaves_nothing_behind() {
    let (place, program) = Place::with("busy");
    let mut client = Client::start(&place, &["--allow-control"]);
    let arguments = json!({ "function": "leaf", "target": program.name, "seconds": 1, "over": "100s" });
    let answer = client.call("why", arguments);
    assert_eq!(answer["slow_calls"], 0, "{answer}");
    assert!(answer["calls"].as_u64().unwrap() > 0, "{answer}");
    let said = client.error("why", json!({ "function": "leaf", "target": program.name }));
    let not_watched = "leaf is not watched (no function is watched)";
    assert!(said.contains(not_watched), "{said}");

    // If the client closes standard input during a watch, or if the server receives a signal, the server stops the
    // watch and exits.
    for leaves in [true, false] {
        let mut client = Client::start(&place, &["--allow-control"]);
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "why", "arguments": { "function": "leaf", "target": program.name, "seconds": 60 } } });
        client.send(
            br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
        );
        client.receive();
        client.send(request.to_string().as_bytes());
        let is_watched = || place.tickscope(&["why", "leaf", &program.name]).code == Some(0);
        until_true("it is watched", is_watched);
        if leaves {
            drop(client.input.take());
        } else {
            send(&client.server.child, Signal::TERM);
        }
        let status = client.server.child.wait().unwrap();
        assert_eq!(status.code(), Some(if leaves { 0 } else { 143 }));
        assert!(!is_watched());
    }
}

fn whatever_comes_in_is_answered_in_bounds_and_the_next_request_is_served() {
    let place = Place::new();
    let mut client = Client::start(&place, &[]);
    let huge = vec![b'x'; 3 << 20];
    let code = |answer: &Value| answer["error"]["code"].as_i64().unwrap();
    for (line, wanted) in [(&b"nonsense"[..], -32_700), (&huge, -32_600)] {
        client.send(line);
        let answer = client.receive();
        assert_eq!(code(&answer), wanted, "{answer}");
        assert!(answer.to_string().len() < 1_000);
    }
    // These messages get no reply, so the next reply is for the request that follows them.
    client.send(b"");
    client.send(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    client.send(br#"{"jsonrpc":"2.0","id":"x","result":{}}"#);
    let answer = client.ask("no/such/method", json!({}));
    assert_eq!(code(&answer), -32_601);
    let answer = client.ask("tools/call", json!({ "name": "reset" }));
    assert_eq!(code(&answer), -32_602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("programs, top, why, compare, mark, sites"));
    let table = r#"
        top {"target": 7} => invalid type
        top {"rows": 101} => rows: 101; wanted 1 to 100
        top {"surplus": 1} => unknown field `surplus`
        top {"target": "-"} => standard input belongs to the client
        top {"target": "LONG"} => wanted 1 to 4096 bytes
        top {"target": "nobody-called-so"} => no program called
        compare {} => missing field `before`
        compare {"before": "mark-9"} => there is no mark mark-9; kept marks: none
        sites {"matching": ""} => matching: wanted a name or a pattern
        why {"function": "a\nb"} => function: wanted a name or a pattern
    "#;
    for line in table.replace("LONG", &"x".repeat(5_000)).trim().lines() {
        let (call, says) = line.split_once(" => ").unwrap();
        let (tool, arguments) = call.trim().split_once(' ').unwrap();
        let said = client.error(tool, serde_json::from_str(arguments).unwrap());
        assert!(said.contains(says), "{tool}: {said}");
        assert!(said.len() < 1_000, "{said}");
    }
}

fn a_session_is_a_line_for_a_line() {
    let place = Place::new();
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":"two","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#,
    ];
    let mut command = place.command(VIEWER);
    let done = finish_with(command.arg("mcp"), lines.join("\n").as_bytes())
        .ok()
        .quiet();
    let version = env!("CARGO_PKG_VERSION");
    let answers = done.out.replace(version, "(version)");
    insta::assert_snapshot!(answers);
}

tickscope_testkit::tests![
    a_tool_answers_by_name_of_a_run_that_has_ended_only_with_the_flag,
    the_six_tools_answer_from_a_program_that_runs,
    why_may_watch_where_that_is_allowed_and_leaves_nothing_behind,
    whatever_comes_in_is_answered_in_bounds_and_the_next_request_is_served,
    a_session_is_a_line_for_a_line,
];
