#!/usr/bin/env bash
# A small server of axum and tower-http (server.rs): requests and handlers are calls of futures, below each other and across threads, those that wait are
# in flight, and those whose clients go away have ended. Needs curl and python3.
set -euo pipefail
cd "$(dirname "$0")"
repository=$(cd ../../../.. && pwd)
target=${CARGO_TARGET_DIR:-$repository/target}/spans-of-axum
unset "${!TICKSCOPE@}"
cargo="${CARGO:-cargo}"
work=$(mktemp -d)
server=
clients=()
trap 'for process in $server "${clients[@]}"; do kill "$process" 2> /dev/null || true; done; rm -rf "$work"' EXIT

fail() {
    echo "axum/check.sh: $*" >&2
    exit 1
}

mkdir -p "$work/src"
cp server.rs "$work/src/main.rs"
cat > "$work/Cargo.toml" <<END
[package]
name = "items"
version = "0.0.0"
edition = "2024"

[dependencies]
axum = "0.8"
tokio = { version = "1", features = ["macros", "net", "rt-multi-thread", "signal", "time"] }
tower-http = { version = "0.6", features = ["trace"] }
tracing = "0.1"
tickscope = { path = "$repository/collector", features = ["export"] }
tickscope-tracing = { path = "$repository/collector/tracing", features = ["enable"] }

[workspace]
END
cd "$work"
"$cargo" build --quiet --release --target-dir "$target"
for crate in axum hyper tower-http tokio tracing; do
    grep -A1 "^name = \"$crate\"$" Cargo.lock | paste -sd' '
done

mkdir -m 700 "$work/rings"
mkfifo "$work/port"
TICKSCOPE_DIR="$work/rings" TICKSCOPE=report TICKSCOPE_REPORT="$work/end.json" "$target/release/items" > "$work/port" &
server=$!
read -r port < "$work/port"
ask() { curl --silent --fail --max-time 60 "http://127.0.0.1:$port/$1"; }

# What a dump says of the futures of a name, all threads and places together.
sum() {
    python3 - "$work/$1.json" "$2" "$3" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
of = lambda node: node["calls"] if sys.argv[3] == "calls" else (node.get("futures") or {}).get(sys.argv[3], 0)
print(int(sum(of(node) for node in report["nodes"] if node["name"] == sys.argv[2])))
END
}
wants() {
    local found
    found=$(sum "$1" "$2" "$3")
    [ "$found" = "$4" ] || fail "$1: $2 has $3 $found, wanted $4"
}

# From eight clients at once.
seq 200 | xargs -P 8 -I{} curl --silent --fail "http://127.0.0.1:$port/item/{}" > "$work/answers"
[ "$(wc -l < "$work/answers")" = 200 ] || fail "$(wc -l < "$work/answers") answers, wanted 200"
# The first ones show that the site is one of futures: their clients go away, and the server drops them.
dumps=0
look() {
    dumps=$((dumps + 1))
    ask "dump/look-$dumps.json" > /dev/null
}
until_ended() {
    until look && [ "$(sum "look-$dumps" never ended)" = "$1" ]; do sleep 0.1; done
}
for _ in 1 2 3 4 5; do
    curl --silent "http://127.0.0.1:$port/never" &
    clients+=($!)
done
until look && [ "$(sum "look-$dumps" forever calls)" = 5 ]; do sleep 0.1; done
for client in "${clients[@]}"; do kill "$client"; done
clients=()
until_ended 5
# Now those that wait are in flight, and go.
for _ in 1 2 3; do
    curl --silent "http://127.0.0.1:$port/never" &
    clients+=($!)
done
until look && [ "$(sum "look-$dumps" forever in_flight)" = 3 ]; do sleep 0.1; done
wants "look-$dumps" never in_flight 3
for client in "${clients[@]}"; do kill "$client"; done
clients=()
until_ended 8

kill -INT "$server"
wait "$server"
server=
for name in item query; do
    wants end "$name" calls 200
    wants end "$name" in_flight 0
done
for name in never forever; do
    wants end "$name" calls 8
    wants end "$name" in_flight 0
    wants end "$name" ended 8
done
python3 - "$work/end.json" <<'END' || fail "the tree is another one"
import json, sys
report = json.load(open(sys.argv[1]))
by_id = {node["id"]: node for node in report["nodes"]}
above = {"request": None, "item": "request", "never": "request", "dump": "request", "query": "item", "forever": "never"}
# hyper drops a request outside of its span, so what that drops has rows there that were never called.
wrong = [
    node
    for node in report["nodes"]
    if node["calls"] > 0 and above.get(node["name"], "") != (by_id[node["parent"]]["name"] if node["parent"] is not None else None)
]
lost = {name: report[name] for name in ("dropped", "unbalanced") if report[name]}
if wrong or lost:
    sys.exit(f"{wrong} {lost}")
END
echo "requests that wait, answer or are given up by their clients are calls of futures"
