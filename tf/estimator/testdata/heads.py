"""Writes heads.json: what TensorFlow's MultiHead computes, how estimators write
metrics that are no numbers, and what a warm start makes of a vocabulary that has
changed.

It needs Python 3.11 with tensorflow-cpu==2.15.1 and tensorflow-estimator==2.15.0:

    python heads.py python/words > heads.json

The argument is the directory for the checkpoint of the model of old words.
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
N, STEPS = 12, 60


def examples():
    i = np.arange(N)
    x = np.stack([np.sin(i), np.cos(i * 1.3)], 1).astype(np.float32)
    labels = {
        "kind": (i * i % 3).astype(np.int64),
        "likes": (i % 5 < 2).astype(np.int64),
        "size": (x[:, :1] * 2 - x[:, 1:] + 0.5).astype(np.float32),
        "tags": np.stack([i % 2, i % 3 == 0], 1).astype(np.int64),
    }
    weight = (1 + i % 3).astype(np.float32)
    return {"x": x, "weight": weight}, labels


def input_fn():
    return tf.data.Dataset.from_tensors(examples()).repeat()


def heads():
    return [
        tf.estimator.MultiClassHead(3, name="kind"),
        tf.estimator.BinaryClassHead(weight_column="weight", name="likes"),
        tf.estimator.RegressionHead(name="size"),
        tf.estimator.MultiLabelHead(2, name="tags"),
    ]


def multi(features, labels, mode):
    head = tf.estimator.MultiHead(heads(), head_weights=[1.0, 0.5, 2.0, 1.5])
    w = v1.get_variable("w", initializer=(np.sin(np.arange(14)) * 0.3).astype(np.float32).reshape(2, 7))
    b = v1.get_variable("b", initializer=np.zeros(7, np.float32), )
    step = lambda loss: v1.train.GradientDescentOptimizer(0.2).minimize(loss, v1.train.get_global_step())
    reg = [0.01 * tf.reduce_sum(w * w)]
    return head.create_estimator_spec(features, mode, features["x"] @ w + b, labels, train_op_fn=step, regularization_losses=reg)


def values(summaries):
    """Summaries by tag: numbers, or the shape and elements of tensors."""
    out = {}
    for v in summaries:
        if v.WhichOneof("value") == "simple_value":
            out[v.tag] = v.simple_value
        elif v.WhichOneof("value") == "tensor":
            x = tf.make_ndarray(v.tensor)
            x = x if x.dtype.kind in "fi" else np.zeros(0)  # the path of the checkpoint
            out[v.tag] = [list(x.shape)] + x.astype(np.float64).reshape(-1).tolist()
        else:
            out[v.tag] = v.WhichOneof("value")
    return out


def events(directory):
    out = []
    for name in sorted(glob.glob(os.path.join(directory, "events.out.tfevents.*"))):
        for e in v1.train.summary_iterator(name):
            if e.summary.value:
                out.append(values(e.summary.value))
    return out


def several():
    with tempfile.TemporaryDirectory() as d:
        e = est.Estimator(multi, d, est.RunConfig(tf_random_seed=1))
        e.train(input_fn, steps=STEPS)
        metrics = e.evaluate(input_fn, steps=2)
        p = next(iter(e.predict(input_fn)))
        tags = sorted(k for v in events(d) for k in v if k != "global_step/sec")
        return {
            "metrics": {k: float(v) for k, v in metrics.items()},
            "predictions": {"/".join(k): np.asarray(v).astype(np.float64).reshape(-1).tolist() for k, v in p.items() if np.asarray(v).dtype.kind not in "OS"},
            "summaries": sorted(set(tags)),
            "signatures": sorted(multi({"x": tf.zeros([1, 2]), "weight": tf.zeros([1])}, None, "infer").export_outputs),
        }


def shaped(features, labels, mode):
    """A model whose metrics have all kinds of shapes and types."""
    guess = tf.cast(features["x"][:, 0] > 0, tf.int64) + tf.cast(features["x"][:, 1] > 0, tf.int64)
    loss = tf.reduce_mean(features["x"])
    matrix = v1.get_local_variable("matrix", initializer=np.zeros([3, 3], np.int32), trainable=False)
    update = matrix.assign_add(tf.math.confusion_matrix(labels["kind"], guess, 3))
    mean, more = v1.metrics.mean_tensor(features["x"])
    count, again = v1.metrics.mean(guess)
    image = v1.summary.image("image", tf.ones([2, 4, 4, 1]), 2, collections=[])
    metrics = {"matrix": (matrix.read_value(), update), "mean": (mean, more), "guess": (count, again), "rows": (tf.constant(3, tf.int64), tf.no_op()), "image": (image, tf.no_op())}
    step = v1.train.get_global_step()
    return est.EstimatorSpec(mode, loss=loss, train_op=step.assign_add(1), eval_metric_ops=metrics)


def shapes():
    with tempfile.TemporaryDirectory() as d:
        e = est.Estimator(shaped, d, est.RunConfig(tf_random_seed=1))
        e.train(input_fn, steps=1)
        metrics = e.evaluate(input_fn, steps=2)
        return {
            "metrics": {k: [list(np.shape(v))] + np.asarray(v, np.float64).reshape(-1).tolist() for k, v in metrics.items() if k != "image"},
            "summary": events(os.path.join(d, "eval"))[0],
        }


def words(vocabulary, settings, directory, steps):
    """The predictions of a network over an embedding of words."""
    column = fc.embedding_column(fc.categorical_column_with_vocabulary_list("word", vocabulary, num_oov_buckets=1), 2)
    e = est.DNNRegressor([3], [column], directory, config=est.RunConfig(tf_random_seed=1), warm_start_from=settings)
    data = lambda: tf.data.Dataset.from_tensors(({"word": np.array(vocabulary)}, np.arange(len(vocabulary), dtype=np.float32))).repeat()
    e.train(data, steps=steps)
    return e, data


EMBEDDING = "dnn/input_from_feature_columns/input_layer/word_embedding/embedding_weights"


def moved(directory):
    old, new = ["a", "b", "c"], ["c", "d", "a", "e"]
    with tempfile.TemporaryDirectory() as d:
        for name, vocabulary in (("old.txt", old), ("new.txt", new)):
            with open(os.path.join(d, name), "w") as f:
                f.write("\n".join(vocabulary) + "\n")
        first, _ = words(old, None, os.path.join(d, "old"), 20)
        os.makedirs(directory, exist_ok=True)
        for name in glob.glob(os.path.join(d, "old", "model.ckpt-20.*")):
            if not name.endswith(".meta"):
                shutil.copy(name, directory)
        fill = lambda s, dtype=None, partition_info=None: tf.fill(s, 0.25)
        info = v1.train.VocabInfo(os.path.join(d, "new.txt"), 4, 1, os.path.join(d, "old.txt"), 3, fill)
        settings = est.WarmStartSettings(first.latest_checkpoint(), var_name_to_vocab_info={EMBEDDING: info})
        # A rate of 0 keeps the values.
        column = fc.embedding_column(fc.categorical_column_with_vocabulary_list("word", new, num_oov_buckets=1), 2)
        e = est.DNNRegressor([3], [column], os.path.join(d, "new"), config=est.RunConfig(tf_random_seed=1), warm_start_from=settings, optimizer=v1.train.GradientDescentOptimizer(0.0))
        data = lambda: tf.data.Dataset.from_tensors(({"word": np.array(new + ["x"])}, np.zeros(5, np.float32)))
        e.train(data)
        return {
            "embedding": e.get_variable_value(EMBEDDING).reshape(-1).tolist(),
            "predictions": [float(p["predictions"][0]) for p in e.predict(data)],
        }


def main():
    print(json.dumps({"several": several(), "shapes": shapes(), "moved": moved(sys.argv[1])}, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
