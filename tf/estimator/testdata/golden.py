"""Writes golden.json: what TensorFlow's canned estimators compute.

It needs Python 3.11 with tensorflow-cpu==2.15.1 and tensorflow-estimator==2.15.0:

    python golden.py python > golden.json

The argument is the directory for the checkpoint of the model "combined".

Each model trains 200 steps on the same batch, from initial values that are
computed from the variable's name and index, so that another implementation has
the same without a checkpoint.
"""
import glob
import json
import logging
import os
import shutil
import sys
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

logging.disable(logging.WARNING)
v1 = tf.compat.v1
est = v1.estimator
fc = tf.feature_column
N, STEPS = 32, 200


def examples():
    i = np.arange(N)
    age = (18 + (i * 7) % 50).astype(np.float32)
    hours = ((i * 5) % 11 / 10).astype(np.float32)
    jobs = np.array(["clerk", "smith", "cook"])[(i * i + 1) % 3]
    binary = ((age > 40) ^ (i % 5 == 0)).astype(np.int64)
    kinds = (i * i + i // 4) % 3
    weight = (1 + i % 3).astype(np.float32)
    return {"age": age, "hours": hours, "job": jobs, "weight": weight}, {
        "binary": binary,
        "classes": kinds.astype(np.int64),
        "number": (0.1 * age + hours).astype(np.float32),
    }


def input_fn(label):
    def f():
        features, labels = examples()
        d = tf.data.Dataset.from_tensors((features, labels[label]))
        return d.repeat()
    return f


def columns():
    age = fc.bucketized_column(fc.numeric_column("age"), [25, 35, 45, 55])
    hours = fc.numeric_column("hours")
    job = fc.categorical_column_with_vocabulary_list("job", ["clerk", "cook", "smith"])
    return [age, hours, job], [hours, fc.indicator_column(job), fc.embedding_column(job, 2)]


def initial(name, shape):
    n = int(np.prod(shape))
    seed = sum(map(ord, name)) % 17
    return (np.sin(np.arange(n) * 1.7 + seed) * 0.3).reshape(shape).astype(np.float32)



class SetInitial(v1.train.SessionRunHook):
    """Assigns the computed initial values to kernels and embeddings."""

    def begin(self):
        self.ops = []
        for v in v1.trainable_variables():
            name = v.op.name
            if name.startswith("dnn/"):
                x = v1.placeholder(tf.float32, v.shape)
                self.ops.append((v1.assign(v, x), x, initial(name, v.shape.as_list())))

    def after_create_session(self, session, coord):
        if session.run(v1.train.get_global_step()) == 0:
            for op, x, value in self.ops:
                session.run(op, {x: value})


def make(kind, directory):
    wide, deep = columns()
    # One thread: a summary would read variables before or after the step's update by chance.
    one = v1.ConfigProto(inter_op_parallelism_threads=1, intra_op_parallelism_threads=1)
    run = est.RunConfig(model_dir=directory, tf_random_seed=1, session_config=one)
    common = dict(config=run)
    return {
        "linear_classifier": lambda: est.LinearClassifier(wide, **common),
        "linear_classifier_weighted": lambda: est.LinearClassifier(wide, weight_column="weight", **common),
        "linear_multi": lambda: est.LinearClassifier(wide, n_classes=3, **common),
        "linear_regressor": lambda: est.LinearRegressor(wide, **common),
        "dnn_classifier": lambda: est.DNNClassifier([8, 4], deep, **common),
        "dnn_regressor": lambda: est.DNNRegressor([8], deep, batch_norm=True, optimizer=v1.train.AdamOptimizer(0.001), **common),
        "combined": lambda: est.DNNLinearCombinedClassifier(linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[8, 4], **common),
        "baseline": lambda: est.BaselineClassifier(n_classes=3, **common),
        "baseline_regressor": lambda: est.BaselineRegressor(**common),
    }[kind]()


LABEL = {"linear_multi": "classes", "baseline": "classes", "linear_regressor": "number", "dnn_regressor": "number", "baseline_regressor": "number"}
KINDS = ["linear_classifier", "linear_classifier_weighted", "linear_multi", "linear_regressor", "dnn_classifier", "dnn_regressor", "combined", "baseline", "baseline_regressor"]


class Losses(v1.train.SessionRunHook):
    def __init__(self, out):
        self.out = out

    def before_run(self, ctx):
        # The summary "loss" takes the training loss as its second input.
        return v1.train.SessionRunArgs(ctx.session.graph.get_operation_by_name("loss").inputs[1])

    def after_run(self, ctx, values):
        self.out.append(float(values.results))


def summaries(directory):
    """Scalars of the event files by tag, one for each step; of histograms the sums."""
    out = {}
    for name in glob.glob(os.path.join(directory, "events.out.tfevents.*")):
        for e in v1.train.summary_iterator(name):
            for v in e.summary.value:
                if v.tag != "global_step/sec":
                    x = v.simple_value if v.WhichOneof("value") == "simple_value" else v.histo.sum
                    out.setdefault(v.tag, {})[e.step] = x
    return {tag: [x[step] for step in sorted(x)] for tag, x in out.items()}


def copy_checkpoint(directory, to):
    os.makedirs(to, exist_ok=True)
    for name in glob.glob(os.path.join(directory, f"model.ckpt-{STEPS}.*")):
        if not name.endswith(".meta"):
            shutil.copy(name, to)


def main():
    out = {}
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as d:
            e = make(kind, d)
            losses = []
            label = LABEL.get(kind, "binary")
            e.train(input_fn(label), steps=STEPS, hooks=[SetInitial(), Losses(losses)])
            if kind == "combined" and len(sys.argv) > 1:
                copy_checkpoint(d, sys.argv[1])
            metrics = e.evaluate(input_fn(label), steps=1)
            predictions = next(iter(e.predict(input_fn(label))))
            out[kind] = {
                "summaries": summaries(d),
                "losses": losses,
                "metrics": {k: float(v) for k, v in metrics.items()},
                "predictions": {k: np.asarray(v).tolist() for k, v in predictions.items() if np.asarray(v).dtype.kind not in "OS"},
                "variables": {n: list(e.get_variable_value(n).shape) for n in e.get_variable_names()},
            }
    print(json.dumps(out, sort_keys=True).replace('}, "', '},\n "'))


if __name__ == "__main__":
    main()
