"""Real messages for the tests of this package.

  messages.py write DIR      writes the golden files
  messages.py binary         reads a MetaGraphDef in text form on standard input
                             and writes its binary form on standard output
"""

import os
import sys

import tensorflow as tf
from google.protobuf import any_pb2, text_format
from tensorflow.core.protobuf import meta_graph_pb2


def training_graph():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 3], name="x")
        w = tf.compat.v1.get_variable("w", [3, 2], use_resource=False)
        tf.constant([b"a", b"\xff"], name="strings")
        i = tf.constant(0)
        tf.while_loop(lambda i: i < 10, lambda i: i + 1, [i])
        loss = tf.reduce_mean(tf.matmul(x, w), name="loss")
        tf.compat.v1.train.GradientDescentOptimizer(0.5).minimize(loss)
        tf.compat.v1.train.Saver()
    return graph


def meta_graph():
    with training_graph().as_default() as graph:
        meta = tf.compat.v1.train.export_meta_graph(graph=graph, clear_devices=True)
    asset = meta_graph_pb2.AssetFileDef(filename="vocabulary.txt")
    asset.tensor_info.name = "strings:0"
    packed = any_pb2.Any()
    packed.Pack(asset)
    meta.collection_def["saved_model_assets"].any_list.value.append(packed)
    return meta


def write(directory):
    os.chdir(directory)
    meta = meta_graph()
    with open("meta_graph.pb", "wb") as f:
        f.write(meta.SerializeToString(deterministic=True))
    with open("meta_graph.pbtxt", "w") as f:
        f.write(text_format.MessageToString(meta))
    tf.compat.v1.train.update_checkpoint_state(
        ".", "model.ckpt-100", ["model.ckpt-0", "model.ckpt-100"],
        all_model_checkpoint_timestamps=[1.7e9, 1.7e9 + 60.5], last_preserved_timestamp=1.7e9 - 1)


def binary():
    meta = text_format.Parse(sys.stdin.read(), meta_graph_pb2.MetaGraphDef())
    sys.stdout.buffer.write(meta.SerializeToString(deterministic=True))


if __name__ == "__main__":
    write(sys.argv[2]) if sys.argv[1] == "write" else binary()
