#!/bin/sh
# Runs two builds five times each, in turns, and compares them:
#
#   examples/compare.sh 'main/frames 2000' 'branch/frames 2000' \
#     --per frame --fail-if 'calls > 1%' --fail-if 'time > 10%' -f markdown
#
# What follows the two commands is for tickscope diff, whose exit code it has: 3 where a gate failed.
set -eu

before=$1
after=$2
shift 2

runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

# Records a command from its start to its end; what it prints is wanted only where it fails.
keep() {
    tickscope record -o "$1" -- $2 > "$runs/output" 2>&1 || { cat "$runs/output" >&2; exit 1; }
}

# In turns: a machine that gets busy meanwhile slows both down.
for run in 1 2 3 4 5; do
    keep "$runs/before-$run.tks" "$before"
    keep "$runs/after-$run.tks" "$after"
done

tickscope diff "$@" "$runs"/before-*.tks -- "$runs"/after-*.tks
