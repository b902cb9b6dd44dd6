"""MetaGraphs between TensorFlow and Gorge.

Usage: metagraph.py make DIR  writes v1.meta (reference variables) and v2.meta (resources) and prints their losses in training
       metagraph.py train FILE  imports FILE and prints its losses in training
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_v2_behavior()


def model(resource):
    with tf.variable_scope("net", use_resource=resource):
        w = tf.get_variable("w", initializer=[[0.5, -1.0], [1.5, 0.25]])
        table = tf.get_variable("table", [5, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.constant_initializer(0.5))
        count = tf.get_variable("count", initializer=0, trainable=False, collections=[tf.GraphKeys.LOCAL_VARIABLES])
    x = tf.nn.embedding_lookup(table, [0, 4, 3, 0], partition_strategy="div")
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x])[1]
    loss = tf.cond(tf.reduce_sum(y) > 0, lambda: tf.reduce_mean(tf.square(y - 1)), lambda: tf.reduce_mean(tf.square(y + w[0, 0])))
    tf.add_to_collection("losses", loss)
    tf.add_to_collection("sizes", 3)
    queue = tf.FIFOQueue(3, [tf.int32], [[]], name="numbers")
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(count)]))


def train(steps=5):
    loss = tf.get_collection("losses")[0]
    step = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for _ in range(steps):
            print(repr(float(sess.run([loss, step])[0])))


if sys.argv[1] == "make":
    for name, resource in [("v1", False), ("v2", True)]:
        with tf.Graph().as_default():
            model(resource)
            tf.train.export_meta_graph(os.path.join(sys.argv[2], name + ".meta"))
            train()
else:
    tf.train.import_meta_graph(sys.argv[2], import_scope="sub")
    print(len(tf.trainable_variables()), len(tf.local_variables()), len(tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)), tf.get_collection("sizes"))
    train()
