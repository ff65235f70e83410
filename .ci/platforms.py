#!/usr/bin/env python3
"""Checks for .ci/platforms what programs of another platform count, how they end, and what viewers of both sides read.

    .ci/platforms.py HERE THERE [RUNNER ...]    folders with hello, threads and tickscope; RUNNER starts those in THERE
"""
import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

HERE, THERE = ([Path(sys.argv[1])], [*sys.argv[3:], Path(sys.argv[2])])
ENDS = int(os.environ.get("ENDS", "30"))


def command(side, program, *arguments):
    return [*side[:-1], side[-1] / program, *arguments]


@contextmanager
def running(side, program, seconds, **more):
    """Runs a program with a separate directory for rings."""
    with TemporaryDirectory() as place:
        environment = {**os.environ, "TICKSCOPE_DIR": place, "TICKSCOPE_INTERVAL_MS": "20", **more}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        process = subprocess.Popen(command(side, program, seconds), env=environment, text=True, **pipes)
        process.place = Path(place)
        yield process


def ended(process):
    said, report = process.communicate()
    assert process.returncode == 0, (process.returncode, said, report)
    return said, report


def ring(process):
    while not (found := list(process.place.glob("*.ring"))):
        assert process.poll() is None, process.communicate()
        time.sleep(0.001)
    return found[0]


def view(side, *arguments):
    return subprocess.run(command(side, "tickscope", *arguments), text=True, capture_output=True, check=True).stdout


def read(side, file):
    """Returns what a viewer reads from a file, and the calls of each function in it."""
    document = json.loads(view(side, "report", "--format", "json", file))
    calls = {}
    for node in document["nodes"]:
        calls[node["name"]] = calls.get(node["name"], 0) + node["calls"]
    return document, calls


def check_counts(program, said, calls):
    if program == "hello":
        rhymes = int(said.split()[-2])
        assert calls["read"] * 100 == rhymes, (rhymes, calls)
        assert len(set(calls.values())) == 1, calls
        return
    # Each round has three jobs and an errand, and three calls find that there are no more jobs. All other calls have one limit.
    rounds, rest = divmod(calls["wait_for_job"] - 3, 3)
    others = calls["sum_primes"] - 4 * rounds
    primes = rounds * (998 + 1998 + 2998 + 1998) + others * 498
    assert rest == 0 and others > 0 and calls["is_prime"] == primes, calls


def counts():
    for mode in ["exact", "adaptive"]:
        for program in ["hello", "threads"]:
            with running(THERE, program, "3", TICKSCOPE_MODE=mode, TICKSCOPE_REPORT="stderr") as process:
                said, report = ended(process)
                document, calls = read(HERE, next(process.place.glob("*.ring")))
            check_counts(program, said, calls)
            lost = [document["clock"]["errors"], document["dropped"], document["unbalanced"]]
            assert lost == [0, 0, 0], lost
            for line in [", 0 errors", "0 calls dropped, 0 scopes unbalanced"]:
                assert line in report, report
            print(f"counts: {program}, {mode}: {sum(calls.values())} calls, 0 clock errors, 0 lost")


def exchange():
    with running(THERE, "threads", "100") as process:
        recording = process.place / "live.tks"
        ring(process)
        view(HERE, "record", "--dir", process.place, "--duration", "1s", "--output", recording, "threads")
        process.kill()
        assert read(HERE, recording)[1]["sum_primes"] > 0
        print("exchange: the viewer here recorded a program there")
        for made in [HERE, THERE]:
            dump = process.place / f"{made is HERE}.tks"
            with running(made, "hello", "1", TICKSCOPE_REPORT=str(dump)) as other:
                said, _ = ended(other)
            document, calls = read(HERE, dump)
            check_counts("hello", said, calls)
            assert read(THERE, dump)[0] == document
        print("exchange: the viewers of both sides read the same in recordings of both")


def kills():
    for _ in range(ENDS):
        with running(THERE, "hello", "100") as process:
            file = ring(process)
            time.sleep(random.random() / 4)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            document, _ = read(HERE, file)
            assert document["process"]["state"] == "crashed", document["process"]
    print(f"kills: {ENDS} of {ENDS} left a whole snapshot")


def cuts():
    for _ in range(ENDS):
        with running(THERE, "hello", "1") as process:
            file = ring(process)
            time.sleep(random.random() / 2)
            os.truncate(file, random.randrange(file.stat().st_size))
            said, _ = ended(process)
            assert "rhymes" in said, said
    print(f"cuts: {ENDS} of {ENDS} programs whose ring was cut ran to their end")


for check in [counts, exchange, kills, cuts]:
    check()
