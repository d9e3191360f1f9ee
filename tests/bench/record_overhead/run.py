#!/usr/bin/env python3
"""Overhead of recording: processor time of an instrumented build over a plain one with the same optimisation.

usage: run.py BUILD_DIRECTORY [--rounds N] [--levels=-O0,-O2] [--json] [--check RATIO]

Builds workload.cc plainly and through the wrappers of BUILD_DIRECTORY with every compiler found, runs all programs in
turn (so that a change of the machine's speed hits all of them), and prints ratios of the least times.
--check fails when the geometric mean at -O1 or -O2 is above RATIO.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILERS = [("clang++-19", "simrt-clang++"), ("clang++-14", "simrt-clang++"), ("g++-12", "simrt-g++")]
LEVELS = ["-O0", "-O1", "-O2"]


def build(output, command, level, environment):
    arguments = command + ["-std=c++20", "-g", level, "-c", os.path.join(HERE, "workload.cc"), "-o", output + ".o"]
    subprocess.run(arguments, check=True, env=environment)
    subprocess.run(command + [output + ".o", "-o", output, "-pthread"], check=True, env=environment)
    return output


def variants(directory, wrappers, levels):
    """(name, plain program, [(label, recording program)])"""
    for compiler, wrapper in COMPILERS:
        if shutil.which(compiler) is None:
            continue
        environment = dict(os.environ, SIMRT_CXX=compiler, SIMRT_CACHE_DIR=os.path.join(directory, "cache"))
        one_step = dict(environment, SIMRT_INLINE="0")
        for level in levels:
            base = os.path.join(directory, compiler + level)
            plain = build(base, [compiler], level, environment)
            programs = [("recording", build(base + "-recording", [os.path.join(wrappers, wrapper)], level, environment))]
            programs.append(("not inlined", build(base + "-call", [os.path.join(wrappers, wrapper)], level, one_step)))
            yield compiler + " " + level, plain, programs


def run(program, trace):
    environment = {key: value for key, value in os.environ.items() if key != "SIMRT_TRACE"}
    if trace:
        environment["SIMRT_TRACE"] = trace
    pin = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if shutil.which("taskset") else []
    result = subprocess.run(pin + [program, "12"], env=environment, check=True, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True)
    if trace:
        os.unlink(trace)
    return {line.split()[0]: float(line.split()[1]) for line in result.stdout.splitlines()}


def least(best, program, trace):
    for kernel, time in run(program, trace).items():
        best.setdefault(program, {})[kernel] = min(time, best.get(program, {}).get(kernel, math.inf))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", type=float)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as directory:
        everything = list(variants(directory, os.path.join(os.path.abspath(options.build), "bin"), options.levels.split(",")))
        best = {}
        for _ in range(options.rounds):
            for _, plain, programs in everything:
                least(best, plain, None)
                for _, program in programs:
                    least(best, program, os.path.join(directory, "trace"))
        if options.json:
            print(json.dumps([{"name": name, "label": label, "ratios": ratios_of(best, program, plain)}
                              for name, plain, programs in everything for label, program in programs]))
            return 0
        return report(everything, best, options.check)


def ratios_of(best, program, plain):
    return {kernel: best[program][kernel] / best[plain][kernel] for kernel in best[plain]}


def report(everything, best, check):
    kernels = list(next(iter(best.values())))
    print("%-16s %-12s" % ("", "") + "".join("%11s" % k for k in kernels) + "%11s" % "geo. mean")
    good = True
    for name, plain, programs in everything:
        for label, program in programs:
            ratios = list(ratios_of(best, program, plain).values())
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            print("%-16s %-12s" % (name, label) + "".join("%11.2f" % r for r in ratios) + "%11.2f" % mean)
            if check and label == "recording" and "-O0" not in name and mean > check:
                good = False
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
