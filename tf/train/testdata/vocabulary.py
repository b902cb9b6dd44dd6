"""Writes vocabulary.json, vocabulary.ckpt and the vocabularies old.txt and new.txt:
what TensorFlow's tf.train.warm_start makes of matrices whose words have moved.

usage: python vocabulary.py DIRECTORY

It needs tensorflow-cpu==2.21.0."""
import json
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.enable_resource_variables()
OLD, NEW = ["a", "b", "c", "d"], ["d", "e", "a", "f", "b"]
# name, axis, new size, words beside it, old size, parts, value of new ones
CASES = [
    ("rows", 0, 5, 0, 4, 1, 7.0), ("rows_fewer", 0, 3, 2, 4, 1, -1.0), ("rows_old", 0, 5, 1, 2, 1, 0.0), ("rows_parts", 0, 5, 2, -1, 3, 7.0),
    ("columns", 1, 5, 0, 4, 1, 7.0), ("columns_more", 1, 4, 0, -1, 1, -1.0),
]


def main(directory):
    os.chdir(directory)
    for name, words in (("old.txt", OLD), ("new.txt", NEW)):
        with open(name, "w") as f:
            f.write("\n".join(words) + "\n")
    with tf.Graph().as_default(), tf.Session() as s:
        tf.get_variable("rows", initializer=np.arange(12, dtype=np.float32).reshape(4, 3))
        tf.get_variable("columns", initializer=np.arange(8, dtype=np.float32).reshape(2, 4))
        s.run(tf.global_variables_initializer())
        tf.train.Saver().save(s, "./vocabulary.ckpt", write_meta_graph=False, write_state=False)
    out = {}
    for name, axis, size, more, old, parts, fresh in CASES:
        with tf.Graph().as_default(), tf.Session() as s:
            shape = [size + more, 3] if axis == 0 else [2, size + more]
            tf.get_variable("v", shape, initializer=tf.zeros_initializer(), partitioner=tf.fixed_size_partitioner(parts) if parts > 1 else None)
            info = tf.train.VocabInfo("new.txt", size, more, "old.txt", old, lambda s, dtype=None, partition_info=None, v=fresh: tf.fill(s, v), axis)
            tf.train.warm_start("./vocabulary.ckpt", var_name_to_vocab_info={"v": info}, var_name_to_prev_var_name={"v": "rows" if axis == 0 else "columns"})
            s.run(tf.global_variables_initializer())
            values = np.concatenate([s.run(x) for x in tf.global_variables()])
            out[name] = dict(axis=axis, size=size, oov=more, oldSize=max(old, 0), parts=parts, fresh=fresh, values=values.tolist())
    with open("vocabulary.json", "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(c)}" for n, c in out.items()) + "\n}\n")


main(sys.argv[1])
