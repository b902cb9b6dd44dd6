#!/usr/bin/env python3
"""Compares some 360 operations of Gorge with TensorFlow's: the same client runs the same graphs on a server of each,
one thread on one processor, in turn. cases.py has the operations.

  python bench/sweep/sweep.py --gorge BIN [--only conv,fft] [--rounds 2]

BIN is what `go build ./cmd/gorge` makes. Prints, for each operation, how many times Gorge is as fast, the least time
of either in ms, which has some 0.2 ms of call and answer in it, and where results differ.
"""
import argparse
import json
import os
import subprocess
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

import cases  # noqa: E402

LARGEST = 1 << 21  # elements of what is compared


def serve(port):
    cfg = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    tf.train.Server(tf.train.ClusterSpec({"worker": ["127.0.0.1:%d" % port]}), config=cfg).join()


def build(name, graph):
    """The graph of a case: its variables' initializers with what to feed, and the result."""
    inputs, fn, kind = cases.ALL[name]
    with graph.as_default(), graph.container(name), tf.device("/job:worker/task:0"):
        feeds = [tf.placeholder(x.dtype, x.shape) for x in inputs]
        given = [tf.cast(p, kind) if kind else p for p in feeds]
        variables = [tf.Variable(g, use_resource=True) for g in given]
        out = fn(*[v.read_value() for v in variables])
    return [v.initializer for v in variables], dict(zip(feeds, inputs)), out


def best(call):
    call()
    least, begin, n = float("inf"), time.perf_counter(), 0
    while n < 5 or time.perf_counter() - begin < 0.25 and n < 60:
        t = time.perf_counter()
        call()
        least, n = min(least, time.perf_counter() - t), n + 1
    return least * 1e3


def measure(target, name):
    """The least time of a case in ms and its result, None if that is large or by chance."""
    graph = tf.Graph()
    init, feeds, out = build(name, graph)
    cfg = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    cfg.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Session(target, graph=graph, config=cfg) as s:
        s.run(init, feeds)
        op = out if isinstance(out, tf.Operation) else out.op
        t = best(s.make_callable(op))
        known = not isinstance(out, tf.Operation) and out.dtype.is_floating and name not in cases.BY_CHANCE
        value = s.run(out) if known and (out.shape.num_elements() or LARGEST + 1) <= LARGEST else None
    return t, value


def differ(a, b):
    """Where results differ by more than a thousandth, NaN being equal to NaN."""
    if a is None or b is None:
        return ""
    if a.shape != b.shape:
        return "shapes %s and %s" % (a.shape, b.shape)
    loose = 2e-2 if a.dtype.itemsize == 2 else 1e-3
    a, b = a.astype(np.float64), b.astype(np.float64)
    off = ~np.isclose(a, b, rtol=loose, atol=loose * max(1e-3, np.nanmax(np.abs(a), initial=0, where=np.isfinite(a))), equal_nan=True)
    return "%d of %d differ" % (off.sum(), off.size) if off.any() else ""


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--gorge", required=True)
    p.add_argument("--only", default="")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--port", type=int, default=7711)
    p.add_argument("--cpu", default="1", help="the processor of both servers")
    p.add_argument("--json", help="a file for the figures")
    args = p.parse_args()
    names = [n for n in cases.ALL if not args.only or any(o in n for o in args.only.split(","))]
    mine, theirs = args.port + 1, args.port
    pin = ["taskset", "-c", args.cpu]
    servers = [subprocess.Popen(pin + [sys.executable, __file__, "serve", str(theirs)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
               subprocess.Popen(pin + [args.gorge, "serve", "-cluster_spec", "worker|127.0.0.1:%d" % mine, "-job_name", "worker", "-task_id", "0"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
    try:
        rows = compare(names, ["grpc://127.0.0.1:%d" % theirs, "grpc://127.0.0.1:%d" % mine], args.rounds)
    finally:
        for s in servers:
            s.terminate()
            s.wait()
    if args.json:
        with open(args.json, "w") as f:
            json.dump(rows, f)
    show(rows)


def compare(names, targets, rounds):
    """Rows of ratio, name, TensorFlow's time, Gorge's, and what differs or fails."""
    rows = []
    for name in names:
        times, values, wrong = ([], []), [None, None], ""
        for _ in range(rounds):
            for i, target in enumerate(targets):
                try:
                    t, values[i] = measure(target, name)
                    times[i].append(t)
                except (tf.errors.OpError, ValueError) as e:
                    wrong = "%s: %s" % (("TensorFlow", "Gorge")[i], str(e).splitlines()[0][:100])
        if times[0] and times[1]:
            rows.append((min(times[0]) / min(times[1]), name, min(times[0]), min(times[1]), wrong or differ(*values)))
        else:
            print("not measured: %s, %s" % (name, wrong))
    return sorted(rows)


def show(rows):
    print("| operation | times as fast | TensorFlow, ms | Gorge, ms | |\n|---|---:|---:|---:|---|")
    for ratio, name, theirs, mine, wrong in rows:
        print("| %s | %.2f | %.3f | %.3f | %s |" % (name, ratio, theirs, mine, wrong))
    if rows:
        print("\n%d operations, geometric mean %.2f, %d below 0.95" % (len(rows), np.exp(np.mean(np.log([r[0] for r in rows]))), sum(r[0] < 0.95 for r in rows)))


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(int(sys.argv[2]))
    else:
        main()
