#!/usr/bin/env bash
# The server of mini-redis 0.4.1 from the registry, with one line of its `main` changed: the spans of its functions are rows, calls agree
# with the commands that clients sent, and nothing is lost. Its lock file has versions of tracing as old as they may be.
set -euo pipefail
cd "$(dirname "$0")"
repository=$(cd ../../../.. && pwd)
target=${CARGO_TARGET_DIR:-$repository/target}/spans-of-a-server
unset "${!TICKSCOPE@}"
cargo="${CARGO:-cargo}"
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT

fail() {
    echo "server/check.sh: $*" >&2
    exit 1
}

# Cargo unpacks it for a package that needs it.
mkdir -p "$work/fetch/src"
touch "$work/fetch/src/lib.rs"
printf '[package]\nname = "fetch"\nversion = "0.0.0"\n[dependencies]\nmini-redis = "=0.4.1"\n[workspace]\n' > "$work/fetch/Cargo.toml"
"$cargo" fetch --quiet --manifest-path "$work/fetch/Cargo.toml"
sources=$(find "${CARGO_HOME:-$HOME/.cargo}/registry/src" -maxdepth 2 -name mini-redis-0.4.1 | head -n 1)
cp -r "$sources" "$work/server"
cd "$work/server"
chmod -R u+w .

line='tracing_subscriber::fmt::try_init()?;'
grep -qF "$line" src/bin/server.rs || fail "src/bin/server.rs has no line \`$line\`"
sed -i "s/tracing_subscriber::fmt::try_init()?;/tickscope_tracing::subscriber().init()?;/" src/bin/server.rs
cat >> Cargo.toml <<END

[dependencies.tickscope-tracing]
path = "$repository/collector/tracing"
features = ["enable"]

# The server itself writes the report that is looked at here.
[dependencies.tickscope]
path = "$repository/collector"
features = ["report"]

[workspace]
END
"$cargo" build --quiet --release --bins --target-dir "$target"
for crate in tracing tracing-core; do
    grep -A1 "^name = \"$crate\"$" Cargo.lock | paste -sd' '
done

# The kernel chooses a port that is free.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir -m 700 "$work/rings"
TICKSCOPE_DIR="$work/rings" TICKSCOPE=report TICKSCOPE_REPORT="$work/report.txt" \
    "$target/release/mini-redis-server" --port "$port" &
server=$!
ask() { "$target/release/mini-redis-cli" --port "$port" "$@"; }
until ask get none > /dev/null 2>&1; do
    kill -0 "$server" || fail "the server has ended"
done
for number in $(seq 50); do
    [ "$(ask set "key$number" "$number")" = OK ] || fail "set answers something else"
    ask get "key$number" | grep -qF "$number" || fail "get answers something else"
done
kill -INT "$server"
wait "$server"
server=
cat "$work/report.txt"
calls() { awk -v name="$1" '$0 ~ "(─ |  )" name "$" || $NF == name { print $6; exit }' "$work/report.txt"; }
[ "$(calls set::apply)" = 50 ] || fail "set::apply has $(calls set::apply) calls, wanted 50"
[ "$(calls get::apply)" -ge 51 ] || fail "get::apply has $(calls get::apply) calls, wanted 51 or more"
grep -q 'lost *0 calls dropped, 0 scopes unbalanced' "$work/report.txt" || fail "something is lost"
echo "the spans of a server are rows"
