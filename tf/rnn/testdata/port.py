"""Writes port.json and the checkpoint port.ckpt: a small network in the manner of
TensorFlow's PTB tutorial, its initial variables and its losses over 200 steps.

usage: TF_USE_LEGACY_KERAS=1 python port.py DIRECTORY

It needs tensorflow-cpu==2.21.0 and tf-keras==2.21.0."""
import json
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.enable_resource_variables()
VOCABULARY, UNITS, BATCH, TIME = 20, 16, 4, 10


def main(directory):
    tf.set_random_seed(5)
    words = [(i * i + i // 3) % VOCABULARY for i in range(BATCH * (TIME + 1))]
    words = tf.reshape(tf.constant(words), [BATCH, TIME + 1])
    x, y = words[:, :-1], words[:, 1:]
    with tf.variable_scope("Model", initializer=tf.random_uniform_initializer(-0.1, 0.1)):
        embedding = tf.get_variable("embedding", [VOCABULARY, UNITS])
        cells = [tf.nn.rnn_cell.BasicLSTMCell(UNITS, forget_bias=0.0) for _ in range(2)]
        out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), tf.nn.embedding_lookup(embedding, x), dtype=tf.float32)
        w = tf.get_variable("softmax_w", [UNITS, VOCABULARY])
        b = tf.get_variable("softmax_b", [VOCABULARY])
        logits = tf.nn.xw_plus_b(tf.reshape(out, [-1, UNITS]), w, b)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(y, [-1]), logits=logits))
    variables = tf.trainable_variables()
    grads, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.2)
    saver = tf.train.Saver()
    step = tf.train.GradientDescentOptimizer(1.0).apply_gradients(zip(grads, variables))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, os.path.join(directory, "port.ckpt"), write_meta_graph=False, write_state=False)
        losses = [float(sess.run((loss, step))[0]) for _ in range(200)]
    with open(os.path.join(directory, "port.json"), "w") as f:
        json.dump([round(x, 7) for x in losses], f)
        f.write("\n")


main(sys.argv[1])
