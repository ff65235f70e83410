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
export TICKSCOPE_DIR="$runs/rings"

# Runs a command to its end and keeps its last snapshot.
keep() {
    $2 > /dev/null &
    pid=$!
    wait "$pid"
    tickscope snapshot "$pid" -o "$1" > /dev/null
}

# In turns: a machine that gets busy meanwhile slows both down.
for run in 1 2 3 4 5; do
    keep "$runs/before-$run.tks" "$before"
    keep "$runs/after-$run.tks" "$after"
done

tickscope diff "$@" "$runs"/before-*.tks -- "$runs"/after-*.tks
