"""Restores the checkpoint of a partitioned DNNLinearCombined model and goes on.

usage: python partitioned.py CHECKPOINT

Variables are cut into three parts here. Prints the tensors of the checkpoint
that the graph does not have, the loss of the batch, and the loss after a step of
both optimizers.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def weights(name, shape):
    return tf.get_variable(name, shape)


def model(ids, labels):
    cut = tf.min_max_variable_partitioner(max_partitions=3, min_slice_size=1)
    with tf.variable_scope("dnn", partitioner=tf.min_max_variable_partitioner(max_partitions=1)):
        with tf.variable_scope("input_from_feature_columns/input_layer/word_embedding", partitioner=cut):
            rows = tf.nn.embedding_lookup(weights("embedding_weights", [9, 4]), ids, partition_strategy="div")
        with tf.variable_scope("hiddenlayer_0"):
            hidden = tf.nn.relu(tf.matmul(rows, weights("kernel", [4, 3])) + weights("bias", [3]))
        with tf.variable_scope("logits"):
            deep = tf.matmul(hidden, weights("kernel", [3, 1])) + weights("bias", [1])
    with tf.variable_scope("linear/linear_model", partitioner=cut):
        with tf.variable_scope("word"):
            wide = tf.nn.embedding_lookup(weights("weights", [9, 1]), ids, partition_strategy="div")
        wide += weights("bias_weights", [1])
    logits = tf.reshape(deep + wide, [-1])
    return tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def main(path):
    step = tf.train.get_or_create_global_step()
    ids = np.arange(32) % 9
    loss = model(tf.constant(ids), tf.constant(ids % 2, tf.float32))
    with tf.name_scope("head"):
        train = tf.group(
            tf.train.AdamOptimizer(0.01).minimize(loss, var_list=tf.trainable_variables("dnn")),
            tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("linear")),
        )
    have = {v._save_slice_info.full_name if v._save_slice_info else v.op.name for v in tf.global_variables()}
    print(sorted(have ^ {name for name, _ in tf.train.list_variables(path)}))
    with tf.Session() as s:
        tf.train.Saver().restore(s, path)
        print(s.run(loss))
        s.run(train)
        print(s.run(loss))


main(sys.argv[1])
