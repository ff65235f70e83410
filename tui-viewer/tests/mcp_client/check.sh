#!/usr/bin/env bash
# Tests `tickscope mcp` with the official client, from PyPI. Says what it does not run, and why.
set -euo pipefail
cd "$(dirname "$0")/../../.."

work=$(mktemp -d)
demo=
trap 'kill $demo 2> /dev/null || true; rm -rf "$work"' EXIT

python3 -m venv "$work/venv" 2> "$work/log" || {
    echo "the client of MCP is not run: no python3 with venv ($(tail -n 1 "$work/log"))"
    exit
}
"$work/venv/bin/pip" install --quiet --disable-pip-version-check 'mcp>=2.3,<3' 2> "$work/log" || {
    echo "the client of MCP is not run: its package cannot be had ($(tail -n 1 "$work/log"))"
    exit
}
cargo build --quiet -p tickscope-cli --bin tickscope
tickscope=${CARGO_TARGET_DIR:-target}/debug/tickscope
mkdir "$work/rings"
TICKSCOPE_DIR=$work/rings "$tickscope" demo-program --frames 1000000 > /dev/null &
demo=$!
"$tickscope" wait-until 'calls(frame) > 1' demo --dir "$work/rings" --wait 1h > /dev/null
"$work/venv/bin/python" tui-viewer/tests/mcp_client/session.py "$tickscope" "$work/rings" demo
