"""Writes ported.json: what TensorFlow 1.15 does in what programs of Estimators use
beside training: TF_CONFIG beyond the cluster, receivers, exports for training and
evaluation, and evaluations in memory.

It needs Python 3.7 with tensorflow==1.15:

    python ported.py > ported.json
"""
import glob
import json
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
est = tf.estimator
fc = tf.feature_column

CLUSTER = {"chief": ["a:1"], "ps": ["b:1"], "worker": ["c:1"]}
ENVIRONMENTS = [
    {},
    {"model_dir": "/m"},
    {"model_dir": ""},
    {"service": {"a": 1, "b": ["c"]}},
    {"service": {}},
    {"service": None},
    {"service": ["a"]},
    {"service": "a"},
    {"service": 3},
    {"service": 1.5},
    {"service": True},
    {"session_master": "grpc://x:1"},
    {"session_master": "grpc://x:1", "eval_session_master": "grpc://y:1"},
    {"eval_session_master": "grpc://y:1"},
    {"cluster": CLUSTER, "task": {"type": "worker", "index": 0}},
    {"cluster": CLUSTER, "task": {"type": "worker", "index": 0}, "session_master": "grpc://x:1"},
    {"cluster": CLUSTER, "task": {"type": "chief", "index": 0}, "session_master": "grpc://x:1", "eval_session_master": "grpc://y:1", "model_dir": "/m", "service": {"k": "v"}},
    {"cluster": CLUSTER, "task": {"type": "evaluator", "index": 0}, "session_master": "grpc://x:1", "eval_session_master": "grpc://y:1"},
    {"cluster": CLUSTER, "task": {"type": "evaluator", "index": 0}},
    {"cluster": {"master": ["a:1"]}, "task": {"type": "master", "index": 0}, "session_master": "grpc://x:1", "eval_session_master": "grpc://y:1"},
    {"cluster": {"chief": ["a:1"]}, "task": {"type": "chief", "index": 0}},
    {"task": {"type": "worker", "index": 0}, "session_master": "grpc://x:1", "other": 1},
]


def environment(config, model_dir):
    text = os.environ["TF_CONFIG"] = json.dumps(config)
    out = {"text": text, "dir": model_dir or ""}
    try:
        c = est.RunConfig(model_dir=model_dir)
    except (ValueError, TypeError) as e:
        return dict(out, error=str(e))
    finally:
        del os.environ["TF_CONFIG"]
    return dict(out, model_dir=c.model_dir or "", master=c.master, eval_master=c.evaluation_master, service=c.service)


def receivers():
    spec = {"x": tf.io.FixedLenFeature([2], tf.float32)}
    with tf.Graph().as_default():
        raw = {"x": tf.zeros([3, 2]), "n": tf.zeros([], tf.int64), "any": tf.compat.v1.placeholder(tf.float32), "word": tf.compat.v1.placeholder(tf.string, [None])}
        labels = {"y": tf.zeros([3], tf.int64)}
        fns = {
            "parsing": est.export.build_parsing_serving_input_receiver_fn(spec),
            "parsing4": est.export.build_parsing_serving_input_receiver_fn(spec, 4),
            "raw4": est.export.build_raw_serving_input_receiver_fn(raw, 4),
            "supervised": est.experimental.build_raw_supervised_input_receiver_fn(raw, labels),
            "supervised4": est.experimental.build_raw_supervised_input_receiver_fn(raw, labels, 4),
        }
        shape = lambda t: t.shape.as_list() if t.shape.ndims is not None else "unknown"
        out = {}
        for name, fn in fns.items():
            r = fn()
            out[name] = {"inputs": {k: shape(t) for k, t in r.receiver_tensors.items()}, "features": {k: shape(t) for k, t in r.features.items()}}
        try:
            est.experimental.build_raw_supervised_input_receiver_fn(raw, {"x": raw["x"]})
        except ValueError as e:
            out["error"] = str(e)
    return out


N = 32


def batch():
    i = np.arange(N)
    x = np.stack([np.sin(i), np.cos(i * 1.3)], 1).astype(np.float32)
    word = np.array(["clerk", "cook", "smith"])[(i * i + 1) % 3]
    return {"x": x, "word": word}, (x[:, 0] > x[:, 1]).astype(np.int64)


def input_fn():
    return tf.data.Dataset.from_tensors(batch()).repeat()


def once():
    return tf.data.Dataset.from_tensors(batch())


def columns():
    return [fc.numeric_column("x", [2]), fc.categorical_column_with_vocabulary_list("word", ["clerk", "cook", "smith"])]


def infos(all):
    return {k: [tf.as_dtype(v.dtype).name] + [d.size for d in v.tensor_shape.dim] for k, v in all.items()}


def meta_graphs(directory):
    from tensorflow.core.protobuf import saved_model_pb2
    m = saved_model_pb2.SavedModel()
    with open(os.path.join(directory, "saved_model.pb"), "rb") as f:
        m.ParseFromString(f.read())
    return [{
        "tags": list(g.meta_info_def.tags),
        "signatures": {k: {"method": s.method_name, "inputs": infos(s.inputs), "outputs": infos(s.outputs)} for k, s in g.signature_def.items()},
        "train": "saved_model_train_op" in g.collection_def,
    } for g in m.meta_graphs]


def text(d):
    return d.decode() if isinstance(d, bytes) else d


def exports():
    with tempfile.TemporaryDirectory() as d:
        e = est.LinearClassifier(columns(), os.path.join(d, "m"), config=est.RunConfig(tf_random_seed=1))
        e.train(input_fn, steps=3)
        x, y = batch()
        labeled = tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn(input_fn)
        serving = est.export.build_parsing_serving_input_receiver_fn(fc.make_parse_example_spec(columns()))
        out = {}
        for name, modes in {"all": {"train": labeled, "eval": labeled, "infer": serving}, "train": {"train": labeled}, "eval": {"eval": labeled}}.items():
            out[name] = meta_graphs(text(e.experimental_export_all_saved_models(os.path.join(d, name), modes)))
        out["mode"] = meta_graphs(text(e.export_saved_model(os.path.join(d, "mode"), labeled, experimental_mode="eval")))
        try:
            e.experimental_export_all_saved_models(os.path.join(d, "none"), {})
        except ValueError as err:
            out["none"] = str(err)
        return out


def events(directory):
    out = []
    for name in sorted(glob.glob(os.path.join(directory, "events.out.tfevents.*"))):
        for e in tf.compat.v1.train.summary_iterator(name):
            if e.summary.value:
                out.append(dict({v.tag: v.simple_value for v in e.summary.value}, global_step=e.step))
    return out


def in_memory():
    with tempfile.TemporaryDirectory() as d:
        e = est.LinearClassifier(columns(), d, config=est.RunConfig(tf_random_seed=1))
        hook = est.experimental.InMemoryEvaluatorHook(e, once, name="memory", every_n_iter=4)
        e.train(input_fn, hooks=[hook], steps=10)
        out = {"evaluations": events(os.path.join(d, "eval_memory"))}
        for name, f in {"every": lambda: est.experimental.InMemoryEvaluatorHook(e, once, every_n_iter=-2)}.items():
            try:
                f()
            except ValueError as err:
                out[name] = str(err)
    return out


heads = tf.contrib.estimator


def own_loss(labels, logits):
    return tf.reduce_sum(tf.abs(tf.cast(labels, tf.float32) - logits), -1, keepdims=True)


def deep_heads():
    sums = dict(loss_reduction=tf.compat.v1.losses.Reduction.SUM)
    return {
        "binary": ("steps", 1, heads.binary_classification_head(weight_column="weight", thresholds=[0.4])),
        "binary_sum": ("steps", 1, heads.binary_classification_head(**sums)),
        "binary_own": ("steps", 1, heads.binary_classification_head(loss_fn=own_loss)),
        "classes": ("third", 3, heads.multi_class_head(3, weight_column="weight")),
        "words": ("words", 3, heads.multi_class_head(3, label_vocabulary=["a", "b", "c"])),
        "labels": ("two", 2, heads.multi_label_head(2, weight_column="weight1", thresholds=[0.5], classes_for_class_based_metrics=[1])),
        "number": ("number", 1, heads.regression_head(weight_column="weight", inverse_link_fn=tf.exp)),
        "numbers": ("numbers", 2, heads.regression_head(label_dimension=2, weight_column="weight2", **sums)),
        "poisson": ("number", 1, heads.poisson_regression_head()),
        "multi": ("both", 4, heads.multi_head([heads.multi_class_head(3, name="a"), heads.regression_head(weight_column="weight", name="b")])),
    }


def deep_data(dims):
    n = int(np.prod(dims))
    i = np.arange(n)
    weight = (1 + i % 3).astype(np.float32)
    two = np.stack([i % 2, i % 3 == 0], 1).astype(np.int64)
    features = {"weight": weight.reshape(dims), "weight1": weight.reshape(dims + [1]), "weight2": np.stack([weight, weight * 0.5], 1).reshape(dims + [2])}
    labels = {
        "steps": (i % 2).reshape(dims), "third": (i % 3).reshape(dims + [1]), "words": np.array(["a", "b", "c"])[i * i % 3].reshape(dims),
        "two": two.reshape(dims + [2]), "number": (i * 0.1).astype(np.float32).reshape(dims), "numbers": np.stack([i * 0.1, np.cos(i)], 1).astype(np.float32).reshape(dims + [2]),
    }
    labels["both"] = {"a": labels["third"], "b": labels["number"]}
    logits = lambda k: np.sin(np.arange(n * k) * 1.1).astype(np.float32).reshape(dims + [k])
    return features, labels, logits


def deep(name, dims):
    label, k, _ = deep_heads()[name]
    with tf.Graph().as_default():
        features, labels, logits = deep_data(dims)
        const = lambda x: {a: tf.constant(b) for a, b in x.items()} if isinstance(x, dict) else tf.constant(x)
        head = deep_heads()[name][2]
        tf.compat.v1.train.create_global_step()
        spec = head.create_estimator_spec(const(features), "eval", tf.constant(logits(k)), const(labels[label]), train_op_fn=lambda loss: tf.no_op())
        served = head.create_estimator_spec(const(features), "infer", tf.constant(logits(k)))
        with tf.compat.v1.Session() as s:
            s.run([tf.compat.v1.global_variables_initializer(), tf.compat.v1.local_variables_initializer(), tf.compat.v1.tables_initializer()])
            loss, _ = s.run([spec.loss, {a: m[1] for a, m in spec.eval_metric_ops.items()}])
            metrics = s.run({a: m[0] for a, m in spec.eval_metric_ops.items()})
            flat = lambda x: [list(x.shape)] + ([v.decode() for v in x.reshape(-1)] if x.dtype.kind == "O" else x.astype(np.float64).reshape(-1).tolist())
            predictions = {"/".join(a) if isinstance(a, tuple) else a: flat(x) for a, x in s.run(served.predictions).items()}
            return {"head": name, "dims": dims, "loss": float(loss), "metrics": {a: float(x) for a, x in metrics.items()}, "predictions": predictions}


def main():
    env = [environment(c, m) for c in ENVIRONMENTS for m in (None, "/m", "/other")]
    print(json.dumps({"environment": env, "receivers": receivers(), "exports": exports(), "memory": in_memory(), "deep": [deep(n, d) for n in sorted(deep_heads()) for d in ([2, 3], [2, 2, 2], [5])]}, indent=1, sort_keys=True))


if __name__ == "__main__":
    main()
