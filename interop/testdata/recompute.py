"""Trains a network by a server with each way of RewriterConfig.memory_optimization, with
and without marks in the graph, and prints for each whether the losses are those of
TensorFlow in process, whether they are the same to the bit as with the first way, and
how many operations were computed again.

Usage: recompute.py TARGET"""
import sys

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.core.protobuf import rewriter_config_pb2

v1 = tf.compat.v1
v1.disable_v2_behavior()


def network(marked):
    marks = {"_recompute_hint": attr_value_pb2.AttrValue(i=0)} if marked else {}
    y = v1.random_normal([64, 64], seed=3)
    for i in range(6):
        w = v1.get_variable("w%d" % i, [64, 64], initializer=v1.glorot_uniform_initializer(seed=i))
        y = tf.matmul(y, w)
        with v1.get_default_graph()._attr_scope(marks):
            y = tf.nn.relu(y + 0.1) * 0.5
    loss = tf.reduce_mean(tf.square(y))
    return loss, v1.train.GradientDescentOptimizer(0.5).minimize(loss)


def trained(target, way, marked):
    c = v1.ConfigProto()
    c.graph_options.rewrite_options.memory_optimization = way
    with tf.Graph().as_default() as g:
        g.seed = 1
        fetches = network(marked)
        with v1.Session(target, config=c) as s:
            s.run(v1.global_variables_initializer())
            losses = [s.run(fetches)[0] for _ in range(4)]
            m = v1.RunMetadata()
            s.run(fetches, options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), run_metadata=m)
    return np.array(losses), sum("Recomputed" in n.timeline_label for d in m.step_stats.dev_stats for n in d.node_stats)


ways = rewriter_config_pb2.RewriterConfig
plain, _ = trained("", ways.NO_MEM_OPT, False)
first = None
for way in ("NO_MEM_OPT", "DEFAULT_MEM_OPT", "MANUAL", "RECOMPUTATION_HEURISTICS", "HEURISTICS"):
    for marked in (False, True):
        losses, again = trained(sys.argv[1], getattr(ways, way), marked)
        first = losses if first is None else first
        print(way, "marked" if marked else "plain", "near" if np.allclose(losses, plain, rtol=1e-5) else losses, "same" if (losses == first).all() else losses, "again" if again else "kept")
