#!/usr/bin/env bash
# Builds of a program that this workspace has none of: two versions of the library at once, which cargo takes for one
# unless they are of different numbers, so the other is a copy of this one; and panics that abort. The viewer judges:
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
for package in collector collector/macros collector/once shared-format; do
    mkdir -p "$other/$package"
    cp -r "$package/src" "$other/$package"
    [ ! -e "$package/build.rs" ] || cp "$package/build.rs" "$other/$package"
    # Its tests stay here.
    awk '/^\[/ { left = /^\[\[|^\[dev-dependencies\]/ } !left' "$package/Cargo.toml" >"$other/$package/Cargo.toml"
done
sed -E '/^members = \[/,/\]$/c members = ["shared-format", "collector", "collector/macros", "collector/once"]
    /^(exclude|default-members) = /d
    /^tickscope-(demo|bench|testkit) = /d
    s/^(version = |tickscope.* version = )"(=?)[0-9.]*"/\1"\20.0.1"/' Cargo.toml >"$other/Cargo.toml"

# A program with this version, which measures, and the other one with these features.
app=$work/app
mkdir -p "$app/src"
with_other() {
    cat >"$app/Cargo.toml" <<END
[workspace]

[package]
name = "builds"
version = "0.0.0"
edition = "2024"

[dependencies]
tickscope = { path = "$repository/collector", features = ["enable"] }
other = { package = "tickscope", path = "$other/collector", features = [$1] }

[profile.dev]
panic = "abort"
debug = false
END
    # What is built is what is locked.
    cp collector/tests/disabled/Cargo.lock "$app"
}
cat >"$app/src/main.rs" <<'END'
#[tickscope::profile]
fn fatal() {
    tickscope::time!("done", ());
    let _ = std::io::stdin().read_line(&mut String::new());
    panic!("on purpose");
}

fn main() {
    let _own = tickscope::Builder::new("own").try_start().unwrap();
    let other = other::Builder::new("other").start();
    assert_eq!(other.status(), other::Status::Off);
    other::scope!("builds::around");
    fatal();
}
END

echo "(a) two versions that measure are refused by cargo, which names both"
with_other '"enable"'
if said=$("$cargo" build --quiet --offline --manifest-path "$app/Cargo.toml" 2>&1); then
    fail "two versions with \`enable\` are built"
fi
for wanted in "links to the native library \`tickscope\`" "tickscope-once" "tickscope v0.0.1" "tickscope v0.1.0"; do
    [[ "$said" == *"$wanted"* ]] || fail "cargo does not say \"$wanted\": $said"
done

echo "(b) a version that does not measure is built beside the other, without a build script"
with_other ""
"$cargo" build --quiet --offline --manifest-path "$app/Cargo.toml"
built=$("$cargo" tree --offline --manifest-path "$app/Cargo.toml" -p tickscope@0.0.1 -e normal,build --prefix none --format "{p}" |
    sed 's/ .*//' | sort -u | xargs)
[ "$built" = "tickscope tickscope-macros" ] || fail "built: $built"

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

mkfifo "$work/input"
"$CARGO_TARGET_DIR/debug/builds" <"$work/input" 2>"$work/said" &
program=$!
exec 3>"$work/input"
await "own running" states
await "builds::fatal;builds::done" "$viewer" report own --format folded
said=$("$viewer" report own --format folded)
[[ "$said" != *around* ]] || fail "a scope of the other version: $said"

echo "(c) a panic that aborts leaves the newest record"
exec 3>&-
code=0
wait "$program" 2>/dev/null || code=$?
program=
[ "$code" = 134 ] || fail "ended with $code: $(cat "$work/said")"
[ "$(states)" = "own crashed" ] || fail "the viewer says: $("$viewer" list)"
said=$("$viewer" report own --ended --format folded)
[[ "$said" == *"builds::fatal;builds::done"* ]] || fail "the newest record has: $said"
echo "ok"
