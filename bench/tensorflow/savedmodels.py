"""Measures models beside TensorFlow: python savedmodels.py GORGE DIR [MODEL...]

GORGE is the binary; models and inputs are made in DIR, once. Each row runs in a process
of its own. TensorFlow's are its C API, called by savedmodel_capi.c, which gcc builds, and
its loader and Session in Python, which is what a program in Python that serves a model
does.
"""

import os
import subprocess
import sys
import threading
import time

RUNS = {"mlp": 4000, "mobilenet": 400, "resnet50": 100, "transformer": 300, "examples": 10000}


def make(where, names):
    import numpy as np

    for name in names:
        model = os.path.join(where, name)
        if os.path.exists(model + ".capi"):
            continue
        key, value = MAKERS[name](model)
        np.savez(model + ".npz", **{key: value})
        describe(model, key, value)


def describe(model, key, value):
    """Writes the input as it lies in memory, and what savedmodel_capi.c is told."""
    import tensorflow as tf

    with tf.Graph().as_default(), tf.compat.v1.Session() as s:
        signature = tf.compat.v1.saved_model.load(s, ["serve"], model).signature_def["serving_default"]
    with open(model + ".raw", "wb") as f:
        f.write(value[0] if value.dtype.kind == "S" else value.tobytes())
    given = signature.inputs[key]
    with open(model + ".capi", "w") as f:
        f.write(" ".join([o.name for o in signature.outputs.values()] + ["--", given.name, str(given.dtype), model + ".raw"] + [str(n) for n in value.shape]))


def exported(net, model, value=None):
    import numpy as np

    net.export(model, verbose=False)
    if value is None:
        value = np.random.RandomState(0).rand(1, *net.inputs[0].shape[1:]).astype("float32")
    return net.inputs[0].name, value


def mlp(model):
    import keras

    given = keras.Input((32,))
    x = given
    for _ in range(3):
        x = keras.layers.Dense(256, activation="relu")(x)
    return exported(keras.Model(given, keras.layers.Dense(10, activation="softmax")(x)), model)


def mobilenet(model):
    import keras

    return exported(keras.applications.MobileNetV3Small(weights=None, input_shape=(224, 224, 3)), model)


def resnet50(model):
    import keras

    return exported(keras.applications.ResNet50(weights=None), model)


def transformer(model):
    """Four layers of width 256 with four heads, over 64 words."""
    import keras
    import numpy as np

    layers = keras.layers
    ids = keras.Input((64,), dtype="int32", name="ids")
    x = layers.Embedding(8000, 256)(ids) + layers.Embedding(64, 256)(keras.ops.arange(64))
    for _ in range(4):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 64)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(256)(layers.Dense(1024, "gelu")(x)))
    net = keras.Model(ids, layers.Dense(2)(layers.GlobalAveragePooling1D()(x)))
    return exported(net, model, np.random.RandomState(0).randint(0, 8000, (1, 64)).astype("int32"))


def examples(model):
    """A network over parsed tf.Examples: 16 numbers, four words with embeddings."""
    import numpy as np
    import tensorflow as tf

    rng = np.random.RandomState(0)
    variable = lambda a, b: tf.Variable((rng.randn(a, b) / a**0.5).astype("float32"))
    net = tf.Module()
    net.e = [variable(1000, 16) for _ in range(4)]
    net.w = [variable(*s) for s in ((80, 256), (256, 128), (128, 1))]
    words = [f"c{k}" for k in range(4)]
    spec = {"n": tf.io.FixedLenFeature([16], tf.float32), **{w: tf.io.FixedLenFeature([], tf.string, "") for w in words}}

    def score(examples):
        p = tf.io.parse_example(examples, spec)
        x = tf.concat([p["n"]] + [tf.nn.embedding_lookup(e, tf.strings.to_hash_bucket_fast(p[w], 1000)) for e, w in zip(net.e, words)], 1)
        for w in net.w[:-1]:
            x = tf.nn.relu(x @ w)
        return {"score": tf.sigmoid(x @ net.w[-1])}

    net.f = tf.function(score, input_signature=[tf.TensorSpec([None], tf.string, name="examples")])
    tf.saved_model.save(net, model, signatures=net.f)
    feature = {w: tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"user-" + w.encode()])) for w in words}
    feature["n"] = tf.train.Feature(float_list=tf.train.FloatList(value=rng.rand(16) + 0.1))
    example = tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
    return "examples", np.array([example])


MAKERS = {"mlp": mlp, "mobilenet": mobilenet, "resnet50": resnet50, "transformer": transformer, "examples": examples}


def capi(where):
    """Builds the program that calls TensorFlow's C API and returns its path."""
    import importlib.util

    lib = os.path.dirname(importlib.util.find_spec("tensorflow").origin)
    out = os.path.join(where, "savedmodel_capi")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "savedmodel_capi.c")
    libraries = [os.path.join(lib, f"libtensorflow_{part}.so.2") for part in ("cc", "framework")]
    subprocess.run(["gcc", "-O2", "-I" + os.path.join(lib, "include"), source, "-o", out, *libraries, "-Wl,-rpath," + lib, "-lpthread"], check=True)
    return out


def tensorflow(model, npz, runs, clients):
    """Prints what gorge savedmodel bench prints."""
    start = time.perf_counter()
    import numpy as np
    import tensorflow as tf

    tf1 = tf.compat.v1
    imported = time.perf_counter() - start
    start = time.perf_counter()
    with tf1.Session(graph=tf.Graph()) as s:
        signature = tf1.saved_model.load(s, ["serve"], model).signature_def["serving_default"]
        loaded = time.perf_counter() - start
        given = np.load(npz)
        feeds = {signature.inputs[k].name: given[k] for k in given}
        fetches = {k: v.name for k, v in signature.outputs.items()}
        start = time.perf_counter()
        s.run(fetches, feeds)
        first = time.perf_counter() - start
        call = s.make_callable(list(fetches.values()), feed_list=list(feeds))
        values = list(feeds.values())

        def measured(n):
            times = []

            def client():
                for _ in range(n // clients):
                    began = time.perf_counter()
                    call(*values)
                    times.append(time.perf_counter() - began)

            threads = [threading.Thread(target=client) for _ in range(clients)]
            began = time.perf_counter()
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            return sorted(times), time.perf_counter() - began

        measured(max(clients, runs // 10))
        times, wall = measured(runs)
    at = lambda share: times[int(share * (len(times) - 1))] * 1e3
    print(f"import {imported * 1e3:.1f}ms load {loaded * 1e3:.3f}ms, first run {first * 1e3:.3f}ms")
    print(f"p50 {at(0.5):.3f}ms p99 {at(0.99):.3f}ms {len(times) / wall:.1f} runs/s")


def peak(command):
    """Runs a command and returns what it prints, and its largest memory in MiB."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(w, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.execv(command[0], command)
    os.close(w)
    with os.fdopen(r) as f:
        text = f.read()
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit(f"{command} failed")
    return text, used.ru_maxrss / 1024


def main():
    if sys.argv[5:] == ["session"]:
        return tensorflow(*sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4]))
    gorge, where, names = sys.argv[1], sys.argv[2], sys.argv[3:] or list(RUNS)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {here!r}); import savedmodels; savedmodels.make({where!r}, {names!r})"], check=True, stderr=subprocess.DEVNULL)
    program = capi(where)
    for name in names:
        model = os.path.join(where, name)
        npz, runs = model + ".npz", RUNS[name]
        with open(model + ".capi") as f:
            told = f.read().split()
        for clients in (1, 64):
            commands = {
                "gorge": [gorge, "savedmodel", "bench", model, "--inputs=" + npz, f"--runs={runs}", f"--clients={clients}"],
                "capi": [program, model, str(runs), str(clients), *told],
                "session": [sys.executable, os.path.abspath(__file__), model, npz, str(runs), str(clients), "session"],
            }
            for who, command in list(commands.items()) * 2:
                text, mib = peak(command)
                print(f"{name} {clients} {who}: {' '.join(text.split())}; {mib:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
