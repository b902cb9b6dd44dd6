"""Loads the SavedModel of a directory, as saved by Gorge, in both of TensorFlow's ways."""
import subprocess
import sys

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
d = sys.argv[1]


def show(v):
    print(" ".join(str(x) for x in np.asarray(v).ravel()))


with v1.Session(graph=tf.Graph()) as s:
    sig = v1.saved_model.load(s, ["serve"], d).signature_def["serving_default"]
    show(s.run(sig.outputs["y"].name, {sig.inputs["x"].name: [b"one", b"two"], sig.inputs["k"].name: 2.0}))
    show(tf.make_ndarray(sig.defaults["k"]))
    assert len(v1.global_variables()) == 3
f = tf.saved_model.load(d).signatures
show(f["serving_default"](x=tf.constant(["one", "two"]), k=tf.constant(2.0))["y"])
for _ in range(3):
    n = f["count"]()["count"]
show(n)
print(tf.saved_model.experimental.read_fingerprint(d).saved_model_checksum > 0)
print(tf.saved_model.contains_saved_model(d))
out = subprocess.run([sys.executable, "-m", "tensorflow.python.tools.saved_model_cli", "run", "--dir", d, "--tag_set", "serve", "--signature_def",
                      "serving_default", "--input_exprs", "x=[b'zero'];k=3.0"], capture_output=True, text=True)
print(" ".join(out.stdout.strip().splitlines()[-1].split()))
