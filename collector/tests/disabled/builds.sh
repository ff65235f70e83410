#!/usr/bin/env bash
# Builds of a program that this workspace has none of: two versions of the library at once, which cargo takes for one
# unless they are of different numbers, so the other is a copy of this one; and panics that abort. The viewer judges both:
# the one that the tests have built, or that of TICKSCOPE_VIEWER.
set -euo pipefail
cd "$(dirname "$0")/../../.."
repository=$PWD
built="${CARGO_TARGET_DIR:-$PWD/target}"
export CARGO_TARGET_DIR="$built/disabled" RUST_BACKTRACE=0
viewer=${TICKSCOPE_VIEWER:-$built/debug/tickscope}
unset "${!TICKSCOPE@}" CARGO_INCREMENTAL
cargo="${CARGO:-cargo}"
work=$(mktemp -d)
program=
# The program, where a check has failed.
trap '[ -z "$program" ] || kill "$program" 2>/dev/null || true; rm -rf "$work"' EXIT

fail() {
    echo "builds.sh: $*" >&2
    exit 1
}

other=$work/other
mkdir -p "$other"
for package in collector collector/macros shared-format; do
    mkdir -p "$other/$package"
    cp -r "$package/src" "$other/$package"
    # Its tests stay here.
    awk '/^\[/ { left = /^\[\[|^\[dev-dependencies\]/ } !left' "$package/Cargo.toml" >"$other/$package/Cargo.toml"
done
sed -E '/^members = \[/,/\]$/c members = ["shared-format", "collector", "collector/macros"]
    /^(exclude|default-members) = /d
    /^tickscope-(demo|bench|testkit) = /d
    s/^(version = |tickscope.* version = )"(=?)[0-9.]*"/\1"\20.0.1"/' Cargo.toml >"$other/Cargo.toml"

app=$work/app
mkdir -p "$app/src"
cat >"$app/Cargo.toml" <<END
[workspace]

[package]
name = "builds"
version = "0.0.0"
edition = "2024"

[dependencies]
tickscope = { path = "$repository/collector", features = ["enable"] }
other = { package = "tickscope", path = "$other/collector", features = ["enable"] }

[profile.dev]
panic = "abort"
debug = false
END
cat >"$app/src/main.rs" <<'END'
#[tickscope::profile]
fn fatal() {
    tickscope::time!("done", ());
    let _ = std::io::stdin().read_line(&mut String::new());
    panic!("on purpose");
}

fn main() {
    let _own = tickscope::Builder::new("own").try_start().unwrap();
    let _other = other::Builder::new("other").try_start().unwrap();
    other::scope!("builds::around");
    fatal();
}
END
# What is built is what is locked.
cp collector/tests/disabled/Cargo.lock "$app"
"$cargo" build --quiet --offline --manifest-path "$app/Cargo.toml"

if [ ! -x "$viewer" ]; then CARGO_TARGET_DIR=$built "$cargo" build --quiet -p tickscope-cli; fi
export TICKSCOPE_DIR=$work/rings
states() { "$viewer" list | awk -v dir="$TICKSCOPE_DIR/" 'index($0, dir) { print $1, $3 }' | sort | xargs; }

# Until a command says what it is to say.
await() {
    local expected=$1 said
    shift
    until said=$("$@" 2>&1) && [[ "$said" == *"$expected"* ]]; do
        kill -0 "$program" 2>/dev/null || fail "the program has ended; waited for $expected, last: $said"
        sleep 0.1
    done
}

echo "(a) two versions in one program have a ring each, and each its own scopes"
mkfifo "$work/input"
"$CARGO_TARGET_DIR/debug/builds" <"$work/input" 2>"$work/said" &
program=$!
exec 3>"$work/input"
await "other running own running" states
await "builds::fatal;builds::done" "$viewer" report own --format folded
await "builds::around" "$viewer" report other --format folded
said=$("$viewer" report own --format folded)
[[ "$said" != *around* ]] || fail "a scope of the other version: $said"

echo "(b) a panic that aborts leaves the newest record"
exec 3>&-
code=0
wait "$program" 2>/dev/null || code=$?
program=
[ "$code" = 134 ] || fail "ended with $code: $(cat "$work/said")"
[ "$(states)" = "other crashed own crashed" ] || fail "the viewer says: $("$viewer" list)"
said=$("$viewer" report own --format folded 2>/dev/null)
[[ "$said" == *"builds::fatal;builds::done"* ]] || fail "the newest record has: $said"
echo "ok"
