#!/bin/sh
# Runs two builds five times each, in turns, and compares the recordings:
#
#   examples/compare.sh 'main/frames 2000' 'branch/frames 2000' \
#     --per frame --fail-if 'calls > 1%' --fail-if 'time > 10%' -f markdown
#
# Arguments after the two commands are for `tickscope diff`. Its exit code is this script's: 3 if a gate failed.
set -eu

before=$1
after=$2
shift 2

runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

# Records a command from its start to its end. The command's output is shown only if it fails.
keep() {
    tickscope record -o "$1" -- $2 > "$runs/output" 2>&1 || { cat "$runs/output" >&2; exit 1; }
}

# The builds take turns, so that a machine that becomes busy slows both down.
for run in 1 2 3 4 5; do
    keep "$runs/before-$run.tks" "$before"
    keep "$runs/after-$run.tks" "$after"
done

tickscope diff "$@" "$runs"/before-*.tks -- "$runs"/after-*.tks
