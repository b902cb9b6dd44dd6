"""Saves the models of the tests of tf/serving, and of interop.

    python make.py DIRECTORY

half/N computes y = a * x + b with a = 0.5 and b = N, by all methods of TensorFlow
Serving: from tensors, and from tf.Example records that have a feature x.
"""
import os
import pathlib
import shutil
import sys

import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()
signature = v1.saved_model.signature_def_utils
info = v1.saved_model.build_tensor_info
PREDICT, CLASSIFY, REGRESS = (f"tensorflow/serving/{m}" for m in ("predict", "classify", "regress"))


def half(where, version):
    with tf.Graph().as_default(), v1.Session() as s:
        a = v1.Variable(0.5, name="a")
        b = v1.Variable(float(version), name="b")
        x = v1.placeholder(tf.float32, [None], "x")
        y = tf.add(a * x, b, name="y")
        k = v1.placeholder(tf.float32, [None], "k")
        z = tf.add(y, k, name="z")
        examples = v1.placeholder(tf.string, [None], "examples")
        parsed = v1.parse_example(examples, {"x": tf.io.FixedLenFeature([1], tf.float32)})["x"]
        out = tf.add(a * parsed, b, name="of_examples")
        labels = tf.strings.as_string(tf.cast(tf.round(out), tf.int32), name="labels")
        s.run(v1.global_variables_initializer())
        builder = v1.saved_model.Builder(str(where / str(version)))
        builder.add_meta_graph_and_variables(s, ["serve"], {
            "serving_default": signature.build_signature_def({"x": info(x)}, {"y": info(y)}, PREDICT),
            "two": signature.build_signature_def({"x": info(x), "k": info(k)}, {"y": info(y), "z": info(z)}, PREDICT),
            "regress": signature.build_signature_def({"inputs": info(examples)}, {"outputs": info(out)}, REGRESS),
            "classify": signature.build_signature_def({"inputs": info(examples)}, {"classes": info(labels), "scores": info(out)}, CLASSIFY),
        }, strip_default_attrs=True)
        builder.save()


if __name__ == "__main__":
    to = pathlib.Path(sys.argv[1]) / "half"
    shutil.rmtree(to, ignore_errors=True)
    os.makedirs(to.parent, exist_ok=True)
    for n in (1, 2):
        half(to, n)
