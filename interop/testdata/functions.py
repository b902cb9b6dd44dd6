"""Graphs of TensorFlow 2 programs: functions, control flow of functions, Keras models.

Usage: functions.py make DIR          writes the graphs, and what they compute to DIR/cases.json
       functions.py run DIR TARGET    runs the graphs at TARGET and prints how far off the values are
"""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2 as freeze  # noqa: E402

tf.keras.utils.set_random_seed(7)


def wave(*shape):
    return np.sin(0.7 * np.arange(np.prod(shape)) + 1).astype(np.float32).reshape(shape)


def flow(x):
    """Loops and conditionals in each other, an accumulator, a limit of iterations."""
    steps = tf.TensorArray(tf.float32, 4)
    y = x
    for i in tf.range(4):
        if tf.reduce_sum(y) > 1.0:
            y = tf.sin(y) * x
        else:
            z = y
            while tf.reduce_max(tf.abs(z)) < 3.0:
                z = z * 1.5 + 0.1
            y = z + tf.cast(i, tf.float32)
        steps = steps.write(i, y)
    limited = tf.while_loop(lambda a: True, lambda a: (a * 1.1 + x,), [y], maximum_iterations=3)[0]
    return limited + tf.reduce_sum(steps.stack(), 0)


def choice(x):
    """One of several functions in a loop."""
    for i in tf.range(3):
        x = tf.switch_case(i, [lambda: x * x, lambda: tf.exp(-x), lambda: -x])
    return x


def cnn():
    layers = tf.keras.layers
    return tf.keras.Sequential([
        layers.Input((8, 8, 1)), layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.MaxPooling2D(),
        layers.Flatten(), layers.Dense(5, activation="gelu"), layers.Dense(3, activation="softmax")])


def lstm():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Input((5, 3)), layers.LSTM(4, return_sequences=True), layers.GRU(4), layers.Dense(2)])


def v1():
    """A graph with control flow of the old kind."""
    c = tf.compat.v1
    with tf.Graph().as_default() as g:
        c.disable_control_flow_v2()
        x = c.placeholder(tf.float32, [2, 3], "x")
        _, y = c.while_loop(lambda i, y: i < 5, lambda i, y: (i + 1, c.cond(i < 3, lambda: y * x, lambda: tf.tanh(y))), [0, x])
        y = tf.identity(y, "y")
        with c.Session() as sess:
            want = sess.run(y, {x: wave(2, 3)})
        c.enable_control_flow_v2()
    return case("v1", g.as_graph_def(), {"x:0": wave(2, 3)}, "y:0", want)


def case(name, graph, feeds, fetch, want, **more):
    path = os.path.join(sys.argv[2], name + ".pb")
    with open(path, "wb") as f:
        f.write(graph.SerializeToString())
    return dict(name=name, feeds={k: tensor(v) for k, v in feeds.items()}, fetch=fetch, want=tensor(want), **more)


def tensor(v):
    v = np.asarray(v)
    return {"shape": list(v.shape), "values": [float(e) for e in v.flatten()]}


def calls(name, f, shape, freezes=True):
    """The function as a call in a graph whose variables are assigned, and frozen if TensorFlow can do that."""
    function = tf.function(f)
    concrete = function.get_concrete_function(tf.TensorSpec(shape, tf.float32))
    x = tf.constant(wave(*shape))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    want, dx = y.numpy(), tensor(tape.gradient(y, x).numpy())
    variables = {id(v.handle): (v, tensor(v.numpy())) for v in concrete.variables}
    with tf.Graph().as_default() as g:
        arg = tf.compat.v1.placeholder(tf.float32, shape, "x")
        assigned, handles = {}, []
        for i, h in enumerate(concrete.captured_inputs):
            v, assigned["v%d" % i] = variables[id(h)]
            handle = tf.raw_ops.VarHandleOp(dtype=v.dtype, shape=v.shape, shared_name="v%d" % i, name="v%d" % i)
            value = tf.compat.v1.placeholder(v.dtype, v.shape, "v%d_value" % i)
            tf.raw_ops.AssignVariableOp(resource=handle, value=value, name="v%d_assign" % i)
            handles.append(handle)
        concrete.add_to_graph(g)
        call = tf.raw_ops.StatefulPartitionedCall(args=[arg] + handles, Tout=[tf.float32], f=concrete.name.decode())
        tf.identity(call[0], "y")
    yield case(name, g.as_graph_def(), {"x:0": wave(*shape)}, "y:0", want, assign=assigned, x="x:0", dx=dx)
    if freezes:
        frozen = freeze(concrete, lower_control_flow=False)
        x, y = frozen.inputs[0].name, frozen.outputs[0].name
        yield case(name + "_frozen", frozen.graph.as_graph_def(), {x: wave(*shape)}, y, want, x=x, dx=dx)


def make():
    cases = [*calls("flow", flow, (2, 3)), *calls("choice", choice, (2, 3), False), *calls("cnn", cnn(), (2, 8, 8, 1)), *calls("lstm", lstm(), (2, 5, 3)), v1()]
    with open(os.path.join(sys.argv[2], "cases.json"), "w") as f:
        json.dump(cases, f)
    print(len(cases))


def array(v):
    return np.array(v["values"], np.float32).reshape(v["shape"])


def run():
    c = tf.compat.v1
    with open(os.path.join(sys.argv[2], "cases.json")) as f:
        cases = json.load(f)
    for k in cases:
        graph = c.GraphDef()
        with open(os.path.join(sys.argv[2], k["name"] + ".pb"), "rb") as f:
            graph.ParseFromString(f.read())
        with tf.Graph().as_default() as g, c.Session(sys.argv[3]) as sess:
            c.import_graph_def(graph, name="")
            for v, value in k.get("assign", {}).items():
                sess.run(g.get_operation_by_name(v + "_assign"), {v + "_value:0": array(value)})
            got = sess.run(k["fetch"], {x: array(v) for x, v in k["feeds"].items()})
        print(k["name"], float(np.max(np.abs(got - array(k["want"])))))


{"make": make, "run": run}[sys.argv[1]]()
