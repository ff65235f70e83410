#!/usr/bin/env bash
# Builds zlib and Lua from Debian's sources with -finstrument-functions and the library, and compares what they do, and how often
# their functions are called, with what is known. Says that it is skipped where the sources cannot be had.
set -euo pipefail
cd "$(dirname "$0")/../../../.."
place=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$place"' EXIT
export TICKSCOPE_DIR="$place/rings"

fail() {
    echo "check.sh: $*" >&2
    exit 1
}

# Unpacks Debian's source of a package.
fetch() {
    (cd "$place" && apt-get "${apt[@]}" source --quiet --quiet "$1" > "$place/$1.log" 2>&1)
}

command -v apt-get > /dev/null && command -v gcc > /dev/null && command -v dpkg-source > /dev/null || {
    echo "skipped: no apt-get, no dpkg-source or no gcc here"
    exit 0
}
# A list of its own, because most systems have none of sources.
release=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $release main" > "$place/sources.list"
mkdir -p "$place/lists/partial"
apt=(-o "Dir::Etc::SourceList=$place/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$place/lists" -o APT::Sandbox::User=root)
if ! apt-get "${apt[@]}" update > "$place/update.log" 2>&1 || ! fetch zlib || ! fetch lua5.4; then
    echo "skipped: the sources of zlib and lua5.4 cannot be had here"
    exit 0
fi

cargo build --quiet --release -p tickscope-c
library=$(cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/libtickscope.a
link=("$library" -lpthread -ldl -lm)

# The calls of a function: the sum over the rows of the call tree of a report as text.
calls_of() {
    sed '/^Top functions/,$d' "$1" | awk -v name="::$2" '
        index($0, name) { calls = $6; if (sub("k$", "", calls)) calls *= 1000; sum += calls }
        END { print sum + 0 }'
}

echo "zlib: deflates and inflates a file"
cd "$place"/zlib-*/
sources=(adler32.c compress.c crc32.c deflate.c gzclose.c gzlib.c gzread.c gzwrite.c infback.c inffast.c inflate.c inftrees.c trees.c uncompr.c zutil.c test/minigzip.c)
gcc -O2 -w -DHAVE_UNISTD_H -D_LARGEFILE64_SOURCE=1 -DHAVE_HIDDEN -I. "${sources[@]}" -o plain
gcc -O2 -w -g -DHAVE_UNISTD_H -D_LARGEFILE64_SOURCE=1 -DHAVE_HIDDEN -I. -finstrument-functions "${sources[@]}" "${link[@]}" -o watched
./plain < deflate.c > plain.gz
TICKSCOPE=report TICKSCOPE_REPORT="$place/deflate.txt" ./watched < deflate.c > watched.gz
cmp plain.gz watched.gz || fail "zlib compresses otherwise"
TICKSCOPE=report TICKSCOPE_REPORT="$place/inflate.txt" ./watched -d < watched.gz | cmp - deflate.c || fail "zlib does not bring the file back"
grep -q "::deflate_slow" "$place/deflate.txt" || fail "deflate_slow is not in the report: $(cat "$place/deflate.txt")"
grep -q "::inflate_table" "$place/inflate.txt" || fail "inflate_table is not in the report: $(cat "$place/inflate.txt")"
grep -q " 0 scopes unbalanced" "$place/deflate.txt" || fail "$(grep lost "$place/deflate.txt")"

echo "Lua: errors are longjmp, and a thousand of them are caught"
cd "$place"/lua5.4-*/src
cat > "$place/errors.lua" << 'LUA'
local caught = 0
local function deep(n) if n == 0 then error("x") end return deep(n - 1) + 1 end
for i = 1, 1000 do
    if not pcall(deep, i % 7) then caught = caught + 1 end
end
local co = coroutine.wrap(function() for i = 1, 100 do coroutine.yield(i) end end)
for i = 1, 100 do caught = caught + co() end
print(caught)
LUA
# Debian's build makes this file.
echo '#define DEB_HOST_MULTIARCH "lib"' > lua5.4-deb-multiarch.h
sources=()
for file in *.c; do [ "$file" = luac.c ] || sources+=("$file"); done
gcc -O2 -w -DLUA_COMPAT_5_3 -DLUA_USE_POSIX "${sources[@]}" -lm -o plain
gcc -O2 -w -g -DLUA_COMPAT_5_3 -DLUA_USE_POSIX -finstrument-functions "${sources[@]}" "${link[@]}" -o watched
[ "$(./plain "$place/errors.lua")" = 6050 ] || fail "Lua itself prints something else"
said=$(TICKSCOPE=report TICKSCOPE_REPORT="$place/lua.txt" ./watched "$place/errors.lua")
[ "$said" = 6050 ] || fail "with every function watched Lua prints $said"
thrown=$(calls_of "$place/lua.txt" luaD_throw)
grep -q " 0 scopes unbalanced" "$place/lua.txt" || fail "$(grep lost "$place/lua.txt")"
# Each error, and each yield of the coroutine.
[ "$thrown" = 1100 ] || fail "luaD_throw was called $thrown times, wanted 1100"
echo "ok"
