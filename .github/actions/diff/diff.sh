#!/usr/bin/env bash
# What the action does: records two commands in turns, compares them, and writes the result to the summary of the job.
# Reads BEFORE, AFTER, PER, FAIL_IF and RUNS from its environment; ends with the code of tickscope diff.
set -euo pipefail

# Says what is wrong with an input, and ends.
refuse() {
    echo "$1" >&2
    echo "result=error" >> "${GITHUB_OUTPUT:-/dev/null}"
    exit 2
}

[[ ${RUNS:-5} =~ ^[1-9][0-9]?$ ]] || refuse "runs is '${RUNS}', wanted 1 to 99"
for side in BEFORE AFTER; do
    [[ ${!side:-} =~ [^[:space:]] ]] || refuse "${side,,} is empty, wanted a command that runs the build"
done
runs=$(mktemp -d)
trap 'rm -rf "$runs"' EXIT

# Records a command from its start to its end; what it prints is wanted only where it fails.
keep() {
    local words
    read -r -a words <<< "$2"
    tickscope record -o "$1" -- "${words[@]}" > "$runs/output" 2>&1 || {
        cat "$runs/output" >&2
        echo "result=error" >> "${GITHUB_OUTPUT:-/dev/null}"
        exit 1
    }
}

# In turns: a machine that gets busy meanwhile slows both down.
for run in $(seq "${RUNS:-5}"); do
    keep "$runs/before-$run.tks" "$BEFORE"
    keep "$runs/after-$run.tks" "$AFTER"
done

options=(-f markdown)
[ -z "${PER:-}" ] || options+=(--per "$PER")
while read -r condition; do
    [ -z "$condition" ] || options+=(--fail-if "$condition")
done <<< "${FAIL_IF:-}"

code=0
tickscope diff "${options[@]}" "$runs"/before-*.tks -- "$runs"/after-*.tks > "$runs/result.md" || code=$?
cat "$runs/result.md"
cat "$runs/result.md" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
case $code in
    0) result=passed ;;
    3) result=failed ;;
    *) result=error ;;
esac
echo "result=$result" >> "${GITHUB_OUTPUT:-/dev/null}"
exit "$code"
