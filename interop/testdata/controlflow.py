"""Control flow as TensorFlow builds it: what it computes, and the graphs.

Usage: controlflow.py lstm|values|graphs [TARGET]
"""
import math
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_v2_behavior()

STEPS, BATCH, INPUTS, HIDDEN = 6, 4, 3, 5


def wave(seed, *shape):
    n = int(np.prod(shape))
    return np.array([math.sin(0.7 * i + seed) for i in range(n)], np.float32).reshape(shape)


def lstm():
    x = tf.constant(wave(1, STEPS, BATCH, INPUTS))
    want = tf.constant(0.5 * wave(2, BATCH, HIDDEN))
    w = tf.Variable(0.4 * wave(3, INPUTS + HIDDEN, 4 * HIDDEN), name="w")
    b = tf.Variable(np.zeros(4 * HIDDEN, np.float32), name="b")
    rows = tf.TensorArray(tf.float32, STEPS).unstack(x)
    zero = tf.zeros([BATCH, HIDDEN])

    def body(t, h, c):
        z = tf.matmul(tf.concat([rows.read(t), h], 1), w) + b
        i, j, f, o = tf.split(z, 4, 1)
        c = c * tf.sigmoid(f + 1.0) + tf.sigmoid(i) * tf.tanh(j)
        return t + 1, tf.tanh(c) * tf.sigmoid(o), c

    _, h, _ = tf.while_loop(lambda t, h, c: t < STEPS, body, [0, zero, zero])
    loss = tf.reduce_mean(tf.square(h - want))
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session(sys.argv[2] if len(sys.argv) > 2 else "") as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(100):
            print(repr(float(sess.run(loss))))
            sess.run(step)
    print("done")


def cases():
    """Functions from x and w to y, by name."""

    def power(x, w):
        return tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * w), [0, x])[1]

    def nested(x, w):
        def inner(y):
            return tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, tf.sin(z) * w), [0, y])[1]

        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, inner(y) + x), [0, x])[1]

    def cond(x, w):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x * w, lambda: tf.sin(x))

    def cond_in_while(x, w):
        def body(i, y):
            return i + 1, tf.cond(i < 2, lambda: y * w, lambda: tf.sin(y))

        return tf.while_loop(lambda i, y: i < 4, body, [0, x])[1]

    def while_in_cond(x, w):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: power(x, w), lambda: x)

    def rows(x, w):
        def body(i, y):
            return i + 1, y + tf.gather(w, tf.expand_dims(i, 0)) * x

        return tf.while_loop(lambda i, y: i < 2, body, [0, x])[1]

    def arrays(x, w):
        ta = tf.TensorArray(tf.float64, 3)
        _, ta = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x * w * tf.cast(i, tf.float64))), [0, ta])
        return tf.reduce_sum(tf.square(ta.stack()), 0)

    def unused(x, w):
        return tf.while_loop(lambda i, y, z: i < 3, lambda i, y, z: (i + 1, y * z, z * w), [0, x, w])[1]

    return [power, nested, cond, cond_in_while, while_in_cond, rows, arrays, unused]


def values():
    for f in cases():
        with tf.Graph().as_default():
            x, w = tf.constant(np.array([0.5, 1.5])), tf.constant(np.array([1.25, 0.75]))
            y = f(x, w)
            gs = [tf.convert_to_tensor(g) for g in tf.gradients(y, [x, w])]
            with tf.Session(sys.argv[2] if len(sys.argv) > 2 else "") as sess:
                for v in sess.run([y] + gs):
                    print(f.__name__, *(repr(float(e)) for e in v))


def graphs():
    for f in cases()[:1] + cases()[2:3]:
        with tf.Graph().as_default() as g:
            x, w = tf.constant(np.array([0.5, 1.5]), name="x"), tf.constant(np.array([1.25, 0.75]), name="w")
            tf.gradients(f(x, w), [x, w])
            for n in g.as_graph_def().node:
                if n.op in FLOW:
                    print(f.__name__, n.op, n.name, n.attr["frame_name"].s.decode(), *n.input)


FLOW = "Switch Merge Enter Exit NextIteration LoopCond StackV2 StackPushV2 StackPopV2 ControlTrigger".split()

{"lstm": lstm, "values": values, "graphs": graphs}[sys.argv[1]]()
