"""Loads the SavedModel of a directory, as saved by Gorge, in TensorFlow's ways and Keras'.

    python readsaved.py DIR [TAG...]

With tags it runs the MetaGraph of each, and nothing else.
"""
import subprocess
import sys

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.tools import saved_model_utils

v1 = tf.compat.v1
d = sys.argv[1]


def show(v):
    print(" ".join(str(x) for x in np.asarray(v).ravel()))


for tag in sys.argv[2:]:
    with v1.Session(graph=tf.Graph()) as s:
        show(s.run(v1.saved_model.load(s, [tag], d).signature_def["weights"].outputs["w"].name))
if sys.argv[2:]:
    sys.exit()
with v1.Session(graph=tf.Graph()) as s:
    sig = v1.saved_model.load(s, ["serve"], d).signature_def["serving_default"]
    show(s.run(sig.outputs["y"].name, {sig.inputs["x"].name: [b"one", b"two"], sig.inputs["k"].name: 2.0}))
    show(tf.make_ndarray(sig.defaults["k"]))
    assert len(v1.global_variables()) == 3
    print(len(s.graph.as_graph_def().library.function), "function")
    defs = v1.saved_model.load(s, ["serve"], d).signature_def
    for method, outputs in (("classify", ["classes", "scores"]), ("regress", ["outputs"])):
        sig = defs[method]
        print(sig.method_name)
        for key in outputs:
            show(s.run(sig.outputs[key].name, {sig.inputs["inputs"].name: [b"a", b"b"]}))
f = tf.saved_model.load(d).signatures
show(f["serving_default"](x=tf.constant(["one", "two"]), k=tf.constant(2.0))["y"])
for _ in range(3):
    n = f["count"]()["count"]
show(n)
show(keras.layers.TFSMLayer(d, call_endpoint="classify")(tf.constant(["a"]))["scores"])
print(tf.saved_model.experimental.read_fingerprint(d).saved_model_checksum > 0)
print(saved_model_utils.get_meta_graph_def(d, "serve").meta_info_def.stripped_default_attrs)
print(tf.saved_model.contains_saved_model(d))
out = subprocess.run([sys.executable, "-m", "tensorflow.python.tools.saved_model_cli", "run", "--dir", d, "--tag_set", "serve", "--signature_def",
                      "serving_default", "--input_exprs", "x=[b'zero'];k=3.0"], capture_output=True, text=True)
print(" ".join(out.stdout.strip().splitlines()[-1].split()))
