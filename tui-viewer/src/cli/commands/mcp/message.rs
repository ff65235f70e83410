//! Messages of JSON-RPC 2.0 as the Model Context Protocol uses it: requests have an integer or a string as their id,
//! notifications have none, and there are no batches.

use serde_json::{Map, Value, json};

use super::input::LINE_MAX;

pub(super) const PARSE_ERROR: i32 = -32_700;
pub(super) const INVALID_REQUEST: i32 = -32_600;
pub(super) const METHOD_NOT_FOUND: i32 = -32_601;
const INVALID_PARAMS: i32 = -32_602;
/// Error code defined by the Model Context Protocol.
pub(super) const UNSUPPORTED_VERSION: i32 = -32_022;

/// A well-formed request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request {
    pub(super) id: Value,
    pub(super) method: String,
    pub(super) params: Map<String, Value>,
}

/// Reason why a request is refused.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Refusal {
    pub(super) code: i32,
    pub(super) message: String,
    pub(super) data: Option<Value>,
}

impl Refusal {
    pub(super) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// Returns a refusal because of invalid parameters.
    pub(super) fn params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }
}

/// Parses a line. Returns the request, or `None` if the line needs no answer. The error is the error response to send.
pub(super) fn read(line: &[u8]) -> Result<Option<Request>, Value> {
    let blank = line.iter().all(u8::is_ascii_whitespace);
    if blank {
        return Ok(None);
    }
    let value: Value = serde_json::from_slice(line)
        .map_err(|error| refused(None, Refusal::new(PARSE_ERROR, format!("not JSON: {error}"))))?;
    let mut message = match value {
        Value::Object(message) => message,
        Value::Array(_) => {
            return Err(invalid(None, "found a batch, wanted one message a line"));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(invalid(
                None,
                "a JSON value that is not an object; wanted a message of JSON-RPC 2.0",
            ));
        }
    };
    let id = message.remove("id");
    let method = message.remove("method");
    if method.is_none() && (message.contains_key("result") || message.contains_key("error")) {
        // A response needs no answer. This server sends no requests, so none is expected.
        return Ok(None);
    }
    let id = match id {
        // A notification, such as `notifications/initialized`.
        None if matches!(method, Some(Value::String(_))) => return Ok(None),
        None => None,
        Some(id) if id.is_string() || id.is_i64() || id.is_u64() => Some(id),
        Some(_) => return Err(invalid(None, "an id that is neither a string nor a whole number")),
    };
    if message.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(invalid(id, "no \"jsonrpc\": \"2.0\""));
    }
    let (Some(id), Some(Value::String(method))) = (&id, method) else {
        return Err(invalid(id, "no method, or a method that is not a string"));
    };
    let params = match message.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => {
            let refusal = Refusal::params("params that are not an object");
            return Err(refused(Some(id.clone()), refusal));
        }
    };
    Ok(Some(Request {
        id: id.clone(),
        method,
        params,
    }))
}

fn invalid(id: Option<Value>, found: &str) -> Value {
    refused(id, Refusal::new(INVALID_REQUEST, format!("found {found}")))
}

/// Returns the error response to a line that was too long.
pub(super) fn too_long() -> Value {
    let why = format!("a line of more than {LINE_MAX} bytes");
    refused(None, Refusal::new(INVALID_REQUEST, why))
}

/// Returns the error response to a request. It has no id if the request's id could not be read.
pub(super) fn refused(id: Option<Value>, refusal: Refusal) -> Value {
    let mut error = json!({ "code": refusal.code, "message": refusal.message });
    if let Some(data) = refusal.data {
        error["data"] = data;
    }
    match id {
        Some(id) => json!({ "jsonrpc": "2.0", "id": id, "error": error }),
        None => json!({ "jsonrpc": "2.0", "error": error }),
    }
}

/// Returns the response that carries a result.
pub(super) fn result(id: Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> Option<i64> {
        match read(line.as_bytes()) {
            Ok(None) => None,
            Ok(Some(request)) => panic!("{line} is {request:?}"),
            Err(answer) => answer["error"]["code"].as_i64(),
        }
    }

    #[test]
    fn what_is_no_request_is_answered_or_left() {
        let deep = "[".repeat(10_000);
        for (line, wanted) in [
            ("", None),
            (" \r", None),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, None),
            (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, None),
            (
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}"#,
                None,
            ),
            ("nonsense", Some(-32_700)),
            (deep.as_str(), Some(-32_700)),
            (r#"{"jsonrpc":"2.0""#, Some(-32_700)),
            ("7", Some(-32_600)),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, Some(-32_600)),
            (r#"{"id":1,"method":"ping"}"#, Some(-32_600)),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, Some(-32_600)),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Some(-32_600)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, Some(-32_600)),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, Some(-32_600)),
            (r#"{"jsonrpc":"2.0","id":1}"#, Some(-32_600)),
            (r#"{"jsonrpc":"2.0"}"#, Some(-32_600)),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#,
                Some(-32_602),
            ),
        ] {
            assert_eq!(code(line), wanted, "{line}");
        }
        assert!(read(b"\xff\xfe").is_err(), "no UTF-8");
    }

    #[test]
    fn an_error_has_the_id_of_its_request_if_that_could_be_read() {
        let answer = read(br#"{"jsonrpc":"2.0","id":"a","method":"x","params":1}"#).unwrap_err();
        assert_eq!(answer["id"], "a");
        assert_eq!(too_long().get("id"), None);
        let request = read(br#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#)
            .unwrap()
            .unwrap();
        assert_eq!((request.id, request.method.as_str()), (json!(3), "ping"));
    }
}
