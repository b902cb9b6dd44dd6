"""A client brings an op that the server does not know, then a graph that it does know.

Prints the error's type and whether its text names the op, and the result of the second graph.
"""
import sys

import tensorflow as tf

tf1 = tf.compat.v1
tf1.disable_v2_behavior()
config = tf1.ConfigProto(operation_timeout_in_ms=240000)

with tf.Graph().as_default(), tf1.Session(sys.argv[1], config=config) as session:
    op = tf.raw_ops.TPUReplicateMetadata(num_replicas=1)
    try:
        session.run(op)
        print("no error")
    except tf.errors.OpError as e:
        print(type(e).__name__, "TPUReplicateMetadata" in e.message)

with tf.Graph().as_default(), tf1.Session(sys.argv[1], config=config) as session:
    print(session.run(tf.constant(20.0) + 22.0))
