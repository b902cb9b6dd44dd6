"""Writes seq2seq.json and the checkpoint seq2seq.ckpt: a network that reads
sequences and writes them reversed, with attention, its initial variables, its losses
over 200 steps and what it writes then.

usage: python seq2seq.py DIRECTORY

It needs Python 3.7 with tensorflow-cpu==1.15.0, numpy<1.19 and protobuf<3.20."""
import json
import os
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.simplefilter("ignore")
import numpy as np
import tensorflow as tf
from tensorflow.contrib import seq2seq

tf.logging.set_verbosity(tf.logging.ERROR)
C = tf.nn.rnn_cell
BATCH, TIME, WORDS, UNITS, SIZE = 8, 6, 12, 16, 8


def sentences():
    """Words 2 … of sentences of 3 to 6 words, then 0."""
    source = np.zeros([BATCH, TIME], np.int32)
    lengths = np.array([3 + i % 4 for i in range(BATCH)], np.int32)
    target = np.zeros([BATCH, TIME + 1], np.int32)
    for i, n in enumerate(lengths):
        source[i, :n] = [2 + (i * 7 + j * j * 3 + i * j) % (WORDS - 2) for j in range(n)]
        target[i, :n] = source[i, :n][::-1]
    given = np.concatenate([np.ones([BATCH, 1], np.int32), target[:, :-1]], 1)
    return source, lengths, target, given


def main(directory):
    tf.set_random_seed(5)
    source, lengths, target, given = (tf.constant(x) for x in sentences())
    embedding = tf.get_variable("embedding", [WORDS, SIZE])
    look = lambda ids: tf.nn.embedding_lookup(embedding, ids)
    encoded, state = tf.nn.dynamic_rnn(C.LSTMCell(UNITS), look(source), lengths, dtype=tf.float32, scope="encoder")
    attention = seq2seq.BahdanauAttention(UNITS, encoded, lengths, normalize=True)
    cell = seq2seq.AttentionWrapper(C.LSTMCell(UNITS), attention, attention_layer_size=UNITS)
    initial = cell.zero_state(BATCH, tf.float32).clone(cell_state=state)
    words = tf.layers.Dense(WORDS, name="words")

    def decode(helper, reuse):
        with tf.variable_scope("decode", reuse=reuse):
            decoder = seq2seq.BasicDecoder(cell, helper, initial, words)
            return seq2seq.dynamic_decode(decoder, maximum_iterations=TIME + 1)

    out, _, _ = decode(seq2seq.TrainingHelper(look(given), lengths + 1), False)
    weights = tf.sequence_mask(lengths + 1, TIME + 1, tf.float32)
    loss = seq2seq.sequence_loss(out.rnn_output, target, weights)
    written, _, _ = decode(seq2seq.GreedyEmbeddingHelper(embedding, tf.ones([BATCH], tf.int32), 0), True)
    variables = tf.trainable_variables()
    grads, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
    saver = tf.train.Saver()
    step = tf.train.AdamOptimizer(0.002).apply_gradients(zip(grads, variables))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, os.path.join(directory, "seq2seq.ckpt"), write_meta_graph=False, write_state=False)
        losses = [float(sess.run((loss, step))[0]) for _ in range(200)]
        ids = sess.run(written.sample_id)
    with open(os.path.join(directory, "seq2seq.json"), "w") as f:
        json.dump({"losses": [round(x, 7) for x in losses], "written": ids.tolist(), "variables": [v.op.name for v in variables]}, f)
        f.write("\n")


main(sys.argv[1])
