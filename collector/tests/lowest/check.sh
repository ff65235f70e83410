#!/usr/bin/env bash
# A program builds and runs with the lowest versions of all crates that tickscope brings into it. Cargo never raises a
# version that a program's lock file holds, so a requirement above what works refuses programs for nothing; and one
# below it lets them fail in the compiler. Two lock files beside this script hold the versions: enable/ for the feature
# `enable`, export/ for `export` too, whose crates need some that are newer.
#
# When the dependencies of tickscope change, run `cargo update --workspace` in enable/ and in export/, which adds what is
# new and keeps the rest. Then run this script: it names each crate that is not at its lowest version, and the command that
# takes it there.
set -euo pipefail
cd "$(dirname "$0")"
repository=$(cd ../../.. && pwd)
built="${CARGO_TARGET_DIR:-$repository/target}"
export CARGO_TARGET_DIR="$built/lowest" RUST_BACKTRACE=0
viewer=${TICKSCOPE_VIEWER:-$built/debug/tickscope}
unset "${!TICKSCOPE@}"
cargo="${CARGO:-cargo}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "lowest/check.sh: $*" >&2
    exit 1
}

# The lowest version that a requirement allows, in full. Versions that were withdrawn from the registry do not count.
lowest_of() {
    local name=$1 required
    required=$(sed -nE "s/^$name = (\{ version = )?\"[>=^ ]*([0-9.]+).*/\2/p" "$repository/Cargo.toml")
    [ -n "$required" ] || return 0
    case "$name $required" in
    "crc32fast 1") echo 1.0.1 ;;
    "prost 0.14") echo 0.14.1 ;;
    *) sed -E 's/^([0-9]+)$/\1.0/; s/^([0-9]+\.[0-9]+)$/\1.0/' <<<"$required" ;;
    esac
}

# The crates that those of tickscope name themselves, as the lock file has them: a name and a version a line.
direct() {
    local package
    for package in $(tree --format '{p}' | sed -nE 's/^(tickscope[a-z-]*) .*/\1/p' | sort -u); do
        tree --format '{p}' --package "$package" --depth 1
    done | sed -nE 's/^([^ ]+) v([^ ]+).*/\1 \2/p' | grep -v '^tickscope' | sort -u
}

tree() { "$cargo" tree --locked --offline --edges normal --prefix none "$@"; }

checked=
for feature in enable export; do
    cd "$feature"
    echo "== the lowest versions for the feature $feature"
    host=$(rustc -vV | sed -n 's/^host: //p')
    if ! "$cargo" fetch --locked --offline --target "$host" 2>"$work/offline"; then
        "$cargo" fetch --locked --target "$host" 2>"$work/online" || fail "found no way to build with $PWD/Cargo.lock.
Without the registry cargo says: $(cat "$work/offline")
With it: $(cat "$work/online")
If crates are missing, run this where the registry can be reached: cargo fetch --locked --manifest-path $PWD/Cargo.toml
If the lock file has to change, see the top of $(dirname "$PWD")/check.sh"
    fi
    while read -r name version; do
        # In `export` some are newer than the lowest: the lock file of `enable` has those.
        if [[ " $checked " == *" $name "* ]]; then continue; fi
        checked+=" $name"
        lowest=$(lowest_of "$name")
        [ -n "$lowest" ] || fail "found $name in $feature/Cargo.lock, and no requirement of it in the workspace's Cargo.toml"
        [ "$version" = "$lowest" ] || fail "found $name $version in $feature/Cargo.lock, wanted the lowest that is required, \
$lowest. Run \`cargo update $name --precise $lowest\` in $PWD. If that does not build, raise the requirement"
    done < <(direct)
    # A program that depends on a path or on git is shown our warnings.
    RUSTFLAGS="-D warnings" "$cargo" build --locked --offline --quiet
    said=$("$CARGO_TARGET_DIR/debug/lowest-$feature" "$work/$feature" "$feature")
    [ "$said" = measured ] || fail "the program says: $said"
    cd ..
done
[[ "$checked" == *libc*memmap2*flate2* ]] || fail "only these crates were compared: $checked"

echo "== what they wrote is read by the viewer"
if [ ! -x "$viewer" ]; then
    CARGO_TARGET_DIR=$built "$cargo" build --quiet --manifest-path "$repository/Cargo.toml" -p tickscope-cli
fi
for file in "$work"/{enable,export}/{lowest.*.ring,report.tks}; do
    said=$("$viewer" report "$file" --format folded)
    [[ "$said" == *"::work;"*"::step "* ]] || fail "the viewer reads in $file: $said"
done
echo ok
