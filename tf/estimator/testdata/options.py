"""Writes options.json: what the heads of TensorFlow 1.15 make of sparse labels, losses of
a program and metrics of single classes, after 20 steps on one layer.

It needs Python 3.7 with tensorflow==1.15:

    python options.py > options.json
"""
import json
import os
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow.contrib import estimator as heads

tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
N, STEPS = 12, 20
WORDS = ["red", "green", "blue"]
i = np.arange(N)
X = np.stack([np.sin(i), np.cos(i * 1.3)], 1).astype(np.float32)
WEIGHT = (1 + i % 3).astype(np.float32)
# The classes of each example: none, one or two of three, of which one may be there twice.
TAGS = [[], [0], [1, 2], [2, 2], [0, 1], [2], [1], [0, 2], [], [1], [2, 0], [0]]


def sparse(values, dtype):
    at = [[r, c] for r, row in enumerate(TAGS) for c in range(len(row))]
    flat = [values[v] for row in TAGS for v in row]
    return tf.SparseTensor(np.array(at, np.int64), tf.constant(flat, dtype), [N, 2])


def dense():
    out = np.zeros((N, 3), np.int64)
    for r, row in enumerate(TAGS):
        out[r, row] = 1
    return out


absolute = lambda labels, logits: tf.abs(tf.cast(labels, tf.float32) - logits)
hinge = lambda labels, logits: tf.nn.relu(1 - (2 * tf.cast(labels, tf.float32) - 1) * logits)
weighted = lambda labels, logits, features: tf.reshape(features["weight"], [-1, 1]) * tf.reduce_sum(hinge(labels, logits), 1, keepdims=True)
margin = lambda labels, logits: tf.reduce_sum(hinge(tf.one_hot(tf.reshape(labels, [-1]), 3), logits), 1, keepdims=True)
counts = (i % 4).astype(np.float32)
CASES = {
    "dense": (lambda: heads.multi_label_head(3, weight_column="weight", classes_for_class_based_metrics=[0, 2]), dense),
    "ids": (lambda: heads.multi_label_head(3, thresholds=[0.25, 0.5], classes_for_class_based_metrics=[1]), lambda: sparse([0, 1, 2], tf.int64)),
    "ids32": (lambda: heads.multi_label_head(3), lambda: sparse([0, 1, 2], tf.int32)),
    "words": (lambda: heads.multi_label_head(3, label_vocabulary=WORDS, weight_column="weight", classes_for_class_based_metrics=["blue", "red"], name="tags"), lambda: sparse(WORDS, tf.string)),
    "own loss of labels": (lambda: heads.multi_label_head(3, loss_fn=weighted), dense),
    "poisson": (lambda: heads.poisson_regression_head(), lambda: counts),
    "poisson of two": (lambda: heads.poisson_regression_head(label_dimension=2, weight_column="weight"), lambda: np.stack([counts, 3 - counts], 1)),
    "logistic": (lambda: heads.logistic_regression_head(weight_column="weight"), lambda: counts / 4),
    "absolute": (lambda: heads.regression_head(label_dimension=2, loss_fn=absolute, inverse_link_fn=tf.nn.softplus), lambda: np.stack([counts, 3 - counts], 1)),
    "hinge": (lambda: heads.binary_classification_head(loss_fn=hinge), lambda: (i % 5 < 2).astype(np.int64)),
    "margin": (lambda: heads.multi_class_head(3, loss_fn=margin, weight_column="weight"), lambda: (i * i % 3).astype(np.int64)),
}


def run(make, labels):
    def model(features, labels, mode):
        head = make()
        n = head.logits_dimension
        w = tf.compat.v1.get_variable("w", initializer=(np.sin(np.arange(2 * n)) * 0.3).astype(np.float32).reshape(2, n))
        step = lambda loss: tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss, tf.compat.v1.train.get_global_step())
        return head.create_estimator_spec(features, mode, tf.matmul(features["x"], w), labels=labels, train_op_fn=step)

    def input_fn():
        features = {"x": tf.constant(X), "weight": tf.constant(WEIGHT)}
        y = labels()
        return features, y if isinstance(y, tf.SparseTensor) else tf.constant(y)

    e = tf.estimator.Estimator(model, tempfile.mkdtemp())
    e.train(input_fn, steps=STEPS)
    metrics = {k: float(v) for k, v in e.evaluate(input_fn, steps=1).items()}
    first = next(e.predict(input_fn))
    return {
        "metrics": metrics,
        "w": [float(v) for v in e.get_variable_value("w").ravel()],
        "prediction": {k: [float(x) for x in np.ravel(v)] for k, v in first.items() if np.asarray(v).dtype.kind == "f"},
    }


json.dump({name: run(*case) for name, case in CASES.items()}, sys.stdout, indent=1, sort_keys=True)
