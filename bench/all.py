#!/usr/bin/env python3
"""Runs the whole comparison, or a part of it, as one run: every workload with each number of threads by every
program in turn, round after round. Then it writes tables and a drawing.

  python bench/all.py --out DIR                          everything but PyTorch and JAX, with this Python's TensorFlow
  python bench/all.py --out DIR --only 3,4,26 --rounds 5
  python bench/all.py --out DIR --peer jax=/venvs/jax/bin/python --peer torch=… --peer inductor=…
  python bench/all.py --out DIR --summarize              only writes the tables again

DIR gets NAME.jsonl of each program, rounds.md (the table), rounds.svg (the drawing) and machine.json. A run that
was interrupted goes on where it stopped. Of each row the table has the best figure of each program and the
geometric mean, over the rounds, of how many times Gorge is faster.
"""
import argparse
import collections
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, "tensorflow"))
sys.path.insert(0, HERE)

import compare  # noqa: E402
import drawing  # noqa: E402

# What each program can run. 16 has a program of its own (import_graph.py), 18 wants a virtual machine (bench/rdma); the others
# that are missing compare Gorge with itself.
ALL = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 20, 21, 22, 23, 26, 28, 29, 30, 31, 32]
# Programs that take all processors whatever they are told: one thread is one processor that they may run on.
GREEDY = {"xla", "jax"}
MODELS = {3, 4, 5, 6, 28, 29, 30, 31}
JIT = MODELS | {26}
SCRIPTS = {"tensorflow": (["tensorflow/tf_bench.py"], set(ALL)), "xla": (["tensorflow/tf_bench.py", "--jit"], JIT),
           "jax": (["jax/jax_bench.py"], MODELS), "torch": (["torch/torch_bench.py"], MODELS), "inductor": (["torch/torch_bench.py", "--compile"], MODELS)}


def programs(args):
    """name, the command, the workloads that it has; Gorge is the last."""
    pythons = {"tensorflow": sys.executable, "xla": sys.executable}
    pythons.update(p.split("=", 1) for p in args.peer)
    if args.without:
        pythons = {n: p for n, p in pythons.items() if n not in args.without.split(",")}
    out = [(n, [p, os.path.join(HERE, SCRIPTS[n][0][0])] + SCRIPTS[n][0][1:], "--", SCRIPTS[n][1]) for n, p in pythons.items()]
    return out + [("gorge", [args.gorge or built(args.out)], "-", set(ALL))]


def built(out):
    """Builds Gorge's side."""
    path = os.path.join(os.path.abspath(out), "bench.out")
    subprocess.run(["go", "build", "-o", path, "./bench"], cwd=ROOT, check=True, env=dict(os.environ, CGO_ENABLED="0"))
    return path


def measure(args):
    done_path = os.path.join(args.out, "done.json")
    done = set(map(tuple, json.load(open(done_path)))) if os.path.exists(done_path) else set()
    every = programs(args)
    for rnd in range(args.rounds):
        for number in args.numbers:
            for threads in args.threads.split(","):
                for name, command, dash, has in every:
                    key = (name, number, threads, rnd)
                    if number in has and key not in done:
                        one(args, name, command, dash, number, threads, rnd)
                        done.add(key)
                        json.dump(sorted(done), open(done_path, "w"))


def one(args, name, command, dash, number, threads, rnd):
    """One workload by one program, in processes of its own."""
    flags = [dash + "only", str(number), dash + "threads", threads, dash + "repeat", str(args.repeat)]
    if args.kernel:
        flags += [dash + "kernel", args.kernel]
    t0 = time.time()
    if name in GREEDY and shutil.which("taskset"):
        command = ["taskset", "-c", "0-%d" % (int(threads) - 1)] + command
    p = subprocess.run(command + flags, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=3600)
    with open(os.path.join(args.out, name + ".jsonl"), "a") as f:
        for line in p.stdout.splitlines():
            if line.startswith("{"):
                f.write(json.dumps(dict(json.loads(line), round=rnd)) + "\n")
    print("%s workload %d threads %s round %d: %.0f s%s" % (name, number, threads, rnd, time.time() - t0, "" if p.returncode == 0 else ", exit %d\n%s" % (p.returncode, p.stderr[-500:])), flush=True)


def read(path):
    """value by (workload, metric, threads) and round; units; how much others used the processors."""
    rows, units, others = collections.defaultdict(dict), {}, {}
    for line in open(path):
        r = json.loads(line)
        key = (r["workload"], r["metric"], r["config"].get("threads", 0))
        if r["metric"] == "meta.other_cpu":
            where = (r["workload"], key[2], r["round"])
            others[where] = max(others.get(where, 0), r["value"])
        else:
            rows[key][r["round"]], units[key] = r["value"], r["unit"]
    return rows, units, others


def best(values, unit):
    return (max if unit in compare.HIGHER else min)(values.values())


def times_faster(mine, other, unit):
    """The geometric mean over the rounds that both have."""
    both = [r for r in mine if r in other and mine[r] > 0 and other[r] > 0]
    if not both:
        return None
    ratios = [mine[r] / other[r] if unit in compare.HIGHER else other[r] / mine[r] for r in both]
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def machine(args):
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    flags = next((line.split() for line in open("/proc/cpuinfo") if line.startswith("flags")), [])
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()
    about = {"processor": model, "processors": len(os.sched_getaffinity(0)), "avx512": "avx512f" in flags, "memory_GiB": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30),
             "kernel": platform.release().split("-")[0], "commit": commit, "date": time.strftime("%Y-%m-%d"), "command": "python bench/all.py " + " ".join(sys.argv[1:])}
    path = os.path.join(args.out, "machine.json")
    if not os.path.exists(path):
        json.dump(about, open(path, "w"), indent=1)
    return json.load(open(path))


def summarize(args):
    about = machine(args)
    names = [n for n in list(SCRIPTS) if os.path.exists(os.path.join(args.out, n + ".jsonl"))]
    data = {n: read(os.path.join(args.out, n + ".jsonl")) for n in names + ["gorge"]}
    mine, units, others = data["gorge"]
    rounds = 1 + max((r for v in mine.values() for r in v), default=0)
    lines = ["%s, %d processors, AVX-512 %s, %d GiB; commit %s, %s; %d round%s." % (about["processor"], about["processors"], "yes" if about["avx512"] else "no", about["memory_GiB"], about["commit"],
                                                                                   about["date"], rounds, "" if rounds == 1 else "s"), ""]
    bars, last = [], None
    disturbed = {k[:2] for d in data.values() for k, v in d[2].items() if v > 0.3}
    for key in sorted(mine, key=lambda k: (k[0], list(mine).index(k))):
        workload, metric, threads = key
        got = {n: times_faster(mine[key], data[n][0].get(key, {}), units[key]) for n in names}
        if metric.startswith(("check.", "meta.")) or not any(got.values()):
            continue
        if workload != last:
            lines += ["", "### " + workload, "", "| row | threads | Gorge | unit | %s |" % " | ".join("than " + n for n in names), "|---|---:|---:|---|" + "---:|" * len(names)]
            last = workload
        mark = "*" if (workload, threads) in disturbed else ""
        lines.append("| %s | %d | %s%s | %s | %s |" % (metric, threads, compare.num(best(mine[key], units[key])), mark, units[key], " | ".join("%.2f" % got[n] if got[n] else "" for n in names)))
        if got.get("tensorflow"):
            bars.append(("%s %s, %d" % (workload, metric, threads), got["tensorflow"]))
    lines += ["", "`*`: other programs used more than 0.3 of a processor meanwhile."] + check_lines(args, names)
    open(os.path.join(args.out, "rounds.md"), "w").write("\n".join(lines) + "\n")
    open(os.path.join(args.out, "rounds.svg"), "w").write(drawing.bars("times faster than TensorFlow", bars))
    print("%d rows; %s and rounds.svg" % (len(bars), os.path.join(args.out, "rounds.md")))


def check_lines(args, names):
    """Which checks differ."""
    mine = compare.load(os.path.join(args.out, "gorge.jsonl"))
    out = []
    for n in names:
        peer = compare.load(os.path.join(args.out, n + ".jsonl"))
        both = [k for k in mine if k[1].startswith("check.") and k in peer]
        bad = [k for k in both if not compare.same(peer[k], mine[k])]
        out.append("Checks that differ from %s's: %d of %d.%s" % (n, len(bad), len(both), "".join(" %s %s." % k[:2] for k in bad[:8])))
    return [""] + out


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--out", required=True)
    ap.add_argument("--only", help="workloads, by number, separated by commas")
    ap.add_argument("--threads", default="1,2")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--repeat", type=int, default=5, help="repeats of each measurement within a round, of which the best counts")
    ap.add_argument("--kernel", help="8, 21, 23, 26, 30, 32: only rows whose name contains one of these")
    ap.add_argument("--peer", action="append", default=[], metavar="NAME=PYTHON", help="also run jax, torch or inductor, with this Python")
    ap.add_argument("--without", help="peers not to run, separated by commas")
    ap.add_argument("--gorge", help="Gorge's side, if it is built already")
    ap.add_argument("--summarize", action="store_true")
    args = ap.parse_args()
    args.numbers = [int(n) for n in args.only.split(",")] if args.only else ALL
    os.makedirs(args.out, exist_ok=True)
    machine(args)
    if not args.summarize:
        measure(args)
    summarize(args)


if __name__ == "__main__":
    main()
