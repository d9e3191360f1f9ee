#!/usr/bin/env python3
"""Does coverage of interleavings go with the bugs found? Kendall's tau-b, as in section V of the MAP paper (RQ3).

    correlation.py build --bin DIR --work DIR [--most 1] [--only GLOB]
    correlation.py run --bin DIR --work DIR [--strategy random] [--seeds 10] [--executions 50] [--only GLOB]
    correlation.py table --work DIR [--strategy random] [--seeds 10] [--sizes 1,2,5,10,20,50] [--programs]
    correlation.py self-test

`build` makes variants of fixtures/programs whose synchronisation was removed (mutations.py) below `--work` and
compiles them; DIR holds simrt and its compiler wrappers. `run` explores each of them with several seeds and adds a line
to `<work>/<strategy>.jsonl`; it leaves out what is there already, so it may be stopped and started again.

A test suite is the first N executions of one seed; its figures are what `simrt explore --format json` tells as `growth`:
covered pattern instances (MAP), method pairs, predecessor pairs (HaPSet), distinct failures. Two failures are the same
where they end with the same words and, of a deadlock, with the threads at the same places. The programs with a bug
count as variants of their repaired twins ("as written").
"""
import argparse
import fnmatch
import json
import os
import subprocess
import sys
from collections import defaultdict
from statistics import mean, median

sys.dont_write_bytecode = True  # the source tree stays as it is
import kendall  # noqa: E402
import mutations  # noqa: E402

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../fixtures/programs")
METRICS = {"covered": "MAP", "method_pairs": "method pairs", "predecessor_pairs": "HaPSet",
           "executions": "number of executions"}  # the last one: what size alone tells


def programs():
    """{name: (repaired source, source with the bug)}, the latter as `twin` in the header says."""
    found = {}
    for folder in ("clean", "hapset/clean"):
        for file in sorted(os.listdir(os.path.join(PROGRAMS, folder))):
            name, kind = os.path.splitext(file)
            if kind not in (".c", ".cc"):
                continue
            clean = os.path.join(PROGRAMS, folder, file)
            with open(clean) as text:
                twin = [line.split(":", 1)[1].strip() for line in text if line.startswith("// twin:")]
            name = ("hapset_" if folder != "clean" else "") + name
            found[name] = (clean, os.path.join(PROGRAMS, twin[0]) if twin else None)
    return found


def texts(clean, bug, most):
    """(variant, source text): at most `most` of each rule, each text once and none that is the program itself."""
    with open(clean) as source:
        original = source.read()
    seen = {original}
    made = list(mutations.variants(original, most).items())
    if bug:
        with open(bug) as source:
            made.insert(0, ("as written", source.read()))
    for variant, text in made:
        if text not in seen:
            seen.add(text)
            yield variant, text


def build(args):
    work = os.path.abspath(args.work)
    for folder in ("src", "bin"):
        os.makedirs(os.path.join(work, folder), exist_ok=True)
    built = refused = 0
    for name, (clean, bug) in programs().items():
        if not fnmatch.fnmatch(name, args.only):
            continue
        for variant, text in texts(clean, bug, args.most):
            c = clean.endswith(".c")
            file = f"{name}+{variant.replace(' ', '_')}"
            source = os.path.join(work, "src", file + (".c" if c else ".cc"))
            output = os.path.join(work, "bin", file)
            if os.path.exists(output) and os.path.exists(source):
                with open(source) as old:
                    if old.read() == text:
                        built += 1
                        continue
            with open(source, "w") as out:
                out.write(text)
            command = [os.path.join(os.path.abspath(args.bin), "simrt-clang" if c else "simrt-clang++"), "-g", "-O0", "-w",
                       "-std=c11" if c else "-std=c++20", source, "-o", output, "-pthread"]
            done = subprocess.run(command, env=dict(os.environ, SIMRT_BUILD="check"), capture_output=True)
            built, refused = built + (done.returncode == 0), refused + (done.returncode != 0)
            if done.returncode != 0 and os.path.exists(output):
                os.remove(output)
    print(f"{built} variants built, {refused} do not compile")
    return 0 if built else 1


def explore(args, file, seed):
    command = [os.path.join(os.path.abspath(args.bin), "simrt"), "-C", os.path.abspath(args.work), "-q", "explore",
               "--no-history", "--no-description", "--no-saturation", "--keep-going", "--strategy", args.strategy,
               "--executions", str(args.executions), "--seconds", str(args.seconds), "--timeout", "2",
               "--seed", str(seed), "--format", "json", "--program", os.path.join(os.path.abspath(args.work), "bin", file)]
    done = subprocess.run(command + (["--", "2"] if "_like+" in file else []), capture_output=True, text=True)
    try:
        test = json.loads(done.stdout)["tests"][0]
    except (ValueError, IndexError, KeyError):
        return {"end": "error: " + done.stderr[:200], "growth": [], "failures": []}
    return {key: test[key] for key in ("end", "growth", "failures")}


def results(path):
    if not os.path.exists(path):
        return []
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def run(args):
    path = os.path.join(args.work, args.strategy + ".jsonl")
    old = results(path)
    known = {(r["file"], r["seed"]) for r in old}
    # What does not come through its executions in time with one seed is not asked with others.
    slow = {r["file"] for r in old if not complete(r, args.executions)}
    with open(path, "a") as out:
        for seed in range(1, args.seeds + 1):
            for file in sorted(os.listdir(os.path.join(args.work, "bin"))):
                if (file, seed) in known or file in slow or not fnmatch.fnmatch(file, args.only):
                    continue
                result = {"file": file, "seed": seed, **explore(args, file, seed)}
                if not complete(result, args.executions):
                    slow.add(file)
                out.write(json.dumps(result) + "\n")
                out.flush()
    return 0


def complete(result, executions):
    return bool(result["growth"]) and result["growth"][-1]["executions"] >= executions


def suites(args):
    """{file: {size: [step of each seed]}}, of those that made all their executions with every seed."""
    sizes = [int(size) for size in args.sizes.split(",")]
    by_file, bad = defaultdict(list), {}
    once = {(r["file"], r["seed"]): r for r in results(os.path.join(args.work, args.strategy + ".jsonl"))}
    for result in once.values():
        if result["seed"] > args.seeds:
            continue
        by_file[result["file"]].append(result)
        if not complete(result, sizes[-1]):
            bad[result["file"]] = result["end"]
    found = {}
    for file, all_seeds in by_file.items():
        if file in bad or len(all_seeds) < args.seeds:
            bad.setdefault(file, "not all seeds")
            continue
        steps = [{step["executions"]: step for step in r["growth"]} for r in sorted(all_seeds, key=lambda r: r["seed"])]
        found[file] = {size: [one[size] for one in steps] for size in sizes}
    return found, bad


def merged(parts):
    """The variants of one program together: shares of what all seeds covered of each, bugs as a sum."""
    sums = {size: [defaultdict(float) for _ in steps] for size, steps in parts[0].items()}
    for part in parts:
        last = max(part)
        for metric in METRICS:
            most = max(step[metric] for step in part[last]) or 1
            for size, steps in part.items():
                for total, step in zip(sums[size], steps):
                    # Rounded: sums of equal shares in another order are ties.
                    total[metric] = round(total[metric] + step[metric] / most / len(parts), 9)
        for size, steps in part.items():
            for total, step in zip(sums[size], steps):
                total["failures"] += step["failures"]
    return sums


def correlate(suite, metric):
    """(tau over suites of all sizes, p, tau between suites of one size)."""
    strata = [([s[metric] for s in steps], [s["failures"] for s in steps]) for steps in suite.values()]
    together = ([x for xs, _ in strata for x in xs], [y for _, ys in strata for y in ys])
    tau, p, _ = kendall.tau_b([together])
    return tau, p, kendall.tau_b(strata)[0]


def number(value):
    return "-" if value is None else f"{value:.2f}"


def summary(title, groups):
    """A row each metric over groups of suites; then each metric against method pairs."""
    rows = {m: {name: correlate(suite, m) for name, suite in groups.items()} for m in METRICS}
    print(f"| {title} | defined | mean | median | high / moderate / low | positive with p < 0.05 | same size: defined | mean |")
    print("| --- |" + " --- |" * 7)
    for metric, label in METRICS.items():
        every = [r for r in rows[metric].values() if r[0] is not None]
        equal = [r[2] for r in rows[metric].values() if r[2] is not None]
        taus = [r[0] for r in every]
        levels = [sum(t > 0.7 for t in taus), sum(0.4 <= t <= 0.7 for t in taus), sum(t < 0.4 for t in taus)]
        print(f"| {label} | {len(taus)} of {len(groups)} | {number(mean(taus) if taus else None)} | "
              f"{number(median(taus) if taus else None)} | {levels[0]} / {levels[1]} / {levels[2]} | "
              f"{sum(r[0] > 0 and r[1] < 0.05 for r in every)} | {len(equal)} | {number(mean(equal) if equal else None)} |")
    print()
    for metric, other in (("covered", "method_pairs"), ("covered", "executions"), ("method_pairs", "executions"),
                          ("covered", "predecessor_pairs")):
        for column, label in ((0, "all sizes"), (2, "same size")):
            pairs = [(rows[metric][n][column], rows[other][n][column]) for n in groups]
            if not any(b is not None for _, b in pairs):
                continue
            both = [(a, b) for a, b in pairs if a is not None and b is not None]
            wins, losses = sum(a > b for a, b in both), sum(a < b for a, b in both)
            print(f"- {METRICS[metric]} against {METRICS[other]}, {label}: higher on {wins}, lower on {losses}, equal on "
                  f"{len(both) - wins - losses} (sign test p = {kendall.sign_test(wins, losses):.2g}); only the one is "
                  f"defined on {sum(a is not None and b is None for a, b in pairs)}, only the other on "
                  f"{sum(a is None and b is not None for a, b in pairs)}")
    print()


def by_size(title, groups):
    """Mean tau between suites of one size, and on how many groups it is defined."""
    sizes = list(next(iter(groups.values())))
    print(f"| {title}, same size | " + " | ".join(f"{size}" for size in sizes) + " |")
    print("| --- |" + " --- |" * len(sizes))
    for metric, label in METRICS.items():
        if metric == "executions":
            continue
        cells = []
        for size in sizes:
            taus = [correlate({size: suite[size]}, metric)[0] for suite in groups.values()]
            taus = [tau for tau in taus if tau is not None]
            cells.append(f"{number(mean(taus) if taus else None)} ({len(taus)})")
        print(f"| {label} | " + " | ".join(cells) + " |")
    print()


def table(args):
    found, bad = suites(args)
    failing = {f: s for f, s in found.items() if any(step["failures"] for step in s[max(s)])}
    varied = {f: s for f, s in failing.items() if len({step["failures"] for steps in s.values() for step in steps}) > 1}
    print(f"{len(found)} variants explored to the end, {len(bad)} left out; {len(failing)} fail with some seed, "
          f"{len(varied)} of them not at once with every one.\n")
    summary("variant", varied)
    by_size("variant", varied)
    by_program = defaultdict(list)
    for file, suite in found.items():
        by_program[file.split("+")[0]].append(suite)
    together = {name: merged(parts) for name, parts in by_program.items()}
    together = {n: s for n, s in together.items() if len({step["failures"] for steps in s.values() for step in steps}) > 1}
    summary("program, its variants together", together)
    by_size("program", together)
    locks = {f: s for f, s in varied.items() if f.endswith("+locks") or f.endswith("+lock1") or f.endswith("+guard1")}
    locks = {f: s for f, s in locks.items() if f.endswith("+locks") or f.split("+")[0] + "+locks" not in found}
    summary("all locks removed", locks)
    if args.programs:
        print("| program | variants | " + " | ".join(f"{label}, all sizes | same size" for label in METRICS.values()) + " |")
        print("| --- | --- |" + " --- | --- |" * len(METRICS))
        for name, suite in sorted(together.items()):
            cells = [cell for metric in METRICS for cell in correlate(suite, metric)[::2]]
            print(f"| {name} | {len(by_program[name])} | " + " | ".join(map(number, cells)) + " |")
    return 0


def self_test(_):
    # With ties: the example of SciPy's manual.
    tau, p, pairs = kendall.tau_b([([12, 2, 1, 12, 2], [1, 4, 7, 1, 0])])
    assert abs(tau + 0.4714045207910316) < 1e-12 and abs(p - 0.2827454599327748) < 1e-9 and pairs == 10, (tau, p)
    assert kendall.tau_b([([1, 2, 3], [1, 2, 3])])[0] == 1 and kendall.tau_b([([1, 2, 3], [3, 2, 1])])[0] == -1
    assert kendall.tau_b([([1, 1, 1], [1, 2, 3])])[0] is None
    assert kendall.tau_b([([1, 1, 1], [1, 2, 3]), ([1, 2], [1, 2])])[0] == 1  # the first one says nothing
    # Only within strata: between them the order is the opposite one.
    assert kendall.tau_b([([11, 12], [1, 2]), ([1, 2], [11, 12])])[0] == 1
    assert abs(kendall.sign_test(8, 1) - 2 * 10 / 512) < 1e-12
    c = "pthread_mutex_lock(&a);\nx = 1;\nif (y) {\n  pthread_mutex_unlock(&a);\n  return;\n}\npthread_mutex_unlock(&a);\n"
    assert "mutex" not in mutations.variants(c)["lock1"]
    twice = mutations.variants(c + c)
    assert twice["lock1"].endswith(c) and "mutex" not in twice["locks"], twice
    cc = ("void f() {\n  std::lock_guard<std::mutex> l(m);\n  c.wait(l, [] { return g(1); });\n  t[i].join();\n"
          "  n.fetch_add(g(1, 2), std::memory_order_relaxed);\n  std::call_once(o, f, 1);\n  c.notify_one();\n}\n")
    made = mutations.variants(cc)
    assert set(made) == {"guard1", "wait1", "notify1", "join1", "split1", "once1"}, set(made)
    assert "lock_guard" not in made["guard1"] and "wait" not in made["wait1"] and "t[i].detach();" in made["join1"]
    assert "n.store(old + (g(1, 2)))" in made["split1"] and "((f)(1), 0);" in made["once1"]
    assert all(made[name].count("\n") == cc.count("\n") for name in made)
    step = {"executions": 1, "covered": 2, "method_pairs": 0, "predecessor_pairs": 4, "failures": 1}
    both = merged([{1: [step], 2: [dict(step, covered=4, failures=2)]}] * 2)
    assert both[1][0]["covered"] == 0.5 and both[2][0]["failures"] == 4, both
    print("ok")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    made = {name: commands.add_parser(name) for name in ("build", "run", "table", "self-test")}
    for name in ("build", "run"):
        made[name].add_argument("--bin", required=True)
        made[name].add_argument("--only", default="*")
    made["build"].add_argument("--most", type=int, default=1, help="places of each rule in a program, from the top")
    for name in ("build", "run", "table"):
        made[name].add_argument("--work", required=True)
    for name in ("run", "table"):
        made[name].add_argument("--strategy", default="random")
    for name in ("run", "table"):
        made[name].add_argument("--seeds", type=int, default=10)
    made["run"].add_argument("--executions", type=int, default=50)
    made["run"].add_argument("--seconds", type=float, default=10)
    made["table"].add_argument("--sizes", default="1,2,5,10,20,50")
    made["table"].add_argument("--programs", action="store_true", help="also a row each program")
    args = parser.parse_args()
    return {"build": build, "run": run, "table": table, "self-test": self_test}[args.command](args)


if __name__ == "__main__":
    sys.exit(main())
