"""Writes cases.json: what TensorFlow's tests of sequence losses, attention and decoders
compute, with values that this file computes from names and indices.

usage: python cases.py > cases.json

It needs Python 3.7 with tensorflow-cpu==1.15.0, numpy<1.19 and protobuf<3.20. The
shapes are those of loss_test, attention_wrapper_test and basic_decoder_test of
tf.contrib.seq2seq."""
import json
import os
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.simplefilter("ignore")
import numpy as np
import tensorflow as tf
from tensorflow.contrib import seq2seq

tf.logging.set_verbosity(tf.logging.ERROR)


def wave(*shape):
    return np.sin(np.arange(np.prod(shape), dtype=np.float64)).astype(np.float32).reshape(shape)


def initial(name, shape):
    n = int(np.prod(shape))
    return (np.sin(np.arange(n) * 1.7 + sum(map(ord, name)) % 17) * 0.3).reshape(shape).astype(np.float32)


def flat(x):
    return np.asarray(x, np.float64).round(7).reshape(-1).tolist()


WEIGHTS = {"ones": [[1, 1, 1], [1, 1, 1]], "mixed": [[1, 0.5, 2], [0, 1, 0]], "zeros": [[0, 0, 0], [0, 0, 0]]}
LOSSES = [(1, 1, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 0), (0, 0, 1, 1), (0, 0, 1, 0), (0, 0, 0, 1)]


def squares(labels, logits):
    return tf.reduce_sum(tf.square(logits - tf.one_hot(labels, 5)), 1)


def losses(sess):
    """By weights and flags (average across time, across the batch, sum over time, over the batch)."""
    out = {}
    for kind, logits in {"steps": np.arange(3)[None, :, None] + 0.5 + np.zeros([2, 3, 5]), "wave": wave(2, 3, 5)}.items():
        logits, targets = tf.constant(logits, tf.float32), tf.constant([[0, 1, 2], [0, 1, 2]])
        for name, w in WEIGHTS.items():
            for f in LOSSES:
                for function in (None, squares):
                    y = seq2seq.sequence_loss(logits, targets, tf.constant(w, tf.float32), *[bool(b) for b in f], softmax_loss_function=function)
                    out["%s %s %d%d%d%d%s" % ((kind, name) + f + (" squares" if function else "",))] = flat(sess.run(y))
    return out


ATTENTION = {
    "bahdanau": (lambda m, n, d: seq2seq.BahdanauAttention(6, m, n, dtype=d), 6, tf.float32),
    "bahdanau_normalized": (lambda m, n, d: seq2seq.BahdanauAttention(6, m, n, normalize=True, dtype=d), 6, tf.float32),
    "bahdanau_normalized_64": (lambda m, n, d: seq2seq.BahdanauAttention(6, m, n, normalize=True, dtype=d), 6, tf.float64),
    "luong": (lambda m, n, d: seq2seq.LuongAttention(9, m, n, dtype=d), 6, tf.float32),
    "luong_scaled": (lambda m, n, d: seq2seq.LuongAttention(9, m, n, scale=True, dtype=d), 6, tf.float32),
    "luong_scaled_64": (lambda m, n, d: seq2seq.LuongAttention(9, m, n, scale=True, dtype=d), 6, tf.float64),
    "no_attention_layer": (lambda m, n, d: seq2seq.BahdanauAttention(6, m, n, dtype=d), None, tf.float32),
}


def attention():
    """Decodes by a cell that looks at a memory: batch 5, memory [8 10], inputs [9 7], 9 units."""
    out = {}
    for name, (make, size, dtype) in ATTENTION.items():
        with tf.Graph().as_default(), tf.Session() as sess:
            memory, n = tf.cast(tf.constant(wave(5, 8, 10)), dtype), tf.constant([8, 3, 5, 1, 7])
            cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(9), make(memory, n, dtype), attention_layer_size=size)
            helper = seq2seq.TrainingHelper(tf.cast(tf.constant(wave(5, 9, 7)), dtype), tf.constant([9, 4, 6, 1, 9]))
            y, state, lengths = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, cell.zero_state(5, dtype)), impute_finished=True)
            for v in tf.global_variables():
                sess.run(v.initializer)
                v.load(initial(v.op.name, v.shape.as_list()), sess)
            y, state, lengths = sess.run((y, state, lengths))
            out[name] = {
                "output": flat(y.rnn_output), "samples": flat(y.sample_id), "lengths": flat(lengths),
                "state": [flat(s) for s in (state.cell_state.c, state.cell_state.h, state.attention, state.alignments)],
                "variables": sorted(v.op.name for v in tf.global_variables()),
            }
    return out


def steps():
    """One step of a decoder for each helper: batch 5, time 8, inputs of 7, a cell of 10 units, an output layer of 9 or none."""
    out, n = {}, [3, 4, 3, 1, 0]
    for name, classes in (("training", 0), ("training_layer", 9), ("greedy", 10), ("scheduled_never", 10), ("scheduled_always", 7)):
        with tf.Graph().as_default(), tf.Session() as sess:
            x, lengths, table = tf.constant(wave(5, 8, 7)), tf.constant(n), tf.constant(wave(10, 7))
            cell = tf.nn.rnn_cell.LSTMCell(classes if name[:6] in ("greedy", "schedu") else 10)
            layer = tf.layers.Dense(classes, name="words") if name == "training_layer" else None
            if name == "greedy":
                helper = seq2seq.GreedyEmbeddingHelper(table, tf.constant([1, 2, 3, 4, 5]), 7)
            elif name == "scheduled_never":
                helper = seq2seq.ScheduledEmbeddingTrainingHelper(x, lengths, table, 0.0)
            elif name == "scheduled_always":
                helper = seq2seq.ScheduledOutputTrainingHelper(x, lengths, 1.0)
            else:
                helper = seq2seq.TrainingHelper(x, lengths)
            d = seq2seq.BasicDecoder(cell, helper, cell.zero_state(5, tf.float32), layer)
            finished, first, state = d.initialize()
            with tf.variable_scope("decoder"):
                y, state, following, ended = d.step(tf.constant(0), first, state)
            for v in tf.global_variables():
                sess.run(v.initializer)
                v.load(initial(v.op.name, v.shape.as_list()), sess)
            r = sess.run((finished, first, y.rnn_output, y.sample_id, state, following, ended))
            out[name] = {"finished": flat(r[0]), "first": flat(r[1]), "output": flat(r[2]), "samples": flat(r[3]),
                         "state": [flat(s) for s in r[4]], "next": flat(r[5]), "ended": flat(r[6])}
    return out


with tf.Session() as sess:
    all = {"losses": losses(sess), "attention": attention(), "steps": steps()}
print("{\n" + ",\n".join('"%s": {\n%s\n}' % (k, ",\n".join(json.dumps(n) + ": " + json.dumps(c) for n, c in v.items())) for k, v in all.items()) + "\n}")
