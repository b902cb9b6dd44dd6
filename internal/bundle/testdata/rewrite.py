"""Copies the bundle "ours" of a directory to "theirs", and checks "slices"."""

import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf

os.chdir(sys.argv[1])
reader = tf.train.load_checkpoint("ours")
types = reader.get_variable_to_dtype_map()
order = ["matrix", "strings", "no strings", "scalar", "empty", "half", "bool", "complex"]
names = order + sorted((n for n in types if n not in order), key=lambda n: int(n[1:].split("/")[0]))
none = [""] * len(names)
values = tf.raw_ops.RestoreV2(prefix="ours", tensor_names=names, shape_and_slices=none, dtypes=[types[n] for n in names])
tf.raw_ops.SaveV2(prefix="theirs", tensor_names=names, shape_and_slices=none, tensors=values)

with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    whole = tf.raw_ops.RestoreSlice(file_pattern="slices", tensor_name="matrix", shape_and_slice="", dt=tf.float32)
    np.testing.assert_equal(session.run(whole), np.arange(12).reshape(4, 3))
    words = tf.raw_ops.RestoreSlice(file_pattern="slices", tensor_name="strings", shape_and_slice="", dt=tf.string)
    np.testing.assert_equal(session.run(words), [b"x", b"yz"])
