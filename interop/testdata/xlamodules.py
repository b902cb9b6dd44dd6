"""Saves a SavedModel in DIR whose signatures call modules of FILE, the graph of cases of
tf/ops/xla. For a case NAME, signature NAME computes, NAME_in has inputs, and NAME_want
what TensorFlow computes of them.

    python xlamodules.py FILE DIR
"""
import gzip
import sys

import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops

CASES = ["mlpp", "mlp", "transformerp", "lstmp", "cnnp", "einsump", "red_p", "reshapep", "nested", "switch3", "binary_f32", "binary_i32", "index", "uniform"]

graph = tf.compat.v1.GraphDef()
with gzip.open(sys.argv[1]) as f:
    graph.ParseFromString(f.read())
nodes = {n.name: n for n in graph.node}


def constants(name, prefix):
    """Returns the values of constants NAME/PREFIX_0, ... by y_0, ..."""
    out = {}
    while f"{name}/{prefix}_{len(out)}" in nodes:
        n = nodes[f"{name}/{prefix}_{len(out)}"]
        out["y_%d" % len(out)] = tf.constant(tf.make_ndarray(n.attr["value"].tensor))
    return out


def shape(s):
    return None if s.unknown_rank else [d.size if d.size >= 0 else None for d in s.dim]


def call(name):
    """Returns a function that calls the module of a case, and specs of its arguments."""
    a = nodes[name + "/call"].attr
    attrs = dict(version=a["version"].i, module=a["module"].s, Tout=[tf.DType(t) for t in a["Tout"].list.type],
                 Sout=[shape(s) for s in a["Sout"].list.shape], platforms=[s.decode() for s in a["platforms"].list.s])
    specs = {}
    while f"{name}/x_{len(specs)}" in nodes:
        x = nodes[f"{name}/x_{len(specs)}"].attr
        key = "y_%d" % len(specs)
        specs[key] = tf.TensorSpec(shape(x["shape"].shape), tf.DType(x["dtype"].type), name=key)

    def f(**xs):
        ys = gen_xla_ops.xla_call_module(args=[xs["y_%d" % i] for i in range(len(xs))], **attrs)
        return {"y_%d" % i: y for i, y in enumerate(ys)}

    return tf.function(f).get_concrete_function(**specs)


def giving(values):
    """Returns a function that returns constants."""
    return tf.function(lambda: {k: tf.constant(v.numpy()) for k, v in values.items()}).get_concrete_function()


signatures = {}
for name in CASES:
    f = signatures[name] = call(name)
    given = constants(name, "in")
    computed = f(**given)
    for end, values in (("_in", given), ("_want", computed)):
        signatures[name + end] = giving(values)
module = tf.Module()
module.functions = list(signatures.values())
tf.saved_model.save(module, sys.argv[2], signatures=signatures)
print(" ".join(CASES))
