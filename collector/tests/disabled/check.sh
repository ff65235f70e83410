#!/usr/bin/env bash
# Without the feature `enable` nothing is left of tickscope, and with it in the application the scopes of its
# libraries are measured, where the platform is supported. Proves it with the two crates beside this script. Needs objdump
# and nm for the last checks.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../../../target}/disabled"
export RUSTFLAGS="-D warnings"
unset "${!TICKSCOPE@}"
# Incremental builds are split into other units, and functions come out as other instructions.
unset CARGO_INCREMENTAL
rings=$(mktemp -d)
trap 'rm -rf "$rings"' EXIT
export TICKSCOPE_DIR="$rings/rings"
cargo="${CARGO:-cargo}"

fail() {
    echo "check.sh: $*" >&2
    exit 1
}

echo "(a) both ways without a warning, (b) and the library's scopes live where the application says so"
"$cargo" build --locked --quiet --release --workspace
said=$("$cargo" run --locked --quiet --release -p disabled-app)
[ "$said" = "nothing was measured" ] || fail "without the feature: $said"
[ ! -e "$TICKSCOPE_DIR" ] || fail "without the feature there are rings"
said=$("$cargo" run --locked --quiet --release -p disabled-app --features enable)
[ "$said" = "measured" ] || fail "with the feature: $said"
ls "$TICKSCOPE_DIR"/disabled-app.*.ring >/dev/null || fail "with the feature there is no ring"

echo "(c) without the feature nothing is built but tickscope and its macros"
built=$("$cargo" tree --locked -p disabled-lib -e normal,build --prefix none --format "{p}" | sed 's/ .*//' | sort -u | xargs)
[ "$built" = "disabled-lib tickscope tickscope-macros" ] || fail "built: $built"

echo "(d) on a platform that is not supported the feature changes nothing but the session's status"
(
    export RUSTFLAGS="$RUSTFLAGS --cfg tickscope_unsupported" CARGO_TARGET_DIR="$CARGO_TARGET_DIR/unsupported"
    rm -rf "$TICKSCOPE_DIR"
    # The program itself asserts what the session says.
    said=$("$cargo" run --locked --quiet -p disabled-app --features enable)
    [ "$said" = "nothing was measured" ] || fail "unsupported: $said"
    [ ! -e "$TICKSCOPE_DIR" ] || fail "unsupported: there are rings"
    built=$("$cargo" tree --locked -p disabled-app --features enable -e normal,build --prefix none --format "{p}" |
        sed 's/ .*//' | sort -u | xargs)
    [ "$built" = "disabled-app disabled-lib tickscope tickscope-macros" ] || fail "unsupported: built: $built"
    built=$("$cargo" tree --locked -p tickscope --features tickscope/export -e normal,build --prefix none --format "{p}" \
        --manifest-path ../../Cargo.toml | sed 's/ .*//' | sort -u | xargs)
    [ "$built" = "tickscope tickscope-macros" ] || fail "unsupported, with all features: built: $built"
    "$cargo" check --locked --quiet --manifest-path ../../Cargo.toml --lib --features export
)

echo "(e) a function with scopes and one without are the same instructions"
"$cargo" build --locked --quiet --release -p disabled-app
if ! command -v objdump >/dev/null; then
    echo "skipped: no objdump" >&2
    exit 0
fi
# Instructions alone: no addresses, and targets of jumps relative to the function.
instructions() {
    objdump -d --no-show-raw-insn "$CARGO_TARGET_DIR/release/$2" | awk -v name="<$1>:" '
        $2 == name { inside = 1; next }
        NF == 0 { inside = 0 }
        inside { sub(/^ *[0-9a-f]+:[ \t]*/, ""); print }
    ' | sed -E "s/[0-9a-f]+ <$1(\+0x[0-9a-f]+)?>/\1/; s/[ \t]+/ /g; s/ +$//" | sed -E '/^(nop|cs nop|data16|xchg %ax,%ax)/d'
}
plain=$(instructions pair_plain disabled-app)
scoped=$(instructions pair_scoped disabled-app)
# A linker may make one function of the two, because their instructions are the same.
plain=${plain:-$scoped}
scoped=${scoped:-$plain}
[ "$(wc -l <<<"$plain")" -gt 5 ] || fail "no function pair_plain found"
diff <(echo "$plain") <(echo "$scoped") || fail "the instructions differ"

echo "(f) the allocator that counts is the instructions of the allocator inside it"
# One of the functions by which a program allocates, in a program with the plain allocator or with the other one. Calls and
# addresses by name: the two programs may lie at other places.
allocator() {
    local name
    name=$(nm "$CARGO_TARGET_DIR/release/$2" | sed -nE "s/^.* ([^ ]*[0-9]___rust_$1)$/\1/p")
    [ -n "$name" ] || return 0
    instructions "$name" "$2" | sed -E 's/[0-9a-f]+ (<[^>]*>)/\1/; s/-?0x[0-9a-f]+(\(%rip\))/\1/; s/<[^>]*ALLOCATOR[^>]*>/<ALLOCATOR>/'
}
functions=(alloc dealloc realloc alloc_zeroed)
for function in "${functions[@]}"; do
    inner=$(allocator "$function" allocates_plain)
    [ -n "$inner" ] || fail "no function __rust_$function found"
    diff <(echo "$inner") <(allocator "$function" allocates_counted) || fail "the instructions of $function differ"
done

# The comparisons can tell: with the feature they do differ.
inner=$(for function in "${functions[@]}"; do allocator "$function" allocates_plain; done)
"$cargo" build --locked --quiet --release -p disabled-app --features enable
scoped=$(instructions pair_scoped disabled-app)
[ "$plain" != "$scoped" ] || fail "the comparison finds no difference where there is one"
counting=$(for function in "${functions[@]}"; do allocator "$function" allocates_counted; done)
[ -n "$counting" ] && [ "$inner" != "$counting" ] || fail "the comparison of allocators finds no difference where there is one"

echo "(g) a program that measures writes snapshots, and does not contain the code that reads them"
if nm -C "$CARGO_TARGET_DIR/release/disabled-app" | grep "bincode::de::"; then fail "a program contains the code above"; fi
nm -C "$CARGO_TARGET_DIR/release/disabled-app" | grep "bincode::enc::" > /dev/null || fail "a program contains no code that writes snapshots"
echo "ok"
