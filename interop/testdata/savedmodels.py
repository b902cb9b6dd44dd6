"""Saves models of many kinds, each with inputs and what TensorFlow computes.

For each model NAME it makes DIR/NAME/model, in.npz, out.npz and args, the flags
of gorge savedmodel run, and prints NAME.
"""
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow.python.framework import function as tf_function

from savedtasks import tasks

v1 = tf.compat.v1
rng = np.random.RandomState(0)
models = {}
root = sys.argv[1]


def model(make):
    models[make.__name__] = make
    return make


def normal(*shape):
    return rng.randn(*shape).astype(np.float32)


def path(name):
    return os.path.join(root, name, "model")


def portable(a):
    a = np.asarray(a)
    return a.astype("S") if a.dtype == object else a


def expect(name, feeds, tags="serve", signature="serving_default", omit=()):
    """Writes what the signature computes, by the Session or by tf.saved_model.load."""
    d = path(name)
    try:
        with v1.Session(graph=tf.Graph(), config=v1.ConfigProto(allow_soft_placement=True)) as s:
            sig = v1.saved_model.load(s, tags.split(","), d).signature_def[signature]
            out = s.run({k: v.name for k, v in sig.outputs.items()}, {sig.inputs[k].name: v for k, v in feeds.items()})
    except tf.errors.FailedPreconditionError:  # Keras 3: only its objects can be restored
        f = tf.saved_model.load(d).signatures[signature]
        out = {k: v.numpy() for k, v in f(**{k: tf.constant(v) for k, v in feeds.items()}).items()}
    np.savez(os.path.join(root, name, "in.npz"), **{k: portable(v) for k, v in feeds.items() if k not in omit})
    np.savez(os.path.join(root, name, "out.npz"), **{k: portable(v) for k, v in out.items()})
    with open(os.path.join(root, name, "args"), "w") as f:
        f.write(f"--tag_set={tags} --signature_def={signature}")
    print(name)


def simple(name, build):
    """Saves a graph of TensorFlow 1 by simple_save."""
    with tf.Graph().as_default(), v1.Session() as s:
        inputs, outputs, feeds = build(s)
        v1.saved_model.simple_save(s, path(name), inputs, outputs)
    expect(name, feeds)


def save(name, module, feeds, options=None, **more):
    tf.saved_model.save(module, path(name), signatures=module.f, options=options)
    expect(name, feeds, **more)


def move(name):
    """Writes GPUs of another task into the model: it was saved by a job of a cluster."""
    file = os.path.join(path(name), "saved_model.pb")
    saved = saved_model_pb2.SavedModel()
    with open(file, "rb") as f:
        saved.ParseFromString(f.read())
    graph = saved.meta_graphs[0].graph_def
    for n in [*graph.node, *(n for f in graph.library.function for n in f.node_def)]:
        if "GPU" in n.device:
            n.device = "/job:worker/replica:0/task:3" + n.device
    with open(file, "wb") as f:
        f.write(saved.SerializeToString())


def function(*specs):
    return tf.function(input_signature=[tf.TensorSpec(*s) for s in specs])


@model
def v1_simple(name):
    def build(s):
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        w = v1.get_variable("w", [3, 2], use_resource=False)
        y = tf.nn.softmax(tf.matmul(x, w))
        s.run(v1.global_variables_initializer())
        return {"x": x}, {"y": y, "top": tf.argmax(y, 1)}, {"x": normal(4, 3)}
    simple(name, build)


@model
def v1_loops(name):
    v1.disable_control_flow_v2()

    def build(s):
        x = v1.placeholder(tf.float32, [None, 4], name="x")
        c = v1.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x - 1)
        _, y = v1.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * 1.1 + tf.cast(i, tf.float32)), [tf.constant(0), c])
        _, ta = v1.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t.write(i, x * tf.cast(i, tf.float32))),
                              [tf.constant(0), tf.TensorArray(tf.float32, 3)])
        return {"x": x}, {"y": y, "ta": ta.stack()}, {"x": normal(2, 4)}
    simple(name, build)
    v1.enable_control_flow_v2()


@model
def v1_builder(name):
    """Three MetaGraphs, a partitioned variable, a table whose vocabulary is an asset."""
    vocabulary = os.path.join(root, "words.txt")
    with open(vocabulary, "w") as f:
        f.write("a\nb\nc\n")
    b = v1.saved_model.Builder(path(name))
    for i, tags in enumerate([["serve"], ["serve", "gpu"], ["train"]]):
        with tf.Graph().as_default(), v1.Session() as s:
            x = v1.placeholder(tf.string, [None], name="x")
            table = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
                vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 2)
            with v1.variable_scope("p", partitioner=v1.fixed_size_partitioner(3), use_resource=False):
                w = v1.get_variable("w", [5, 4])
            y = v1.nn.embedding_lookup(w, table.lookup(x), partition_strategy="div") + float(i)
            s.run([v1.global_variables_initializer(), v1.tables_initializer()])
            sigs = {"serving_default": v1.saved_model.predict_signature_def({"x": x}, {"y": y})}
            if i == 0:
                b.add_meta_graph_and_variables(s, tags, signature_def_map=sigs, main_op=v1.tables_initializer(), strip_default_attrs=True,
                                               assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS))
            else:
                b.add_meta_graph(tags, signature_def_map=sigs, main_op=v1.tables_initializer(),
                                 assets_collection=v1.get_collection(v1.GraphKeys.ASSET_FILEPATHS))
    b.save()
    expect(name, {"x": np.array([b"a", b"zz", b"c"])}, tags="gpu,serve")


@model
def v1_text(name):
    with tf.Graph().as_default(), v1.Session() as s:
        x = v1.placeholder(tf.float32, [], name="x")
        w = v1.get_variable("w", initializer=2.0)
        s.run(v1.global_variables_initializer())
        b = v1.saved_model.Builder(path(name))
        b.add_meta_graph_and_variables(s, ["serve"], signature_def_map={"half": v1.saved_model.predict_signature_def({"x": x}, {"y": x / w})})
        b.save(as_text=True)
    expect(name, {"x": np.float32(3)}, signature="half")


@model
def v1_examples(name):
    def build(s):
        e = v1.placeholder(tf.string, [None], name="e")
        p = v1.parse_example(e, {"a": tf.io.FixedLenFeature([2], tf.float32), "s": tf.io.VarLenFeature(tf.string),
                                 "i": tf.io.FixedLenFeature([], tf.int64, -1)})
        h = tf.sparse.to_dense(tf.sparse.SparseTensor(p["s"].indices, tf.strings.to_hash_bucket_fast(p["s"].values, 10), p["s"].dense_shape))
        feature = tf.train.Feature
        examples = [tf.train.Example(features=tf.train.Features(feature={
            "a": feature(float_list=tf.train.FloatList(value=[1, 2 + k])),
            "s": feature(bytes_list=tf.train.BytesList(value=[b"x", b"y", b"z"][:k + 1]))})).SerializeToString() for k in range(3)]
        return {"e": e}, {"a": p["a"], "h": h, "i": p["i"]}, {"e": np.array(examples)}
    simple(name, build)


@model
def v1_images(name):
    def build(s):
        e = v1.placeholder(tf.string, [None], name="e")
        images = tf.map_fn(lambda b: tf.image.resize(tf.cast(tf.image.decode_png(b, channels=3), tf.float32), [8, 8]), e,
                           fn_output_signature=tf.float32)
        k = v1.get_variable("k", [3, 3, 3, 4])
        s.run(v1.global_variables_initializer())
        png = s.run(tf.io.encode_png(rng.randint(0, 255, (20, 17, 3)).astype(np.uint8)))
        return {"e": e}, {"y": tf.nn.conv2d(images / 255.0, k, 1, "SAME")}, {"e": np.array([png, png])}
    simple(name, build)


class Words(tf.Module):
    def __init__(self):
        vocabulary = os.path.join(root, "words.txt")
        with open(vocabulary, "w") as f:
            f.write("the\ncat\nsat\n")
        self.table = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
            vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 4)
        self.e = tf.Variable(normal(7, 5))

    @function(([None], tf.string))
    def f(self, x):
        words = tf.strings.split(tf.strings.lower(tf.strings.regex_replace(x, r"[^\w ]", "")))
        ids = tf.ragged.map_flat_values(self.table.lookup, words)
        e = tf.ragged.map_flat_values(lambda i: tf.nn.embedding_lookup(self.e, i), ids)
        return {"mean": tf.reduce_mean(e, 1), "ids": ids.to_tensor(-1), "n": words.row_lengths(),
                "joined": tf.strings.reduce_join(words, 1, separator="_"), "sparse": tf.sparse.to_dense(ids.to_sparse())}


@model
def tf2_words(name):
    save(name, Words(), {"x": np.array([b"The cat, sat!", b"hello cat"])})


class State(tf.Module):
    def __init__(self):
        self.count = tf.Variable(0)
        self.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        self.table.insert(["a", "b"], [4, 5])

    @function(([None], tf.string), ([], tf.int32))
    def f(self, k, n):
        self.count.assign_add(n)
        return {"count": self.count.read_value(), "v": self.table.lookup(k)}


@model
def tf2_state(name):
    save(name, State(), {"k": np.array([b"b", b"z"]), "n": np.int32(2)})


class Control(tf.Module):
    @function(([None],), ([], tf.int32))
    def f(self, x, n):
        a = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        for i in tf.range(n):
            if tf.reduce_sum(x) > tf.cast(i, tf.float32):
                x = x * 0.5
            else:
                x = x + 1.0
            a = a.write(i, tf.reduce_sum(x))
            if i > 6:
                break
        z = tf.switch_case(n % 3, [lambda: x, lambda: x * 2, lambda: x * 3])
        return {"x": x, "a": a.stack(), "z": z, "m": tf.map_fn(lambda q: q * q, x)}


@model
def tf2_control(name):
    save(name, Control(), {"x": normal(5), "n": np.int32(10)})


class Devices(tf.Module):
    """Functions, loops and branches on devices that this machine lacks."""

    def __init__(self):
        with tf.device("/device:CPU:0"):
            self.w = tf.Variable(normal(3, 3))

    @tf.function
    def inner(self, x):
        with tf.device("/device:GPU:1"):
            return tf.nn.relu(x @ self.w)

    @function(([None, 3], tf.float32))
    def f(self, x):
        with tf.device("/device:GPU:0"):
            y = self.inner(x)
            _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, self.inner(y)), [0, y])
        with tf.device("/device:GPU:2"):
            return {"y": tf.cond(tf.reduce_sum(y) > 0, lambda: y + 1, lambda: self.inner(x)), "m": tf.map_fn(self.inner, x[:, None])}


@model
def tf2_devices(name):
    save(name, Devices(), {"x": normal(2, 3)})
    move(name)


@model
def v1_devices(name):
    @tf_function.Defun(tf.float32)
    def squares(q):
        with tf.device("/device:GPU:2"):
            return q * q + 1

    with tf.Graph().as_default(), v1.Session(config=v1.ConfigProto(allow_soft_placement=True)) as s:
        with tf.device("/device:GPU:0"):
            x = v1.placeholder(tf.float32, [None, 3], name="x")
            w = v1.get_variable("w", [3, 2], use_resource=False)
            with v1.colocate_with(w.op):
                y = tf.nn.relu(x @ w)
            y = squares(y)
        s.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(s, path(name), {"x": x}, {"y": y})
    expect(name, {"x": normal(4, 3)})
    move(name)


class Narrow(tf.Module):
    def __init__(self):
        self.h = tf.Variable(tf.cast(normal(3, 3), tf.float16))
        self.b = tf.Variable(tf.cast(normal(3, 3), tf.bfloat16))

    @function(([None, 3], tf.float16), ([None, 3], tf.bfloat16))
    def f(self, h, b):
        return {"h": h @ self.h, "b": b @ self.b}


@model
def tf2_narrow(name):
    import ml_dtypes
    save(name, Narrow(), {"h": normal(2, 3).astype(np.float16), "b": normal(2, 3).astype(ml_dtypes.bfloat16)})


class Quantized(tf.Module):
    def __init__(self):
        self.w = tf.Variable(normal(3, 3, 3, 4))

    @function(([None, 8, 8, 3],))
    def f(self, x):
        x = tf.quantization.fake_quant_with_min_max_vars(x, -1.0, 1.0)
        w = tf.quantization.fake_quant_with_min_max_vars_per_channel(self.w, tf.fill([4], -1.0), tf.fill([4], 1.0))
        return {"y": tf.nn.conv2d(x, w, 2, "SAME")}


@model
def tf2_quantized(name):
    save(name, Quantized(), {"x": normal(1, 8, 8, 3)})


class Shards(tf.Module):
    def __init__(self):
        self.w = [tf.Variable(normal(300, 40)) for _ in range(4)]

    @function(([None, 300],))
    def f(self, x):
        return {"y": sum(x @ w for w in self.w)}


@model
def tf2_shards(name):
    sharding = tf.train.experimental.MaxShardSizePolicy(max_shard_size=20000)
    save(name, Shards(), {"x": normal(2, 300) / 16}, options=tf.saved_model.SaveOptions(experimental_sharding_callback=sharding))


class Scale(tf.Module):
    @function(([None],), ([],))
    def f(self, x, k):
        return {"y": x * k}


@model
def tf2_defaults(name):
    from tensorflow.core.protobuf import saved_model_pb2
    tf.saved_model.save(Scale(), path(name), signatures=Scale().f)
    file = os.path.join(path(name), "saved_model.pb")
    m = saved_model_pb2.SavedModel()
    with open(file, "rb") as f:
        m.ParseFromString(f.read())
    m.meta_graphs[0].signature_def["serving_default"].defaults["k"].CopyFrom(tf.make_tensor_proto(3.0))
    with open(file, "wb") as f:
        f.write(m.SerializeToString())
    expect(name, {"x": normal(3), "k": np.float32(3)}, omit=["k"])


def keras_models():
    import keras
    layers = keras.layers

    def keras_model(f):
        def make(name):
            m, feeds = f()
            m.export(path(name), verbose=False)
            expect(name, feeds)
        models[f.__name__] = make

    @keras_model
    def keras_cnn():
        return keras.Sequential([
            keras.Input((16, 16, 3), name="i"), layers.Rescaling(1 / 255.0), layers.Conv2D(8, 3, padding="same"), layers.BatchNormalization(),
            layers.ReLU(), layers.DepthwiseConv2D(3, strides=2), layers.GlobalAveragePooling2D(), layers.Dense(3)]), {"i": normal(2, 16, 16, 3)}

    @keras_model
    def keras_text():
        words = layers.TextVectorization(50, output_sequence_length=6)
        words.adapt(["the cat sat on the mat", "a dog ran"])
        return keras.Sequential([
            keras.Input((), dtype="string", name="t"), words, layers.Embedding(50, 8, mask_zero=True),
            layers.Bidirectional(layers.LSTM(5, return_sequences=True)), layers.GRU(4), layers.Dense(2)]), {"t": np.array([b"the dog sat", b"unknown"])}

    @keras_model
    def keras_transformer():
        i = keras.Input((10,), dtype="int32", name="ids")
        x = layers.Embedding(30, 16)(i)
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 8)(x, x, use_causal_mask=True))
        x = x + layers.Dense(16)(layers.Dense(32, "gelu")(x))
        return keras.Model(i, layers.Dense(5)(layers.GlobalMaxPooling1D()(x))), {"ids": rng.randint(0, 30, (2, 10)).astype(np.int32)}

    @model
    def keras_objects(name):
        """Its restore operation sets variables that its signature does not read."""
        m = keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu"), layers.BatchNormalization(), layers.Dense(3)])
        tf.saved_model.save(m, path(name))
        expect(name, {"inputs": normal(2, 4)})

    class Cache(tf.Module):
        """Words one by one, whose keys and values go to a cache, as language models of Keras write them."""

        def __init__(self):
            self.w, self.words = tf.Variable(normal(3, 8, 8) / 3), tf.Variable(normal(15, 8))

        @function(((2,), tf.int32), ((), tf.int32))
        def f(self, x, n):
            def body(i, word, cache, out):
                e = tf.gather(self.words, word)[:, None]
                cache = keras.ops.slice_update(cache, [0, 0, i, 0], tf.stack([e @ self.w[0], e @ self.w[1]], 1))
                s = tf.where(tf.range(9) <= i, (e @ self.w[2]) @ tf.transpose(cache[:, 0], [0, 2, 1]), -1e9)
                word = tf.argmax((e + tf.nn.softmax(s) @ cache[:, 1])[:, 0] @ tf.transpose(self.words), -1, tf.int32)
                return i + 1, word, cache, keras.ops.slice_update(out, [0, i], word[:, None])
            r = tf.while_loop(lambda i, *_: i < n, body, [0, x, tf.zeros([2, 2, 9, 8]), tf.zeros([2, 9], tf.int32)])
            return {"cache": r[2], "words": r[3]}

    @model
    def keras_cache(name):
        save(name, Cache(), {"x": np.array([3, 14], np.int32), "n": np.int32(7)})

    def application(name, net, size):
        def make(key):
            m = getattr(keras.applications, net)(weights=None, input_shape=(size, size, 3), classes=10)
            m.export(path(key), verbose=False)
            expect(key, {m.inputs[0].name: normal(1, size, size, 3)})
        models[name] = make

    application("keras_mobilenet", "MobileNetV3Small", 64)
    application("keras_resnet", "ResNet50", 48)
    application("keras_efficientnet", "EfficientNetB0", 48)


keras_models()
for key, (module, feeds) in tasks.items():
    models[key] = lambda name, module=module, feeds=feeds: save(name, module(), feeds())
for key, make in models.items():
    os.makedirs(os.path.join(root, key))
    make(key)
