"""Writes rnn.json: losses, metrics, predictions and variables of the recurrent
estimators of TensorFlow 2.15.

It needs Python 3.11 with tensorflow-cpu==2.15.1 and tensorflow-estimator==2.15.0:

    python rnn.py > rnn.json
"""
import json
import logging
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
from tensorflow_estimator.python.estimator.head import sequential_head

logging.disable(logging.WARNING)
v1 = tf.compat.v1
fc = tf.feature_column
STEPS = 20
LENGTHS = [4, 1, 3]
WORDS = ["a", "b", "c"]


def sparse(values):
    at = [[i, j] for i, n in enumerate(LENGTHS) for j in range(n)]
    return tf.SparseTensor(at, values[: len(at)], [3, 4])


def examples(label):
    i = np.arange(12)
    features = {
        "word": sparse((i * i % 5).astype(np.int64)),
        "num": sparse(np.sin(i * 1.3).astype(np.float32)),
        "context": np.array([[1.0], [-0.5], [0.25]], np.float32),
        "weight": np.array([1.0, 2.0, 0.5], np.float32),
        "weights": (1 + i % 3).astype(np.float32).reshape(3, 4),
    }
    grid = i.reshape(3, 4)
    labels = {
        "one": np.array([0, 1, 1], np.int64),
        "classes": np.array([2, 0, 1], np.int64),
        "number": np.array([0.5, -1.0, 2.0], np.float32),
        "steps": (grid % 2).astype(np.int64),
        "words": np.array(WORDS)[grid * grid % 3],
        "numbers": np.stack([grid * 0.1, np.cos(grid)], 2).astype(np.float32),
        "sparse": sparse((i % 3).astype(np.int64)),
    }
    return features, labels[label]


def input_fn(label):
    return lambda: tf.data.Dataset.from_tensors(examples(label)).repeat()


def initial(name, shape):
    n, seed = int(np.prod(shape)), sum(ord(c) for c in name)
    return (np.sin(np.arange(n) * 1.7 + seed % 17) * 0.3).astype(np.float32).reshape(shape)


class Watch(v1.train.SessionRunHook):
    def __init__(self):
        self.losses = []

    def begin(self):
        self.sets = [v.assign(initial(v.op.name, v.shape.as_list())) for v in v1.trainable_variables()]
        self.loss = v1.get_default_graph().get_operation_by_name("loss").inputs[1]

    def after_create_session(self, session, coord):
        session.run(self.sets)

    def before_run(self, context):
        return v1.train.SessionRunArgs(self.loss)

    def after_run(self, context, values):
        self.losses.append(float(values.results))


def columns():
    return [fc.embedding_column(fc.sequence_categorical_column_with_identity("word", 5), 2), fc.sequence_numeric_column("num")], [fc.numeric_column("context")]


def classifier(label, **kw):
    sequence, context = columns()
    return label, lambda d: tf.estimator.experimental.RNNClassifier(sequence, context, model_dir=d, **kw)


def estimator(label, head, **kw):
    sequence, context = columns()
    return label, lambda d: tf.estimator.experimental.RNNEstimator(head, sequence, context, model_dir=d, **kw)


MODELS = {
    "simple": classifier("one", units=[4]),
    "lstm": classifier("one", units=[4], cell_type="lstm", weight_column="weight"),
    "gru": classifier("classes", units=[4], cell_type="gru", n_classes=3),
    "stacked": classifier("one", units=[4, 3], cell_type="lstm"),
    "simple_steps": classifier("steps", units=[4], cell_type="simple_rnn", return_sequences=True),
    "lstm_steps": classifier("steps", units=[4, 3], cell_type="lstm", return_sequences=True, weight_column="weights"),
    "gru_steps": classifier("words", units=[4], cell_type="gru", return_sequences=True, n_classes=3, label_vocabulary=WORDS),
    "sparse_steps": classifier("sparse", units=[4], cell_type="gru", return_sequences=True, n_classes=3),
    "sum": classifier("one", units=[4], loss_reduction=tf.losses.Reduction.SUM),
    "regression": estimator("number", tf.estimator.RegressionHead(), units=[4], cell_type="gru", optimizer=lambda: tf.keras.optimizers.legacy.SGD(0.1)),
    "regression_steps": estimator("numbers", sequential_head.SequentialHeadWrapper(tf.estimator.RegressionHead(2, weight_column="weights"), "mine", ["weights"]), units=[4], cell_type="lstm", return_sequences=True),
}


def array(x):
    x = np.asarray(x)
    return x.reshape(-1).tolist() if x.dtype.kind in "fi" else [int(v) for v in x.reshape(-1)] if x.dtype.kind == "b" else [v.decode() for v in x.reshape(-1)]


def model(label, make):
    with tempfile.TemporaryDirectory() as d:
        e, watch = make(d), Watch()
        e.train(input_fn(label), steps=STEPS, hooks=[watch])
        metrics = e.evaluate(input_fn(label), steps=1)
        predictions = []
        for p in e.predict(input_fn(label)):
            predictions.append({k: array(v) for k, v in p.items()})
            if len(predictions) == 3:
                break
        return {
            "losses": watch.losses,
            "metrics": {k: float(v) for k, v in metrics.items() if not k.startswith("auc")},
            "predictions": predictions,
            "variables": {n: list(e.get_variable_value(n).shape) for n in e.get_variable_names() if not n.startswith("training/")},
        }


print(json.dumps({k: model(*m) for k, m in MODELS.items()}, indent=1, sort_keys=True))
