#!/usr/bin/env python3
"""The detector against native code and against ThreadSanitizer, as ratios of processor time in one run.

usage: run.py BUILD_DIRECTORY [--rounds N] [--levels=-O1,-O2] [--spread] [--check | --json]

Builds workload.cc natively, with the compiler's own ThreadSanitizer (reports off) and for libsimrt_check.so; runs them in
turn: everything watched, then 10 %, 1 % and none of the sites (the same ones each time). Prints, for each, the time over
native and over ThreadSanitizer, and the largest resident set. All on one processor, so that the figures tell of the work
that is done; --spread lets the threads run side by side: then the atomics and locks measure how fast the machine passes
cache lines on, and differ by two or three times from run to run. --check fails when watching everything costs more than
ThreadSanitizer, or watching 1 % more than twice native or 1/2.5 of ThreadSanitizer (geometric means). --json: only the
means.
"""
import argparse
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILERS = ["clang++-19", "g++-12"]
WATCHED = [None, 0.1, 0.01, 0.0]  # part of the sites; None = no list at all

RUN_FORMAT = os.path.join(HERE, "..", "..", "..", "include", "simrt", "format", "run.h")
VERSION = int(re.search(r"kRunVersion = (\d+)", open(RUN_FORMAT).read()).group(1))
MAGIC, HEADER, PLAN_HEADER, FILE = b"SIMRTRUN", 832, 128, 16 << 20
STATE = 676  # offset of RunHeader::state
DETECT, ALL_DETECTORS = 1, 0x1F
MODULE, SITES = 1, 2


def chunk(kind, body):
    size = (16 + len(body) + 15) // 16 * 16
    return struct.pack("<IIQ", kind, 0, size) + body.ljust(size - 16, b"\0")


def write_run_file(path, sites):
    """include/simrt/format/{run,plan}.h; `sites`: offsets in the main program, or None for all."""
    chunks = b""
    if sites is not None:
        listed = sites or [1]  # no site has this address
        chunks = chunk(MODULE, struct.pack("<IIII", 0, 0, 0, 0)) + chunk(
            SITES, struct.pack("<II", len(listed), 0) + b"".join(struct.pack("<IIQ", 0, 0, s) for s in listed))
    plan = struct.pack("<QIIII", PLAN_HEADER + len(chunks), DETECT, 0, 0, ALL_DETECTORS).ljust(PLAN_HEADER, b"\0") + chunks
    capacity = (len(plan) + 4095) // 4096 * 4096
    header = struct.pack("<8sIIQQQQ", MAGIC, VERSION, HEADER, FILE, HEADER, capacity, HEADER + capacity)
    with open(path, "wb") as out:
        out.write(header.ljust(HEADER, b"\0") + plan.ljust(capacity, b"\0"))
        out.truncate(FILE)


def call_sites(program):
    """Return addresses of the hooks for plain accesses."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], check=True, stdout=subprocess.PIPE, text=True)
    sites, behind = [], False
    for line in text.stdout.splitlines():
        match = re.match(r"\s*([0-9a-f]+):\s", line)
        if not match:
            continue
        if behind:
            sites.append(int(match.group(1), 16))
        behind = re.search(r"call.*<__tsan_(unaligned_|volatile_|vptr_)?(read|write|update)", line) is not None
    return sites


def build(directory, compiler, level, library):
    base = os.path.join(directory, compiler + level)
    source = os.path.join(HERE, "workload.cc")
    common = [compiler, "-std=c++20", "-g", level]
    subprocess.run(common + [source, "-o", base + "-native", "-pthread"], check=True)
    subprocess.run(common + ["-fsanitize=thread", "-c", source, "-o", base + ".o"], check=True)
    subprocess.run([compiler, base + ".o", "-o", base + "-tsan", "-fsanitize=thread", "-pthread"], check=True)
    subprocess.run([compiler, base + ".o", "-o", base + "-check", "-pthread", "-Wl,--no-as-needed", library,
                    "-Wl,-rpath," + os.path.dirname(library)], check=True)
    return base


def run(command, environment):
    read, write = os.pipe()
    process = subprocess.Popen(command, env=dict(os.environ, **environment), stdout=write, stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as out:
        lines = out.read().splitlines()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        sys.exit("%s failed" % command)
    return {line.split()[0]: float(line.split()[1]) for line in lines}, usage.ru_maxrss


def expect_watched(path):
    """A run file that the runtime refuses leaves the program unwatched, and quick."""
    with open(path, "rb") as file:
        header = file.read(HEADER)
    if struct.unpack_from("<I", header, STATE)[0] == 0:
        sys.exit("the runtime did not take the plan up: do the offsets in this file fit include/simrt/format?")


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def measure(directory, compiler, level, library, rounds):
    base = build(directory, compiler, level, library)
    everything = call_sites(base + "-check")
    run_file = os.path.join(directory, "run")
    variants = {"native": (base + "-native", {}, False), "ThreadSanitizer": (base + "-tsan", {"TSAN_OPTIONS": "report_bugs=0"}, False)}
    for part in WATCHED:
        sites = None
        if part is not None:
            chosen = random.Random(1)
            sites = [site for site in everything if chosen.random() < part]
        name = "everything" if part is None else "%g %%" % (part * 100)
        variants[name] = (base + "-check", {"SIMRT_RUN": run_file}, sites)
    best, memory = {}, {}
    for _ in range(rounds):
        for name, (program, environment, sites) in variants.items():
            if sites is not False:
                write_run_file(run_file, sites)
            times, resident = run([program, "3"], environment)
            if sites is not False:
                expect_watched(run_file)
            memory[name] = max(resident, memory.get(name, 0))
            for kernel, time in times.items():
                best.setdefault(name, {})[kernel] = min(time, best.get(name, {}).get(kernel, math.inf))
    return best, memory


def means_of(best):
    kernels = list(best["native"])
    return {name: geometric_mean([times[k] / best["native"][k] for k in kernels]) for name, times in best.items()}


def report(title, best, memory):
    kernels, means = list(best["native"]), means_of(best)
    print("%-16s %-16s" % (title, "") + "".join("%11s" % k for k in kernels) + "%11s%11s%9s" % ("mean", "of TSan", "MB"))
    for name, times in best.items():
        print("%-16s %-16s" % ("", name) + "".join("%11.2f" % (times[k] / best["native"][k]) for k in kernels) +
              "%11.2f%11.2f%9d" % (means[name], means[name] / means["ThreadSanitizer"], memory[name] // 1024))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--levels", default="-O1,-O2")
    parser.add_argument("--spread", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.spread:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    library = os.path.join(os.path.abspath(options.build), "lib", "libsimrt_check.so")
    good, all_means = True, []
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as directory:
        for compiler in filter(shutil.which, COMPILERS):
            for level in options.levels.split(","):
                best, memory = measure(directory, compiler, level, library, options.rounds)
                means = means_of(best)
                all_means.append({"compiler": compiler, "level": level, "native": means,
                                  "MB": {name: kilobytes / 1024 for name, kilobytes in memory.items()}})
                if not options.json:
                    report(compiler + " " + level, best, memory)
                if means["everything"] > means["ThreadSanitizer"] or means["1 %"] > min(
                        2, means["ThreadSanitizer"] / 2.5):
                    good = False
    if options.json:
        print(json.dumps(all_means, indent=1))
    return 1 if options.check and not good else 0


if __name__ == "__main__":
    sys.exit(main())
