"""Writes golden.txt: what TensorFlow computes, one case a line.

Run with the TensorFlow release that the tests name:
    python golden.py > golden.txt
A line is a case, " | ", and the values: floating-point numbers as their bits in
hexadecimal, integers in decimal.
"""
import hashlib
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import random_seed
from tensorflow.python.ops import gen_stateless_random_ops_v2 as v2

v1 = tf.compat.v1
raw = tf.raw_ops
SEEDS = [(1, 3), (-5, 1 << 40), (0, 7)]
FLOATS = [tf.float32, tf.float64, tf.float16, tf.bfloat16]
CONTINUOUS = ["RandomUniform", "RandomStandardNormal", "TruncatedNormal"]
STATELESS = ["StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2"]
INTS = [tf.int32, tf.int64]


def text(a):
    a = np.asarray(a).reshape(-1)
    if a.dtype.kind in "iu":
        return " ".join(str(x) for x in a)
    bits = {2: np.uint16, 4: np.uint32, 8: np.uint64}[a.dtype.itemsize]
    return " ".join("%0*x" % (2 * a.dtype.itemsize, x) for x in a.view(bits))


def show(case, values):
    print(f"{case} | {text(values)}")


def twice(case, build):
    """Shows two runs of the outputs in one session."""
    with tf.Graph().as_default(), v1.Session() as s:
        outs = build()
        for run in (1, 2):
            for i, v in enumerate(s.run(outs)):
                show(f"{case} out={i} run={run}", v)


def stateful():
    for seed, seed2 in SEEDS:
        a = dict(seed=seed, seed2=seed2)
        at = f"seed={seed} seed2={seed2}"
        for d in FLOATS:
            for op in CONTINUOUS:
                twice(f"{op} {d.name} {at}", lambda: [getattr(raw, op)(shape=[21], dtype=d, **a)])
        for d in INTS:
            for lo, hi in ((-10, 1000), (d.min, d.max), (-1, 0)):
                twice(f"RandomUniformInt {d.name} [{lo},{hi}) {at}",
                      lambda: [raw.RandomUniformInt(shape=[21], minval=tf.constant(lo, d), maxval=tf.constant(hi, d), **a)])
        for n in (0, 1, 2, 20, 33):
            twice(f"RandomShuffle {n} {at}", lambda: [raw.RandomShuffle(value=tf.range(n), **a)])
        logits = [[0, 1, 2, -1, 0.5], [3, 0, 0, -np.inf, 1], [np.inf, np.nan, -np.inf, np.nan, np.inf]]
        for d in (tf.float32, tf.float64):
            twice(f"Multinomial {d.name} {at}",
                  lambda: [raw.Multinomial(logits=tf.constant(logits, d), num_samples=21, **a)])
        samplers(a, at)


def samplers(a, at):
    for op in ("UniformCandidateSampler", "LogUniformCandidateSampler"):
        for unique in (True, False):
            for size in (32, 100):
                twice(f"{op} {size} unique={int(unique)} {at}",
                      lambda: [getattr(raw, op)(true_classes=[[0, 5]], num_true=2, num_sampled=20, unique=unique, range_max=size, **a)[i]
                               for i in (0, 1, 2)])


def long():
    for d, n in ((tf.float32, 1000001), (tf.float64, 200001)):
        for op in CONTINUOUS:
            long_output(op, d, n)
    long_output("RandomUniform", tf.float32, 4000001)


def long_output(op, d, n):
    with tf.Graph().as_default(), v1.Session() as s:
        v = s.run(getattr(raw, op)(shape=[n], dtype=d, seed=1, seed2=3))
    show(f"{op} {d.name} last 20 of {n}", v[-20:])
    print(f"{op} {d.name} sha256 of {n} | {hashlib.sha256(v.tobytes()).hexdigest()}")


def stateless():
    for seed in ([1, 2], [-1, 7], [1 << 40, -(1 << 62)]):
        key, counter = v2.stateless_random_get_key_counter(tf.constant(seed, tf.int64))
        at = "seed=%d,%d" % tuple(seed)
        show(f"StatelessRandomGetKeyCounter {at}", np.concatenate([key, counter]))
        a = dict(key=key, counter=counter, alg=1)
        for d in FLOATS:
            for op in STATELESS:
                show(f"{op} {d.name} {at}", getattr(raw, op)(shape=[21], dtype=d, **a))
        for d in (tf.int32, tf.int64, tf.uint32, tf.uint64):
            show(f"StatelessRandomUniformFullIntV2 {d.name} {at}",
                 raw.StatelessRandomUniformFullIntV2(shape=[21], dtype=d, **a))
        for d in INTS:
            show(f"StatelessRandomUniformIntV2 {d.name} [7,1000) {at}",
                 raw.StatelessRandomUniformIntV2(shape=[21], minval=tf.constant(7, d), maxval=tf.constant(1000, d), **a))
        show(f"StatelessShuffle 20 {at}", raw.StatelessShuffle(value=tf.range(20), **a))
        show(f"StatelessMultinomial {at}",
             raw.StatelessMultinomial(logits=[[0., 1, 2, -1, .5]], num_samples=21, seed=tf.constant(seed, tf.int64)))


def carry():
    """A counter whose low half runs over."""
    a = dict(key=tf.constant([2**64 - 1], tf.uint64), counter=tf.constant([2**64 - 2, 5], tf.uint64), alg=1)
    show("carry uniform", raw.StatelessRandomUniformFullIntV2(shape=[21], dtype=tf.uint32, **a))
    show("carry truncated", raw.StatelessTruncatedNormalV2(shape=[21], dtype=tf.float32, **a))


def queues():
    with tf.Graph().as_default(), v1.Session() as s:
        q = raw.RandomShuffleQueueV2(component_types=[tf.int32], shapes=[[]], capacity=100, seed=1, seed2=3)
        put = raw.QueueEnqueueManyV2(handle=q, components=[tf.range(20)])
        get = raw.QueueDequeueV2(handle=q, component_types=[tf.int32])[0]
        for run in (1, 2):
            s.run(put)
            show(f"RandomShuffleQueue 20 run={run}", [s.run(get) for _ in range(20)])


def datasets():
    tf.random.set_seed(1)
    for again in (True, False):
        d = tf.data.Dataset.range(20).shuffle(8, seed=3, reshuffle_each_iteration=again)
        for epoch, run in enumerate(np.split(np.array(list(d.repeat(3).as_numpy_iterator())), 3)):
            show(f"Dataset.shuffle 20 buffer=8 reshuffle={int(again)} epoch={epoch + 1}", run)


def seeds():
    for graph in (None, 0, 5, -3, 2**31 - 1, 2**40):
        for op in (None, 0, 9, -1, 2**31 - 1, 2**35 + 1):
            with tf.Graph().as_default():
                v1.set_random_seed(graph)
                for k in range(2):
                    pair = random_seed.get_seed(op)
                    show(f"get_seed graph={graph} op={op} call={k}", [x or 0 for x in pair])
    for seed in (0, 1, -1, 2**31, 2**40 + 7):
        tf.random.set_seed(seed)
        drawn = [random_seed.get_seed(None)[1] for _ in range(700)]
        show(f"eager set_seed({seed})", drawn[:5])
        show(f"eager set_seed({seed}) from 695", drawn[695:])


for part in (stateful, long, stateless, carry, queues, datasets, seeds):
    part()
