#!/usr/bin/env python3
"""All benchmarks of the repository in one run: a table of what was measured, the peer of the same run, and the goal.

usage: run.py BUILD_DIRECTORY [NAME...] [--quick] [--json]

NAME: record (a recording run against a plain build), selection (`simrt select` against `clang++ -fsyntax-only`),
rank (matching and ranking), history (size and speed of the database), schedule (what is made of a recorded execution,
by its length), control (executions under control, scheduling points), detect (the detector against native code and
ThreadSanitizer). --quick: fewer rounds and sizes.
Exit status 1 when a benchmark could not be run; a goal that is missed is said in the table and does not fail, because
the machine may be busy.
"""
import argparse
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def row(benchmark, measure, value, unit, peer="", goal=None):
    return {"benchmark": benchmark, "measure": measure, "value": value, "unit": unit, "peer": peer, "goal": goal,
            "met": None if goal is None else value <= goal}


def output_of(command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def google_benchmark(build, program, quick, *flags):
    command = [os.path.join(build, "bin", program), "--benchmark_format=json", *flags]
    if quick:
        command.append("--benchmark_min_time=0.05")
    return output_of(command)["benchmarks"]


def milliseconds(result):
    return result["cpu_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[result["time_unit"]]


def rank(build, quick):
    for result in google_benchmark(build, "select_bench", quick):
        scale = "10,000 tests x 200,000 blocks x 5,000 pairs"
        yield row("rank", result["name"], milliseconds(result), "ms", scale, 1000)
        if "peak_MB" in result:
            yield row("rank", result["name"] + " memory", result["peak_MB"], "MB", scale, 1000)


def history(build, quick):
    for result in google_benchmark(build, "history_bench", quick):
        yield row("history", result["name"], milliseconds(result), "ms")
        for counter in ("bytes/test", "bytes/function", "file_MB", "blocks"):
            if counter in result:
                yield row("history", result["name"], result[counter], counter)


def schedule(build, quick):
    lengths = ["--benchmark_filter=/100000?0?/"] if quick else []
    by_name = {}
    for result in google_benchmark(build, "schedule_bench", False, *lengths):
        name, length = result["name"].split("/")[:2]
        by_name.setdefault(name, {})[int(length)] = result
    for name, results in by_name.items():
        longest = max(results)
        last = results[longest]
        yield row("schedule", name, last["ns_per_event"], "ns/event", "%.0e events" % longest)
        yield row("schedule", name + " memory", last["MB"], "MB", "%.0e events" % longest)
        shorter = results[longest // 10]
        yield row("schedule", name + " growth", last["ns_per_event"] / shorter["ns_per_event"], "x",
                  "an event of a tenth of the length", 2)


def control(build, quick):
    best = {}
    for result in google_benchmark(build, "control_bench", True, "--benchmark_repetitions=%d" % (3 if quick else 7)):
        if result["run_type"] == "iteration" and not result.get("error_occurred"):
            known = best.get(result["run_name"], result)
            best[result["run_name"]] = max(known, result, key=lambda r: r["items_per_second"])
    for name, result in best.items():
        each = 1e9 / result["items_per_second"]
        if "real_time" in name.split("/"):
            native = best["BM_NativeProcess/real_time"]["items_per_second"]
            yield row("control", name.split("/")[0], each / 1e6, "ms", "%.1f native processes" % (each * native / 1e9),
                      1 if name.startswith("BM_Execution/") else None)
            yield row("control", name.split("/")[0] + " processor", result["processor_ms"], "ms")
        else:
            goal = 27 if name.startswith("BM_Accesses/") else None
            yield row("control", name.split("/")[0], each, "ns/point", "%.1f M a second" % (1e3 / each), goal)


def detect(build, quick):
    script = os.path.join(HERE, "detect", "run.py")
    results = output_of([sys.executable, script, build, "--json", "--levels=-O2", "--rounds", "2" if quick else "5"])
    of_sanitizer = []
    for result in results:
        native = result["native"]
        for name in ("everything", "1 %"):
            title = "%s, %s" % (name, result["compiler"])
            ratio = native[name] / native["ThreadSanitizer"]
            if name == "everything":
                of_sanitizer.append(ratio)
            yield row("detect", title, native[name], "x", "native", 2 if name == "1 %" else None)
            yield row("detect", title, ratio, "x", "ThreadSanitizer", 0.4 if name == "1 %" else 1)
            yield row("detect", title + " memory", result["MB"][name], "MB",
                      "%.0f of ThreadSanitizer" % result["MB"]["ThreadSanitizer"])
    mean = math.exp(sum(map(math.log, of_sanitizer)) / len(of_sanitizer))
    yield row("detect", "everything, mean of the compilers", mean, "x", "ThreadSanitizer", 1)


def record(build, quick):
    script = os.path.join(HERE, "record_overhead", "run.py")
    rounds = ["--rounds", "2", "--levels=-O0,-O2"] if quick else []
    for program in output_of([sys.executable, script, build, "--json"] + rounds):
        goal = 1.4 if program["label"] == "recording" else None
        mean = math.exp(sum(map(math.log, program["ratios"].values())) / len(program["ratios"]))
        yield row("record", program["label"], mean, "x", program["name"] + " plain", goal)


def selection(build, quick):
    script = os.path.join(HERE, "selection", "run.py")
    results = output_of([sys.executable, script, build, "--json"] + (["--quick"] if quick else []))
    for result in results:
        name = "select, %d includers" % result["units"]
        yield row("selection", name, result["select"] / result["reached"], "x", "-fsyntax-only of units reached", 0.5)
        yield row("selection", name, result["select"] / result["source"], "x", "-fsyntax-only of the changed source")
    first, last = results[0], results[-1]
    yield row("selection", "%d against %d includers" % (last["units"], first["units"]),
              last["select"] / first["select"], "x", "the smaller project", 1.5)


BENCHMARKS = {"record": record, "selection": selection, "rank": rank, "history": history, "schedule": schedule,
              "control": control, "detect": detect}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error("no such benchmark: %s (there are %s)" % (", ".join(sorted(unknown)), ", ".join(BENCHMARKS)))
    rows, good = [], True
    for name in options.names or BENCHMARKS:
        try:
            rows += BENCHMARKS[name](os.path.abspath(options.build), options.quick)
        except (OSError, subprocess.CalledProcessError) as error:
            print("%s: %s" % (name, error), file=sys.stderr)
            good = False
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        print_table(rows)
    return 0 if good else 1


def print_table(rows):
    line = "%-10s %-34s %12s %-15s %10s  %s"
    print(line % ("", "", "measured", "", "goal", "against"))
    for r in rows:
        goal = "" if r["goal"] is None else "%s %g" % ("<=" if r["met"] else "MISSED", r["goal"])
        print(line % (r["benchmark"], r["measure"], "%.2f" % r["value"], r["unit"], goal, r["peer"]))


if __name__ == "__main__":
    sys.exit(main())
