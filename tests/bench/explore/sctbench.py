#!/usr/bin/env python3
"""Executions to the first bug on SCTBench and ConVul programs, as a table beside published figures.

    sctbench.py run --bin DIR --work DIR --data DIR --strategies auto,random --seeds 3 --executions 500 --seconds 10
                    --out FILE
    sctbench.py table FILE... [--published TSV] [--markdown]

The programs, check builds of PERIOD's edition (it joins its threads; figures of older editions do not compare), lie in
--work, each under its name here with _ for /; --data is that edition's folder `evaluation`, from which they read
files. --bin holds simrt. `run` adds one line a trial to FILE and leaves out what is there already, so it may be
stopped and started again. Trials run one after the other unless -j is given.
"""
import argparse
import collections
import csv
import fnmatch
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

# name: (folder that it starts in, arguments). Without Inspect/bbuf (a duplicate) they are the 49 of RFF's evaluation.
PROGRAMS = {
    "CB/aget-bug2": ("CB/aget-bug2", ["-l", "dl.txt", "http://www.gnu.org/licenses/gpl.txt"]),  # reads files
    "RADBench/bug4": ("RADBench/bug4", []),
    "RADBench/bug5": ("RADBench/bug5", []),
    "RADBench/bug6": ("RADBench/bug6", []),
    "Splash2/barnes": ("Splash2/barnes", []),
    "CB/stringbuffer-jdk1.4": ("CB/stringbuffer-jdk1.4", []),
    "CB/pbzip2-0.9.4": ("CB/pbzip2-0.9.4/pbzip2-0.9.4-src", ["-k", "-f", "-p3", "../test.tar"]),
    "Inspect/bbuf": ("Inspect_benchmarks/bbuf", []),
    "Inspect/boundedBuffer": ("Inspect_benchmarks/boundedBuffer", []),
    "Inspect/ctrace-test": ("Inspect_benchmarks/ctrace-test", ["2"]),
    "Inspect/qsort_mt": ("Inspect_benchmarks/qsort_mt", ["-n", "32", "-f", "4", "-h", "3", "-v"]),
    "SafeStack": ("SafeStack", []),
    "Splash2/fft": ("Splash2/fft", ["-p2", "-m2", "-n4", "-l4"]),
    "Splash2/lu": ("Splash2/lu", ["-p2", "-n2", "-b1"]),
}
for name in ("account bluetooth_driver carter01 circular_buffer deadlock01 lazy01 queue reorder_3 reorder_4 reorder_5 "
             "reorder_10 reorder_20 reorder_50 reorder_100 stack token_ring twostage twostage_20 twostage_50 "
             "twostage_100 wronglock wronglock_3").split():
    PROGRAMS["CS/" + name] = ("CS/" + name, [])
for name, arguments in {"InterlockedWorkStealQueue": "1 4 2", "InterlockedWorkStealQueueWithState": "2 4 2",
                        "StateWorkStealQueue": "2 4 2", "WorkStealQueue": "1 4 2"}.items():
    PROGRAMS["Chess/" + name] = ("Chess/" + name, arguments.split())
for name in ("2009-3547 2011-2183 2013-1792 2015-7550 2016-1972 2016-1973 2016-7911 2016-9806 2017-15265 "
             "2017-6346").split():
    PROGRAMS["ConVul/CVE-" + name] = ("ConVul-CVE-Benchmarks/CVE-" + name, [])

FIELDS = ["program", "strategy", "seed", "first_failure", "executions", "seconds", "seconds_to_failure", "end",
          "ending", "covered", "feasible", "points", "threads"]


def trial(args, name, strategy, seed):
    folder, arguments = PROGRAMS[name]
    directory = os.path.join(os.path.abspath(args.data), folder)
    program = os.path.join(os.path.abspath(args.work), name.replace("/", "_"))
    command = [os.path.abspath(os.path.join(args.bin, "simrt")), "-C", directory, "-q", "explore", "--no-history",
               "--program", program, "--strategy", strategy, "--seed", str(seed), "--executions",
               str(args.executions), "--seconds", str(args.seconds), "--timeout", "5", "--no-saturation",
               "--no-description", "--format", "json", "--", *arguments]
    start = time.time()
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        test = json.loads(done.stdout)["tests"][0]
    except (ValueError, IndexError, KeyError):
        print(f"{name} {strategy} {seed}: {done.stderr[:300]}", file=sys.stderr)
        return None
    return [name, strategy, seed, test["first_failure"], test["executions"], f"{time.time() - start:.2f}",
            f"{test['seconds_to_failure']:.3f}", test["end"], test["first_ending"].replace("\t", " "),
            test["patterns"]["covered"], test["patterns"]["feasible"], test["points"], test["threads"]]


def run(args):
    known = set()
    if os.path.exists(args.out):
        with open(args.out) as old:
            known = {(r["program"], r["strategy"], int(r["seed"])) for r in csv.DictReader(old, delimiter="\t")}
    names = [n for n in sorted(PROGRAMS)
             if fnmatch.fnmatch(n, args.only) and os.path.exists(os.path.join(args.work, n.replace("/", "_")))]
    trials = [(n, s, seed) for seed in range(1, args.seeds + 1) for n in names for s in args.strategies.split(",")
              if (n, s, seed) not in known]
    fresh = not os.path.exists(args.out)
    with open(args.out, "a") as out, ThreadPoolExecutor(args.jobs) as pool:
        writer = csv.writer(out, delimiter="\t", lineterminator="\n")
        if fresh:
            writer.writerow(FIELDS)
        for row in pool.map(lambda each: trial(args, *each), trials):
            if row:
                writer.writerow(row)
                out.flush()
    return 0


def cell(trials):
    """Median of the executions to the first bug; NF when more than half of the trials missed it. Of a single trial
    that missed it: how many executions there were, and whether the search ended."""
    found = sorted(int(t["first_failure"]) for t in trials if int(t["first_failure"]) > 0)
    if len(trials) == 1 and not found:
        return ("end " if trials[0]["end"] == "nothing is left to try" else "> ") + trials[0]["executions"]
    if 2 * len(found) <= len(trials):
        return f"NF ({len(found)}/{len(trials)})" if found else "NF"
    text = f"{statistics.median(found):g}"
    return text if len(found) == len(trials) else f"{text} ({len(found)}/{len(trials)})"


def comparison(trials, published):
    """-1, 0, 1: the median is smaller than, equal to or greater than the published one, or there is none."""
    found = [int(t["first_failure"]) for t in trials if int(t["first_failure"]) > 0]
    if 2 * len(found) <= len(trials):
        return 1
    median = statistics.median(found)
    return (median > published) - (median < published)


def published_figures(path):
    """Best median of each program, and who has it. Environment failures and tools without schedules are left out."""
    best = {}
    with open(path) as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            tool = row["tool"]
            if tool in ("GenMC", "MapleAlg", "PERIOD-reported") or row["note"].startswith("first schedule always"):
                continue
            try:
                value = float(row["schedules"])
            except ValueError:
                continue
            if row["program"] not in best or value < best[row["program"]][0]:
                best[row["program"]] = (value, tool)
    return best


def table(args):
    trials = collections.defaultdict(list)
    for name in args.files:
        with open(name) as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                if row["program"] not in args.without.split(","):
                    trials[row["program"], row["strategy"]].append(row)
    strategies = list(dict.fromkeys(s for _, s in trials))
    programs = sorted({p for p, _ in trials}, key=lambda p: (p.split("/")[0], len(p), p))
    best = published_figures(args.published) if args.published else {}
    separator = " | " if args.markdown else "\t"
    edge = "| " if args.markdown else ""
    header = ["program", *strategies, *(["best published"] if best else [])]
    print(edge + separator.join(header) + edge[::-1])
    if args.markdown:
        print("|" + " --- |" * len(header))
    for program in programs:
        row = [program] + [cell(trials[program, s]) if (program, s) in trials else "" for s in strategies]
        if best:
            row.append("{:g} {}".format(*best[program]) if program in best else "-")
        print(edge + separator.join(row) + edge[::-1])
    print()
    for s in strategies:
        mine = [trials[p, s] for p in programs if (p, s) in trials]
        rates = [sum(int(t["first_failure"]) > 0 for t in each) / len(each) for each in mine]
        compared = collections.Counter(comparison(trials[p, s], best[p][0]) for p in programs
                                       if (p, s) in trials and p in best)
        print(f"{s}: {sum(rates):.2f} of {len(rates)} programs found per trial, {rates.count(1)} in every trial" +
              (f"; better, equal, worse than the best published: {compared[-1]}/{compared[0]}/{compared[1]}"
               if best else ""))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run")
    one.add_argument("--bin", required=True, help="folder of simrt")
    one.add_argument("--work", required=True, help="folder of the programs, which are built already")
    one.add_argument("--data", required=True, help="folder of the files that they read")
    one.add_argument("--only", default="*", help="pattern of names")
    one.add_argument("--strategies", default="auto,random")
    one.add_argument("--seeds", type=int, default=3)
    one.add_argument("--executions", type=int, default=500)
    one.add_argument("--seconds", type=float, default=10)
    one.add_argument("--out", required=True)
    one.add_argument("-j", "--jobs", type=int, default=1)
    two = commands.add_parser("table")
    two.add_argument("files", nargs="+")
    two.add_argument("--published")
    two.add_argument("--without", default="", help="programs that are left out")
    two.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    return {"run": run, "table": table}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
