"""Measures models that Keras exports beside TensorFlow: python savedmodels.py GORGE DIR

GORGE is the binary; models and inputs are made in DIR. Each row runs in a process of
its own, TensorFlow's with its loader for SavedModels and a Session, which is what a
program in Python that serves a model does.
"""

import os
import subprocess
import sys
import threading
import time

RUNS = {"mlp": 4000, "mobilenet": 400}


def make(where):
    import keras
    import numpy as np

    given = keras.Input((32,))
    x = given
    for _ in range(3):
        x = keras.layers.Dense(256, activation="relu")(x)
    mlp = keras.Model(given, keras.layers.Dense(10, activation="softmax")(x))
    mobilenet = keras.applications.MobileNetV3Small(weights=None, input_shape=(224, 224, 3))
    for name, model in (("mlp", mlp), ("mobilenet", mobilenet)):
        model.export(os.path.join(where, name), verbose=False)
        shape = (1,) + model.inputs[0].shape[1:]
        values = np.random.RandomState(0).rand(*shape).astype("float32")
        np.savez(os.path.join(where, name + ".npz"), **{model.inputs[0].name: values})


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
    if len(sys.argv) == 6:
        return tensorflow(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    gorge, where = sys.argv[1:]
    subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r}); import savedmodels; savedmodels.make({where!r})"], check=True, stderr=subprocess.DEVNULL)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    for name, runs in RUNS.items():
        model, npz = os.path.join(where, name), os.path.join(where, name + ".npz")
        for clients in (1, 64):
            ours = [gorge, "savedmodel", "bench", model, "--inputs=" + npz, f"--runs={runs}", f"--clients={clients}"]
            theirs = [sys.executable, os.path.abspath(__file__), model, npz, str(runs), str(clients), "tensorflow"]
            for who, command in (("gorge", ours), ("tensorflow", theirs)) * 2:
                text, mib = peak(command)
                print(f"{name} {clients} {who}: {' '.join(text.split())}; {mib:.0f} MiB", flush=True)


if __name__ == "__main__":
    main()
