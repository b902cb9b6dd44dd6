"""Saves small models with TensorFlow 1, and what it computes with them.

Run from the root of the repository, once with Python 3.6 and TensorFlow 1.4.0, once with Python 3.7 and
TensorFlow 1.15.5 (with protobuf 3.20):

    python tf/savedmodel/testdata/versions/make1.py

Each model is a directory below that of its version; SIGNATURE.in.npz and SIGNATURE.out.npz beside its
saved_model.pb are what was fed and what came.
"""
import os
import shutil

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1 if hasattr(tf, "compat") and hasattr(tf.compat, "v1") else tf
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), tf.__version__)
contrib = getattr(v1, "contrib", None) or tf.contrib
random = np.random.RandomState(1)


def floats(*shape):
    return random.randn(*shape).astype(np.float32)


def save(name, build, fed):
    """build returns signatures {name: (method, inputs, outputs)}; fed: {signature: {input: value}}."""
    d = os.path.join(root, name)
    shutil.rmtree(d, ignore_errors=True)
    with tf.Graph().as_default(), v1.Session() as s:
        v1.set_random_seed(1)
        signatures = build()
        s.run(v1.global_variables_initializer())
        s.run(v1.tables_initializer())
        for v in v1.global_variables():  # values that initializers do not give
            s.run(v1.assign(v, np.abs(floats(*v.shape.as_list()) * 0.5) if "variance" in v.name else floats(*v.shape.as_list()) * 0.5))
        saver = tf.saved_model.builder.SavedModelBuilder(d)
        info = tf.saved_model.utils.build_tensor_info
        defs = {k: tf.saved_model.signature_def_utils.build_signature_def({i: info(t) for i, t in ins.items()}, {o: info(t) for o, t in outs.items()}, method)
                for k, (method, ins, outs) in signatures.items()}
        saver.add_meta_graph_and_variables(
            s, [tf.saved_model.tag_constants.SERVING], signature_def_map=defs, assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
            legacy_init_op=tf.group(v1.tables_initializer(), name="legacy"))
        saver.save()
    with tf.Graph().as_default(), v1.Session() as s:
        loaded = tf.saved_model.loader.load(s, [tf.saved_model.tag_constants.SERVING], d)
        for k, ins in fed.items():
            sig = loaded.signature_def[k]
            out = s.run({o: t.name for o, t in sig.outputs.items()}, {sig.inputs[i].name: v for i, v in ins.items()})
            write(os.path.join(d, k), ins, out)


def write(path, ins, outs):
    text = lambda m: {k: v.astype("S") if v.dtype == object else v for k, v in ((k, np.asarray(v)) for k, v in m.items())}
    np.savez(path + ".in.npz", **text(ins))
    np.savez(path + ".out.npz", **text(outs))


PREDICT = tf.saved_model.signature_constants.PREDICT_METHOD_NAME
SERVING = "serving_default"


def linear():
    x = v1.placeholder(tf.float32, [None, 3], "x")
    w, b = v1.get_variable("w", [3, 4]), v1.get_variable("b", [4])
    y = v1.nn.softmax(v1.matmul(x, w) + b)
    return {SERVING: (PREDICT, {"x": x}, {"y": y, "class": v1.argmax(y, 1)}), "rows": (PREDICT, {"x": x}, {"n": v1.shape(x)[0], "sum": v1.reduce_sum(x, 1)})}


def conv():
    x = v1.placeholder(tf.float32, [None, 8, 8, 2], "image")
    y = v1.layers.conv2d(x, 4, 3, padding="same", activation=v1.nn.relu)
    y = v1.layers.batch_normalization(y, training=False)
    y = v1.layers.max_pooling2d(y, 2, 2)
    y = v1.layers.dense(v1.reshape(y, [-1, 64]), 3)
    return {SERVING: (PREDICT, {"image": x}, {"logits": y})}


def loop():
    x, n = v1.placeholder(tf.float32, [None], "x"), v1.placeholder(tf.int32, [], "n")
    w = v1.get_variable("w", [1])
    values = v1.TensorArray(tf.float32, size=n)
    step = lambda i, y, a: (i + 1, v1.cond(v1.equal(i % 2, 0), lambda: y * w, lambda: y - w), a.write(i, v1.reduce_sum(y)))
    _, y, values = v1.while_loop(lambda i, *_: i < n, step, (0, x, values), shape_invariants=(tf.TensorShape([]), tf.TensorShape([None]), tf.TensorShape(None)))
    return {SERVING: (PREDICT, {"x": x, "n": n}, {"y": y, "sums": values.stack()})}


def lstm():
    x, n = v1.placeholder(tf.float32, [None, 5, 3], "x"), v1.placeholder(tf.int32, [None], "lengths")
    cell = v1.nn.rnn_cell.MultiRNNCell([v1.nn.rnn_cell.BasicLSTMCell(4), v1.nn.rnn_cell.GRUCell(3)])
    y, state = v1.nn.dynamic_rnn(cell, x, n, dtype=tf.float32)
    return {SERVING: (PREDICT, {"x": x, "lengths": n}, {"y": y, "last": state[1]})}


def text():
    words = v1.placeholder(tf.string, [None], "lines")
    path = "words.txt"  # the model holds its name
    with open(path, "w") as f:
        f.write("the\nquick\nbrown\nfox\njumps\n")
    asset = v1.constant(path)
    v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, asset)
    table = contrib.lookup.index_table_from_file(asset, num_oov_buckets=2)
    split = v1.string_split(words)
    ids = v1.SparseTensor(split.indices, table.lookup(split.values), split.dense_shape)
    table_of_rows = v1.get_variable("embedding", [7, 3])
    y = v1.nn.embedding_lookup_sparse(table_of_rows, ids, None, combiner="mean")
    return {SERVING: (PREDICT, {"lines": words}, {"y": y, "ids": v1.sparse_tensor_to_dense(ids, default_value=-1)})}


def examples():
    serialized = v1.placeholder(tf.string, [None], "tf_example")
    f = v1.parse_example(serialized, {"x": v1.FixedLenFeature([2], tf.float32), "tags": v1.VarLenFeature(tf.string), "n": v1.FixedLenFeature([], tf.int64, default_value=7)})
    w = v1.get_variable("w", [2, 3], partitioner=v1.fixed_size_partitioner(2))
    scores = v1.nn.softmax(v1.matmul(f["x"], w) + v1.cast(v1.expand_dims(f["n"], 1), tf.float32))
    classes = v1.tile(v1.constant([["a", "b", "c"]]), [v1.shape(scores)[0], 1])
    CLASSIFY = tf.saved_model.signature_constants.CLASSIFY_METHOD_NAME
    return {SERVING: (CLASSIFY, {"inputs": serialized}, {"scores": scores, "classes": classes}),
            "tags": (PREDICT, {"inputs": serialized}, {"tags": v1.sparse_tensor_to_dense(f["tags"], default_value="")})}


def example(x, tags, n=None):
    e = v1.train.Example()
    e.features.feature["x"].float_list.value.extend(x)
    e.features.feature["tags"].bytes_list.value.extend(tags)
    if n is not None:
        e.features.feature["n"].int64_list.value.append(n)
    return e.SerializeToString()


if not os.path.isdir(root):
    os.makedirs(root)
save("linear", linear, {SERVING: {"x": floats(2, 3)}, "rows": {"x": floats(3, 3)}})
save("conv", conv, {SERVING: {"image": floats(2, 8, 8, 2)}})
save("loop", loop, {SERVING: {"x": floats(3), "n": np.int32(5)}})
save("lstm", lstm, {SERVING: {"x": floats(3, 5, 3), "lengths": np.int32([5, 0, 3])}})
save("text", text, {SERVING: {"lines": np.array([b"the fox jumps", b"nobody knows the brown one"])}})
e = np.array([example([1, 2], [b"p", b"q"]), example([0.5, -1], [], 2)], dtype=object)
save("examples", examples, {SERVING: {"inputs": e}, "tags": {"inputs": e}})
os.remove("words.txt")
