"""What the sides in Python share whatever their framework: arguments, child processes, timing, training loops, output.

Every (workload, threads) pair runs in a child process of its own, because thread pools are global to a process.
One JSON object per line on stdout; everything else goes to stderr.
"""
import argparse
import json
import math
import os
import signal
import subprocess
import sys
import time
import zlib

ARGS = argparse.Namespace()
CTX = {"workload": None, "threads": None, "impl": None}


def row(metric, value, unit, config):
    print(json.dumps({"workload": CTX["workload"], "metric": metric, "value": value, "unit": unit,
                      "config": dict(impl=CTX["impl"], threads=CTX["threads"], **config)}), flush=True)


def emit(metric, value, unit, **config):
    if CTX.get("spread") and unit != "MB":
        config["median_over_best"] = round(CTX["spread"], 3)
    row(metric, float("%.6g" % value), unit, config)


def check(metric, value, **config):
    row("check." + metric, float("%.9g" % value), "", config)


def check_result(name, v):
    """What workload 8 says about the values of a result."""
    import numpy as np
    from inputs import uni
    v = np.asarray(v).ravel()
    v = np.array([zlib.crc32(x) / 2**32 for x in v]) if v.dtype == object else v.astype(np.float64)
    mean = float(np.abs(v).mean())
    check(name + ".mean_abs", mean)
    check(name + ".probe", float((v * uni(9, [v.size]).astype(np.float64)).sum() / math.sqrt(v.size)), abs_tolerance=float("%.3g" % (1e-3 * mean)))


def wanted(name):
    return not ARGS.kernel or any(k in name for k in ARGS.kernel.split(","))


def steps(n):
    return max(1, n // 10) if ARGS.quick else n


def best(fn, n, repeat=None):
    """Smallest time of one call of fn, out of `repeat` batches of n calls."""
    ts = []
    for _ in range(min(repeat or ARGS.repeat, ARGS.repeat)):
        t = time.perf_counter()
        for _ in range(n):
            fn()
        ts.append((time.perf_counter() - t) / n)
    ts.sort()
    CTX["spread"] = ts[len(ts) // 2] / ts[0]
    return ts[0]


def best_auto(fn, floor=0.05):
    """As best(), the number of calls chosen so that one batch lasts at least `floor` seconds."""
    fn()
    fn()
    t = time.perf_counter()
    fn()
    one = time.perf_counter() - t
    floor = floor / 3 if ARGS.quick else floor
    return best(fn, max(2, min(20000, int(floor / max(one, 1e-7)))))


def train_steps(name, step, variables, batches, n, n_check, unit="steps/s", tolerances={}):
    """Runs n_check steps from the initial values and reports losses; then times n steps, best of several.

    step(*batch) returns the loss, variables() what is trained, as arrays. tolerances, by check, replace 1e-3.
    """
    import numpy as np
    before = [np.array(a) for a in variables()]
    losses = [float(step(*batches[k % len(batches)])) for k in range(n_check)]
    delta = math.sqrt(sum(float(np.sum((np.asarray(a).astype(np.float64) - b) ** 2)) for a, b in zip(variables(), before)))
    del before
    for what, value, n_steps in (("loss_first", losses[0], 1), ("loss_last", losses[-1], n_check), ("param_delta", delta, n_check)):
        loose = {"tolerance": tolerances[what]} if what in tolerances else {}
        check(name + what, value, steps=n_steps, **loose)
    if not n:
        return
    k = [n_check]

    def one():
        step(*batches[k[0] % len(batches)])
        k[0] += 1
    n = steps(n)
    for _ in range(n):
        one()
    t = best(one, n)
    emit(name + "steps_per_s", 1.0 / t, unit, steps=n, ms_per_step=round(t * 1e3, 4))


def answer_times(name, answer, values, n):
    """Workload 30: the check and the time of answer(*values), an array, for a batch of n."""
    name = "%s_b%d" % (name, n)
    check_result(name, answer(*values))
    answer(*values)
    t = best(lambda: answer(*values), steps(5) if n == 1 else 1, None if n == 1 else 4)
    emit(name + ".ms", t * 1e3, "ms")


def cpu_busy():
    """(busy seconds of the whole machine, seconds used by this process and its finished children)"""
    f = open("/proc/stat").readline().split()
    v = [int(x) for x in f[1:9]]
    t = os.times()
    return (sum(v) - v[3] - v[4]) / os.sysconf("SC_CLK_TCK"), t[0] + t[1] + t[2] + t[3]


def wait_quiet(limit):
    end = time.time() + limit
    while time.time() < end:
        b, t = cpu_busy()[0], time.time()
        time.sleep(1.5)
        if (cpu_busy()[0] - b) / (time.time() - t) < 0.1:
            return


def supervise(name, th, env):
    """Runs one child, with the arguments of this process and its own; 0 when it ended well."""
    cmd = [sys.executable, os.path.abspath(sys.argv[0])] + sys.argv[1:] + ["--child", name, "--threads", th]
    CTX.update(workload=name, threads=int(th))
    for _ in range(2 if ARGS.quiet else 1):
        wait_quiet(ARGS.quiet)
        t0, (b0, o0) = time.time(), cpu_busy()
        p = subprocess.Popen(cmd, env=env, stdin=subprocess.DEVNULL)
        try:
            rc = p.wait(ARGS.timeout)
        except subprocess.TimeoutExpired:
            rc = "timeout"
        finally:
            if p.poll() is None:
                p.kill()
                p.wait()
        b1, o1 = cpu_busy()
        wall = time.time() - t0
        other = max(0.0, (b1 - b0) - (o1 - o0)) / wall
        row("meta.other_cpu", round(other, 3), "cores", {"seconds": round(wall, 1), "exit": rc})
        if rc != 0 or other < 0.1:
            break
    return int(rc != 0)


def environment(config):
    import platform
    model = next((ln.split(":")[1].strip() for ln in open("/proc/cpuinfo") if ln.startswith("model name")), "")
    flags = next((ln.split(":")[1].split() for ln in open("/proc/cpuinfo") if ln.startswith("flags")), [])
    print(json.dumps({"workload": "00-environment", "metric": "meta.cpus", "value": len(os.sched_getaffinity(0)), "unit": "",
                      "config": {"impl": CTX["impl"], "cpu": model, "isa": [f for f in ("avx2", "avx512f", "avx512_bf16", "amx_tile") if f in flags],
                                 "python": platform.python_version(), **config}}), flush=True)


def arguments(description):
    ap = argparse.ArgumentParser(description=description)
    ap.add_argument("--only", help="workloads, by number or start of name, separated by commas: 1,3,08,12-distributed")
    ap.add_argument("--threads", default="1,2", help="thread settings, separated by commas")
    ap.add_argument("--repeat", type=int, default=15, help="repeats of each measurement; the best counts")
    ap.add_argument("--quick", action="store_true", help="a tenth of the steps")
    ap.add_argument("--kernel", help="8, 26, 30, 32: only kernels whose name contains one of these, separated by commas")
    ap.add_argument("--quiet", type=float, default=0, help="wait up to so many seconds for an idle machine before each child, and once more after a disturbed one")
    ap.add_argument("--timeout", type=float, default=1200, help="seconds for one (workload, threads) pair")
    ap.add_argument("--child", help=argparse.SUPPRESS)
    return ap


def run(workloads, impl, start=None, env=None, about={}):
    """Runs what ARGS ask for. start(threads) is called in a child before its workload; about is told of the environment."""
    CTX["impl"] = impl
    if ARGS.child:
        CTX["workload"], CTX["threads"] = ARGS.child, int(ARGS.threads)
        if start:
            start(CTX["threads"])
        return dict(workloads)[ARGS.child]()
    want = None
    if ARGS.only:
        want = [w.zfill(2) if w.isdigit() else w for w in ARGS.only.split(",")]
    else:
        environment(about)
    bad = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no child outlives this process
    for name, _ in workloads:
        if want and not any(name.startswith(w) for w in want):
            continue
        for th in ARGS.threads.split(","):
            bad += supervise(name, th, env)
    return 1 if bad else 0
