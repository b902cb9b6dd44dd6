"""Runs the samples that `go test ./tf/ops -export DIR` wrote, in TensorFlow.

    python golden.py DIR

writes golden.bin (results, errors and gradients) and signatures.bin (op
definitions) beside this file. Needs tensorflow-cpu==2.21.0.
"""

import gzip
import json
import os
import re
import struct
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import op_def_pb2
from tensorflow.core.protobuf import named_tensor_pb2
from tensorflow.python.framework import op_def_registry

tf1 = tf.compat.v1
here = os.path.dirname(os.path.abspath(__file__))


def load(directory):
    with open(os.path.join(directory, "cases.json")) as f:
        cases = json.load(f)
    graph_def = tf1.GraphDef()
    with open(os.path.join(directory, "graph.pb"), "rb") as f:
        graph_def.ParseFromString(f.read())
    return cases, graph_def


def import_cases(cases, graph_def):
    """Imports case by case, to find out which TensorFlow refuses to build."""
    parts = {}
    for node in graph_def.node:
        parts.setdefault(node.name.split("/")[0], []).append(node)
    for c in list(cases):
        part = tf1.GraphDef(versions=graph_def.versions, library=graph_def.library)
        part.node.extend(parts[c["outputs"][0].split("/")[0]])
        try:
            tf.import_graph_def(part, name="")
        except ValueError as e:
            print(c["id"], "is refused:", e)
            cases.remove(c)


def run(session, fetches):
    """Fetches all at once; on an error in halves, to find out which fail."""
    if not fetches:
        return {}
    try:
        return dict(zip(fetches, session.run(fetches)))
    except tf.errors.OpError as e:
        if len(fetches) == 1:
            return {fetches[0]: e}
    half = len(fetches) // 2
    return {**run(session, fetches[:half]), **run(session, fetches[half:])}


def message(error):
    """The kernel's own words: the line before the one that names the node."""
    lines = error.message.split("\n")
    for i, line in enumerate(lines):
        if "{{node" in line:
            return "\n".join(lines[i - 1 : i])
    return lines[0]


def weights(value):
    i = np.arange(np.size(value)).reshape(np.shape(value))
    return (i * 7 % 11 / 4.0 - 1).astype(np.asarray(value).dtype)


def gradients(graph, case, values):
    ys = [graph.get_tensor_by_name(n) for n in case["grad_of"]]
    xs = [graph.get_tensor_by_name(n) for n in case["inputs"]]
    with graph.as_default():
        return tf1.gradients(ys, xs, grad_ys=[tf.constant(weights(values[y.name])) for y in ys])


def main(directory):
    cases, graph_def = load(directory)
    signatures = [c["signature"] for c in cases if c["signature"]]
    cases = [c for c in cases if not c["signature"]]
    graph = tf.Graph()
    with graph.as_default():
        import_cases(cases, graph_def)
    config = tf1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    config.graph_options.optimizer_options.opt_level = -1
    out = []

    def put(name, value):
        p = named_tensor_pb2.NamedTensorProto(name=name, tensor=tf.make_tensor_proto(value))
        out.append(p.SerializeToString(deterministic=True))

    with tf1.Session(graph=graph, config=config) as session:
        values = run(session, [n for c in cases if not c["fails"] for n in c["outputs"]])
        for c in cases:
            if c["fails"]:
                failure = run(session, [c["outputs"][0]])[c["outputs"][0]]
                if not isinstance(failure, tf.errors.OpError):
                    print(c["id"], "does not fail:", failure)
                    continue
                put(c["id"] + "!error", re.sub(r"\bc\d+/", "", message(failure)))
                continue
            for k, name in enumerate(c["outputs"]):
                if isinstance(values[name], tf.errors.OpError):
                    print(c["id"], "fails:", message(values[name]))
                    continue
                put("%s:%d" % (c["id"], k), values[name])
    grads = {}
    for c in cases:
        if c["inputs"] and not any(isinstance(values[n], tf.errors.OpError) for n in c["grad_of"]):
            grads[c["id"]] = gradients(graph, c, values)
    # Another session: one whose graph grows keeps all its earlier versions.
    with tf1.Session(graph=graph, config=config) as session:
        with graph.as_default():
            dense = {i: [None if g is None else tf.convert_to_tensor(g) for g in gs] for i, gs in grads.items()}
        values = run(session, [g.name for gs in dense.values() for g in gs if g is not None])
        for i, gs in dense.items():
            for k, g in enumerate(gs):
                value = "none" if g is None else values[g.name]
                if isinstance(value, tf.errors.OpError):
                    print(i, "gradient fails:", message(value))
                    continue
                put("%s:grad%d" % (i, k), value)
    write("golden.bin", b"".join(struct.pack("<I", len(p)) + p for p in out))
    ops = op_def_pb2.OpList(op=[d for d in map(op_def_registry.get, signatures) if d])
    for d in ops.op:
        d.ClearField("description")
    write("signatures.bin", ops.SerializeToString(deterministic=True))


def write(name, data):
    with open(os.path.join(here, name), "wb") as f:
        f.write(gzip.compress(data, 9, mtime=0))


main(sys.argv[1])
