#!/usr/bin/env bash
# Marks cause no warning of the compiler or of clippy that the program without them does not have: with every group of clippy on,
# with the feature `enable` and without, in each edition that async functions have. Needs clippy.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../../../target}/lints"

warnings() {
    # Each warning with its line, up to the first colon: behind it are names of types.
    cargo clippy --quiet --message-format=short "$@" -- \
        -W clippy::all -W clippy::pedantic -W clippy::nursery -W clippy::restriction -A clippy::blanket_clippy_restriction_lints \
        -W future_incompatible -W let_underscore -W nonstandard_style -W rust_2018_idioms -W rust_2021_compatibility \
        -W rust_2024_compatibility -W unused -W missing_docs -W single_use_lifetimes -W trivial_casts \
        -W trivial_numeric_casts -W unreachable_pub -W unsafe_code -W unused_import_braces -W unused_lifetimes \
        -W unused_qualifications -W unused_results -W variant_size_differences -W unit_bindings -W unnameable_types \
        -W impl_trait_redundant_captures -W redundant_lifetimes -W missing_debug_implementations \
        > output 2>&1 || { cat output >&2; exit 1; }
    sed -nE 's/^src.lib.rs:([0-9]+):[0-9]+: warning: ([^:]*).*/line \1: \2/p' output | sort -u
}

for edition in 2021 2024; do
    rm -rf "$CARGO_TARGET_DIR/$edition"
    mkdir -p "$CARGO_TARGET_DIR/$edition/"{marked,unmarked}/src
    # The program without its marks, line for line.
    cd "$CARGO_TARGET_DIR/$edition/unmarked"
    sed -E '
        s/^ *#\[(tickscope::profile|profiling::(function|all_functions|skip))(\(.*\))?\]$//
        s/^ *(drop\()?(tickscope|profiling)::[a-z_]+!\(.*\);$//
        s/tickscope::(time|future|wait)!\((group = "g", )?"[^"]*", (.*)\)(\.await)?;$/\3\4;/
    ' "$here/src/lib.rs" > src/lib.rs
    if grep -E '(tickscope|profiling)::' src/lib.rs; then
        echo "check.sh: these marks are left in the program without them" >&2
        exit 1
    fi
    printf '[package]\nname = "unmarked"\nversion = "0.0.0"\nedition = "%s"\n[workspace]\n' "$edition" > Cargo.toml
    plain=$(warnings)
    [ -n "$plain" ] || { echo "check.sh: clippy says nothing of the program without marks" >&2; exit 1; }
    cd ../marked
    cp "$here/src/lib.rs" src
    cp "$here/Cargo.lock" .
    sed -E "s#path = \"#&$here/#; s/^edition = .*/edition = \"$edition\"/" "$here/Cargo.toml" > Cargo.toml
    for features in "" enable; do
        marked=$(warnings --locked --features "$features")
        more=$(comm -13 <(echo "$plain") <(echo "$marked"))
        [ -z "$more" ] || {
            printf 'in edition %s with the features "%s" marks cause warnings:\n%s\n' "$edition" "$features" "$more" >&2
            exit 1
        }
    done
done
echo ok
