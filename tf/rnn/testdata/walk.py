"""Writes walk.json and the checkpoint walk.ckpt: a network of every cell.

usage: TF_USE_LEGACY_KERAS=1 python walk.py DIRECTORY

It needs tensorflow-cpu==2.21.0 and tf-keras==2.21.0. Each case is in a variable
scope of its own name; inputs are sin(i), [3 sequences, 5 steps, 4 numbers], or
with time first the same numbers as [5 3 4]."""
import json
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.enable_resource_variables()
C, nn = tf.nn.rnn_cell, tf.nn
lengths = tf.constant([5, 2, 0])


def wave(*shape):
    return np.sin(np.arange(np.prod(shape), dtype=np.float64)).astype(np.float32).reshape(shape)


def dynamic(cell, **options):
    return lambda x: nn.dynamic_rnn(cell(), x, dtype=tf.float32, **options)


def given(x):
    return nn.dynamic_rnn(C.BasicLSTMCell(3), x, initial_state=C.LSTMStateTuple(tf.constant(wave(3, 3)), tf.constant(wave(3, 3) / 2)), sequence_length=lengths)


def bidirectional(x):
    (fw, bw), states = nn.bidirectional_dynamic_rnn(C.GRUCell(3), C.BasicLSTMCell(2), x, sequence_length=lengths, dtype=tf.float32)
    return tf.concat([fw, bw], -1), states


def static(x):
    ys, state = nn.static_rnn(C.LSTMCell(3), tf.unstack(x, axis=1), dtype=tf.float32, sequence_length=lengths)
    return tf.stack(ys, 1), state


def raw(x):
    """A network that runs over lengths and keeps the sum of its outputs."""
    cell, n = C.LSTMCell(3), tf.constant([5, 2, 1])
    ta = tf.TensorArray(tf.float32, 5).unstack(tf.transpose(x, [1, 0, 2]))

    def decide(time, output, state, loop):
        state = cell.zero_state(3, tf.float32) if output is None else state
        loop = tf.zeros([3, 3]) if output is None else loop + output
        finished = time >= n
        step = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([3, 4]), lambda: ta.read(time))
        return finished, step, state, None if output is None else output, loop

    emit, state, loop = nn.raw_rnn(cell, decide)
    return tf.transpose(emit.stack(), [1, 0, 2]), (state, loop)


def stacked():
    return C.MultiRNNCell([C.BasicLSTMCell(3), C.ResidualWrapper(C.GRUCell(3)), C.LSTMCell(2)])


CASES = {
    "basic_rnn": dynamic(lambda: C.BasicRNNCell(3)),
    "basic_rnn_relu": dynamic(lambda: C.BasicRNNCell(3, activation=tf.nn.relu), time_major=True),
    "gru": dynamic(lambda: C.GRUCell(3), sequence_length=lengths),
    "basic_lstm": dynamic(lambda: C.BasicLSTMCell(3)),
    "basic_lstm_lengths": dynamic(lambda: C.BasicLSTMCell(3, forget_bias=0.5), sequence_length=lengths, swap_memory=True),
    "lstm": dynamic(lambda: C.LSTMCell(3), sequence_length=lengths),
    "lstm_peepholes": dynamic(lambda: C.LSTMCell(3, use_peepholes=True, cell_clip=0.3)),
    "lstm_projection": dynamic(lambda: C.LSTMCell(3, use_peepholes=True, num_proj=2, proj_clip=0.1, forget_bias=0.0), sequence_length=lengths),
    "multi": dynamic(stacked, sequence_length=lengths),
    "device": dynamic(lambda: C.DeviceWrapper(C.LSTMCell(3), "/cpu:0")),
    "residual": dynamic(lambda: C.ResidualWrapper(C.GRUCell(4))),
    "named": dynamic(lambda: C.GRUCell(3, name="mine"), scope="decoder"),
    "given": given,
    "bidirectional": bidirectional,
    "static": static,
    "raw": raw,
}


def main(directory):
    tf.set_random_seed(7)
    cases, fetches = {}, {}
    for name, build in CASES.items():
        x = tf.constant(wave(5, 3, 4) if name == "basic_rnn_relu" else wave(3, 5, 4))
        before = len(tf.global_variables())
        with tf.variable_scope(name):
            y, state = build(x)
        added = tf.global_variables()[before:]
        flat = tf.nest.flatten(state)
        loss = tf.reduce_sum(y * y) + tf.add_n([tf.reduce_sum(s) for s in flat])
        fetches[name] = {"out": y, "state": flat, "gradients": tf.gradients(loss, [x] + added)}
        cases[name] = {"variables": [v.op.name for v in added]}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for v in tf.global_variables():
            value = sess.run(v)
            v.load(value + 0.1 * np.cos(np.arange(value.size, dtype=np.float32)).reshape(value.shape), sess)
        tf.train.Saver().save(sess, os.path.join(directory, "walk.ckpt"), write_meta_graph=False, write_state=False)
        flat = lambda v: np.asarray(v, np.float64).round(6).reshape(-1).tolist()
        for name, f in fetches.items():
            out = sess.run(f)
            cases[name].update(result=list(out["out"].shape), out=flat(out["out"]), state=[flat(s) for s in out["state"]], gradients=[flat(g) for g in out["gradients"]])
    with open(os.path.join(directory, "walk.json"), "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(c)}" for n, c in cases.items()) + "\n}\n")


main(sys.argv[1])
