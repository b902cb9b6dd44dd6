"""Saves small models with TensorFlow 2, and what it computes with them.

Run from the root of the repository, once with Python 3.8 and TensorFlow 2.4.4 (with protobuf 3.20), once with
Python 3.11 and TensorFlow 2.15.1:

    python tf/savedmodel/testdata/versions/make2.py

Each model is a directory below that of its version; SIGNATURE.in.npz and SIGNATURE.out.npz beside its
saved_model.pb are what was fed and what came.
"""
import os
import pathlib
import shutil

import numpy as np
import tensorflow as tf

root = pathlib.Path(__file__).parent / tf.__version__
random = np.random.RandomState(1)


def floats(*shape):
    return random.randn(*shape).astype(np.float32)


def save(name, model, fed, **signatures):
    """fed: {signature: {input: value}}."""
    d = root / name
    shutil.rmtree(d, ignore_errors=True)
    tf.saved_model.save(model, str(d), **signatures)
    loaded = tf.saved_model.load(str(d))
    for k, ins in fed.items():
        out = loaded.signatures[k](**{i: tf.constant(v) for i, v in ins.items()})
        write(d / k, ins, {o: t.numpy() for o, t in out.items()})


def write(path, ins, outs):
    text = lambda m: {k: v.astype("S") if v.dtype == object else v for k, v in ((k, np.asarray(v)) for k, v in m.items())}
    np.savez(f"{path}.in.npz", **text(ins))
    np.savez(f"{path}.out.npz", **text(outs))


SERVING = "serving_default"


class Module(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(floats(3, 3))
        self.calls = tf.Variable(0, dtype=tf.int64)
        with open("words.txt", "w") as f:  # the model holds its name
            f.write("the\nquick\nbrown\nfox\njumps\n")
        rows = tf.lookup.TextFileInitializer("words.txt", tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER)
        self.table = tf.lookup.StaticVocabularyTable(rows, 2)

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, "x"), tf.TensorSpec([], tf.int32, "n")])
    def loop(self, x, n):
        norms = tf.TensorArray(tf.float32, size=n)
        for i in tf.range(n):
            x = tf.matmul(x, self.w)
            if tf.norm(x) > 3.0:
                x = x / tf.norm(x)
            norms = norms.write(i, tf.norm(x))
        return {"y": x, "norms": norms.stack()}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "lines")])
    def text(self, lines):
        words = tf.strings.split(lines)
        ids = tf.ragged.map_flat_values(self.table.lookup, words)
        return {"ids": ids.to_tensor(-1), "longest": tf.reduce_max(tf.strings.length(words), axis=1), "joined": tf.strings.reduce_join(words, axis=1, separator="_")}

    @tf.function(input_signature=[tf.TensorSpec([], tf.int64, "by")])
    def count(self, by):
        return {"calls": self.calls.assign_add(by)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, "examples")])
    def parsed(self, examples):
        f = tf.io.parse_example(examples, {"x": tf.io.FixedLenFeature([3], tf.float32), "tags": tf.io.RaggedFeature(tf.string)})
        return {"y": tf.matmul(f["x"], self.w), "tags": f["tags"].to_tensor("")}


def network():
    k = tf.keras
    m = k.Sequential([
        k.Input((8, 8, 2)), k.layers.Conv2D(4, 3, padding="same", use_bias=False), k.layers.BatchNormalization(), k.layers.ReLU(6.0), k.layers.DepthwiseConv2D(3),
        k.layers.BatchNormalization(), k.layers.GlobalAveragePooling2D(), k.layers.Dense(3, activation="softmax")])
    return given(m)


def recurrent():
    k = tf.keras
    ids = k.Input((None,), dtype="int32", name="ids")
    x = k.layers.Embedding(9, 4, mask_zero=True)(ids)
    x = k.layers.Bidirectional(k.layers.RNN(k.layers.LSTMCell(3), return_sequences=True))(x)
    return given(k.Model(ids, k.layers.Dense(2)(k.layers.RNN(k.layers.GRUCell(3))(x))))


def bare(m, name, spec):
    """A module with the variables of a Keras model and one function: without the functions that train it, of several megabytes."""
    b = tf.Module()
    b.variables_of_model = m.variables
    return b, tf.function(lambda **x: {"y": m(x[name])}).get_concrete_function(**{name: spec})


def given(m):
    m.set_weights([np.abs(floats(*w.shape)) * 0.5 if "variance" in v.name else floats(*w.shape) * 0.5 for v, w in zip(m.weights, m.get_weights())])
    return m


def example(x, tags):
    e = tf.train.Example()
    e.features.feature["x"].float_list.value.extend(x)
    e.features.feature["tags"].bytes_list.value.extend(tags)
    return e.SerializeToString()


root.mkdir(exist_ok=True)
m = Module()
save("module", m, {
    "loop": {"x": floats(2, 3), "n": np.int32(4)},
    "text": {"lines": np.array([b"the fox jumps", b"nobody knows the brown one"])},
    "count": {"by": np.int64(3)},
    "parsed": {"examples": np.array([example([1, 2, 3], [b"p", b"q"]), example([0.5, -1, 2], [b"r"])], dtype=object)},
}, signatures={"loop": m.loop, "text": m.text, "count": m.count, "parsed": m.parsed})
os.remove("words.txt")
n = network()
save("network", n, {SERVING: {n.input_names[0]: floats(2, 8, 8, 2)}})
r, f = bare(recurrent(), "ids", tf.TensorSpec([None, None], tf.int32, "ids"))
save("recurrent", r, {SERVING: {"ids": np.int32([[1, 2, 3, 0], [4, 8, 0, 0]])}}, signatures={SERVING: f})
