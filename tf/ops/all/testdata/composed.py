"""Computes what TensorFlow makes of the cases of TestComposed.

Reads a list of {"expr", "in", "grad"} as JSON from standard input, where expr is
Python with inputs a, b, c, ..., and prints a list of {"out", "grad"}.
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf2  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_v2_behavior()


def array(t):
    dtype = tf.as_dtype(t["type"]).as_numpy_dtype
    values = t["values"]
    if t["type"].startswith("complex"):
        values = [complex(re, im) for re, im in values]
    return np.array(values, dtype).reshape(t["shape"])


def number(v):
    if isinstance(v, bytes):
        return v.decode("utf-8", "replace")
    if isinstance(v, complex):
        return [v.real, v.imag]
    if isinstance(v, float) and not np.isfinite(v):
        return repr(v)
    return v


def plain(v):
    v = np.asarray(v)
    wide = v.astype(np.float64) if v.dtype.kind == "V" or v.dtype.itemsize == 2 and v.dtype.kind not in "iu" else v
    return {"type": tf.as_dtype(v.dtype).name, "shape": list(v.shape), "values": [number(x) for x in wide.reshape(-1).tolist()]}


def flat(y):
    if isinstance(y, (tf.SparseTensor, tf.SparseTensorValue)):
        return [y.indices, y.values, y.dense_shape]
    if isinstance(y, (list, tuple)):
        return [z for x in y for z in flat(x)]
    return [tf.convert_to_tensor(y)]


def compute(case):
    with tf.Graph().as_default(), tf.Session() as s:
        arrays = [array(t) for t in case["in"]]
        xs = [tf.placeholder(tf.as_dtype(t["type"]), a.shape) for t, a in zip(case["in"], arrays)]
        names = dict(zip("abcdefgh", xs), tf=tf, tf2=tf2, np=np)
        ys = flat(eval(case["expr"], names))
        floats = [i for i, x in enumerate(xs) if x.dtype.is_floating]
        grads = [None] * len(xs)
        if case["grad"]:
            for i, d in zip(floats, tf.gradients([y for y in ys if y.dtype.is_floating], [xs[i] for i in floats])):
                grads[i] = None if d is None else tf.convert_to_tensor(d)
        feeds = dict(zip(xs, arrays))
        s.run(tf.local_variables_initializer())
        return {
            "out": [plain(v) for v in s.run(ys, feeds)],
            "grad": [None if d is None else plain(s.run(d, feeds)) for d in grads],
        }


def attempt(case):
    try:
        return compute(case)
    except Exception as e:  # the case is wrong, the others should be seen too
        return {"error": str(e)[:300]}


print(json.dumps([attempt(c) for c in json.load(sys.stdin)]))
