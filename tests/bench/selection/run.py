#!/usr/bin/env python3
"""Time of `simrt select` on a warm history, against `clang++ -fsyntax-only` of the translation units that the change
reaches, in one run; for growing numbers of units that include the changed header.

usage: run.py BUILD_DIRECTORY [--quick] [--json] [--simrt PROGRAM]

All times are processor seconds (user and system, all threads), the least of several rounds taken in turn. Of many
equal includers a few are parsed and the sum is scaled up; the number parsed is printed.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import project

COMPILER = "clang++-19"
CACHE = "simrt-cache"


def processor_seconds(command, directory):
    """Of one command, which must not fail (1 = findings is none)."""
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    output, errors = process.communicate()
    # The children's times of this process grow by exactly this child: nothing else runs in between.
    after = os.times()
    seconds = after.children_user + after.children_system - processor_seconds.before
    processor_seconds.before = after.children_user + after.children_system
    if process.returncode not in (0, 1):
        sys.exit("%s: exit %d\n%s" % (" ".join(command), process.returncode, errors.decode()))
    return seconds, output.decode()


def account_for_everything_so_far():
    now = os.times()
    processor_seconds.before = now.children_user + now.children_system


def measure(simrt, units, rounds, sample):
    with tempfile.TemporaryDirectory() as root:
        project.create(root, units, COMPILER)
        with open(os.path.join(root, ".simrt.toml"), "w") as file:
            file.write('[build]\ndirectory = "build"\ninstrumented = "build"\n'
                       '[[tests.command]]\nname = "all"\ncommand = ["/bin/true"]\n')
        os.environ["SIMRT_CACHE_DIR"] = os.path.join(root, CACHE)
        subprocess.run([simrt, "-q", "-C", root, "record"], check=True, stdout=subprocess.DEVNULL)
        project.change(root, units)
        select = [simrt, "-q", "-C", root, "select", "--format", "json"]
        subprocess.run(select, stdout=subprocess.DEVNULL)  # warms the cache of precompiled system headers
        parsed = ["unit%d.cc" % n for n in range(min(sample, units))]
        best = {"select": 1e9, "source": 1e9, "reached": 1e9}
        for _ in range(rounds):
            # What an earlier selection has parsed does not count: this is the first one for a change.
            shutil.rmtree(os.path.join(root, CACHE, "facts"), ignore_errors=True)
            account_for_everything_so_far()
            seconds, report = processor_seconds(select, root)
            best["select"] = min(best["select"], seconds)
            each = [processor_seconds([COMPILER, "-std=c++20", "-fsyntax-only", name], root)[0] for name in parsed]
            best["source"] = min(best["source"], each[0])
            best["reached"] = min(best["reached"], sum(each) / len(parsed) * (units + 1))
        json.loads(report)
        return dict(best, units=units, parsed=len(parsed))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--simrt")
    options = parser.parse_args()
    simrt = options.simrt or os.path.join(os.path.abspath(options.build), "bin", "simrt")
    sizes, rounds, sample = ((10, 40), 2, 2) if options.quick else ((10, 40, 160), 5, 5)
    results = [measure(simrt, units, rounds, sample) for units in sizes]
    if options.json:
        print(json.dumps(results))
        return
    print("%9s %10s %22s %22s" % ("includers", "select s", "/ the changed source", "/ all units reached"))
    for row in results:
        print("%9d %10.3f %22.2f %22.3f" % (row["units"], row["select"], row["select"] / row["source"],
                                            row["select"] / row["reached"]))
    print("units parsed for the comparison: %d of each project" % results[-1]["parsed"])


if __name__ == "__main__":
    main()
