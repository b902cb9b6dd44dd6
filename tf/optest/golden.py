"""Runs the samples that `go test ./PACKAGE -run TestOps/Export -export DIR` wrote, in TensorFlow.

    python golden.py DIR PACKAGE

writes, for each family of samples, PACKAGE/testdata/golden/FAMILY.bin (results,
errors, gradients and op definitions). `-family REGEXP` beside -export limits
both to some families. Needs tensorflow-cpu==2.21.0.
"""

import gzip
import json
import os
import re
import struct
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
# oneDNN's kernels end the process for bad inputs that TensorFlow's refuse. Only
# families of ops that TensorFlow has no other code for are run with it.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import named_tensor_pb2
from tensorflow.python.framework import op_def_registry
from tensorflow.python.ops import map_ops  # declares gradients that nothing else does

tf1 = tf.compat.v1


def load(directory):
    with open(os.path.join(directory, "cases.json")) as f:
        cases = json.load(f)
    graph_def = tf1.GraphDef()
    with open(os.path.join(directory, "graph.pb"), "rb") as f:
        graph_def.ParseFromString(f.read())
    return cases, graph_def


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


class Recorder:
    """Runs one case at a time, each in a graph and session of its own."""

    def __init__(self, graph_def):
        self.library = graph_def.library
        self.versions = graph_def.versions
        self.out = []
        self.parts = {}
        for node in graph_def.node:
            self.parts.setdefault(node.name.split("/")[0], []).append(node)
        self.config = tf1.ConfigProto()
        self.config.graph_options.rewrite_options.disable_meta_optimizer = True
        self.config.graph_options.optimizer_options.opt_level = -1

    def put(self, name, value):
        p = named_tensor_pb2.NamedTensorProto(name=name, tensor=tf.make_tensor_proto(value))
        self.out.append(p.SerializeToString(deterministic=True))

    def signature(self, op):
        definition = op and op_def_registry.get(op)
        if definition:
            definition.ClearField("description")
            self.put("signature " + op, definition.SerializeToString(deterministic=True))

    def record(self, case):
        part = tf1.GraphDef(versions=self.versions, library=self.library)
        part.node.extend(self.parts[case["outputs"][0].split("/")[0]])
        with tf.Graph().as_default() as graph:
            try:
                tf.import_graph_def(part, name="")
            except (ValueError, tf.errors.UnimplementedError) as e:
                print(case["id"], "is refused:", e)
                return
            try:
                values = self.results(case, graph)
                if values is not None and case["inputs"]:
                    self.gradients(case, graph, values)
            except tf.errors.OpError as e:
                print(case["id"], "fails:", message(e))
                self.put(case["id"] + "!refused", message(e))

    def results(self, case, graph):
        with tf1.Session(graph=graph, config=self.config) as session:
            if not case["fails"]:
                values = session.run(case["outputs"])
                for k, value in enumerate(values):
                    self.put("%s:%d" % (case["id"], k), value)
                return dict(zip(case["outputs"], values))
            try:
                session.run(case["outputs"][0])
                print(case["id"], "does not fail")
            except tf.errors.OpError as e:
                self.put(case["id"] + "!error", re.sub(r"\bc\d+/", "", message(e)))

    def gradients(self, case, graph, values):
        ys = [graph.get_tensor_by_name(n) for n in case["grad_of"]]
        xs = [graph.get_tensor_by_name(n) for n in case["inputs"]]
        seeds = [tf.constant(weights(values[y.name])) for y in ys]
        try:
            grads = [None if g is None else tf.convert_to_tensor(g) for g in tf1.gradients(ys, xs, grad_ys=seeds)]
        except (TypeError, ValueError, LookupError, NotImplementedError) as e:
            print(case["id"], "has no gradient:", e)
            self.put(case["id"] + "!nogradient", str(e))
            return
        with tf1.Session(graph=graph, config=self.config) as session:
            try:
                dense = iter(session.run([g for g in grads if g is not None]))
            except tf.errors.OpError as e:
                print(case["id"], "has no gradient:", message(e))
                self.put(case["id"] + "!nogradient", message(e))
                return
            for k, g in enumerate(grads):
                self.put("%s:grad%d" % (case["id"], k), "none" if g is None else next(dense))


def main(directory, package):
    cases, graph_def = load(directory)
    families = {}
    for case in cases:
        families.setdefault(case["family"], []).append(case)
    for family, members in families.items():
        recorder = Recorder(graph_def)
        for case in members:
            if not case["signature"]:
                recorder.record(case)
        for op in sorted(c["signature"] for c in members):
            recorder.signature(op)
        write(package, family, b"".join(struct.pack("<I", len(p)) + p for p in recorder.out))


def write(package, family, data):
    folder = os.path.join(package, "testdata", "golden")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, family + ".bin"), "wb") as f:
        f.write(gzip.compress(data, 9, mtime=0))


source, target = (os.path.abspath(a) for a in sys.argv[1:3])
with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)  # where samples write the files that they read
    main(source, target)
    os.chdir(target)
