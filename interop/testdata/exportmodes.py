"""Loads the MetaGraphs of training and evaluation of an estimator's export, and trains.

    python exportmodes.py DIR

It prints the loss of evaluation, and the losses of training before and after five
steps.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

v1 = tf.compat.v1
v1.disable_eager_execution()


def feeds(signature):
    values = {"x": [[1.0], [2.0], [3.0]], "y": [2.0, 4.0, 7.0]}
    return {signature.inputs[k].name: v for k, v in values.items()}


for tag in ["eval", "train"]:
    with tf.Graph().as_default() as g, v1.Session() as s:
        signature = v1.saved_model.loader.load(s, [tag], sys.argv[1]).signature_def[tag]
        loss = lambda: print("%.5f" % s.run(signature.outputs["loss"].name, feeds(signature)))
        loss()
        if tag == "train":
            for _ in range(5):
                s.run(g.get_collection("saved_model_train_op")[0], feeds(signature))
            loss()
