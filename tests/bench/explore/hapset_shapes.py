#!/usr/bin/env python3
"""Executions to the bug on the shapes of fixtures/programs/hapset, by strategy; aget_like and thrift_like with growing
numbers of threads.

    hapset_shapes.py --bin DIR --work DIR [--strategies hapset,dpor,pcb2] [--executions 2000] [--seconds 20] [--threads 2,3,4]

DIR holds simrt and its compiler wrappers. A cell is the number of the first failing execution; "end N": the search ended
after N executions without one; "> N": it did not end.
"""
import argparse
import json
import os
import subprocess
import sys

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../fixtures/programs/hapset")


def build(args, name, source):
    output = os.path.join(os.path.abspath(args.work), name)
    c = source.endswith(".c")
    command = [os.path.join(os.path.abspath(args.bin), "simrt-clang" if c else "simrt-clang++"), "-g", "-O0",
               "-std=c11" if c else "-std=c++20", source, "-o", output, "-pthread"]
    subprocess.run(command, env=dict(os.environ, SIMRT_BUILD="check"), check=True)
    return output


def explore(args, program, strategy, arguments):
    command = [os.path.join(args.bin, "simrt"), "-q", "explore", "--no-history", "--no-description", "--no-saturation",
               "--program", program, "--strategy", strategy, "--executions", str(args.executions), "--seconds",
               str(args.seconds), "--seed", "1", "--format", "json", "--", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        test = json.loads(done.stdout)["tests"][0]
    except (ValueError, IndexError):
        return "error"
    if test["first_failure"]:
        return str(test["first_failure"])
    return ("end " if test["end"] == "nothing is left to try" else "> ") + str(test["executions"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--strategies", default="hapset,hapset+rest,hapset+pcb2,dpor,pcb0,pcb1,pcb2,pcb3,map,auto")
    parser.add_argument("--executions", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--threads", default="2,3,4,6,8,12,16")
    args = parser.parse_args()
    os.makedirs(args.work, exist_ok=True)
    strategies = args.strategies.split(",")
    print("\t".join(["program", *strategies]))
    for file in sorted(os.listdir(SOURCES)):
        name, kind = os.path.splitext(file)
        if kind not in (".c", ".cc"):
            continue
        program = build(args, name, os.path.join(SOURCES, file))
        runs = [[n] for n in args.threads.split(",")] if name.endswith("_like") else [[]]
        for arguments in runs:
            cells = [explore(args, program, strategy, arguments) for strategy in strategies]
            print("\t".join([" ".join([name, *arguments]), *cells]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
