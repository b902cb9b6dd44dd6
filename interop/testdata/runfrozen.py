"""Runs frozen graphs: NAME/frozen.pb beside NAME/model, in.npz and out.npz, and prints how far each is off."""
import os
import sys

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def off(got, want):
    """Returns how far got is off, infinitely if strings or shapes differ."""
    if got.shape != want.shape:
        return float("inf")
    if want.dtype.kind == "S":
        return 0.0 if got.astype("S").tolist() == want.tolist() else float("inf")
    return float(np.max(np.abs(got - want)))


root = sys.argv[1]
for name in sys.argv[2:]:
    d = os.path.join(root, name)
    graph = v1.GraphDef()
    with open(os.path.join(d, "frozen.pb"), "rb") as f:
        graph.ParseFromString(f.read())
    with v1.Session(graph=tf.Graph()) as s:
        sig = v1.saved_model.load(s, ["serve"], os.path.join(d, "model")).signature_def["serving_default"]
    feeds, want = np.load(os.path.join(d, "in.npz")), np.load(os.path.join(d, "out.npz"))
    with v1.Session(graph=tf.Graph()) as s:
        tf.import_graph_def(graph, name="")
        if any(n.name == "init_all_tables" for n in graph.node):
            s.run("init_all_tables")
        out = s.run({k: v.name for k, v in sig.outputs.items()}, {sig.inputs[k].name: v for k, v in feeds.items()})
    print(max(off(out[k], want[k]) for k in want.files))
