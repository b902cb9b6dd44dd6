"""Writes the golden files of this directory. Needs tensorflow-cpu==2.21.0."""

import os

import numpy as np
import tensorflow as tf

os.chdir(os.path.dirname(os.path.abspath(__file__)))
matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
tf.raw_ops.SaveV2(
    prefix="whole",
    tensor_names=["matrix", "strings", "no strings", "scalar", "empty", "half", "bool", "complex", "parts", "parts", "parts"],
    shape_and_slices=[""] * 8 + ["4 300 0,1:-", "4 300 1,3:0,100", "4 300 1,3:100,200"],
    tensors=[
        matrix, np.array([["a", ""], ["long" * 50, "\xff"]]), np.array([], dtype=object).astype("S1"), np.float64(0.5), np.zeros((0, 3), np.int32),
        np.float16([1, -2]), np.array([True, False]), np.complex64([1 + 2j]),
        np.arange(300, dtype=np.int64).reshape(1, 300), np.arange(300, dtype=np.int64).reshape(3, 100), np.arange(600, dtype=np.int64).reshape(3, 200),
    ],
)
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    session.run(tf.raw_ops.SaveSlices(
        filename="slices", tensor_names=["matrix", "matrix", "strings", "int8", "complex"], shapes_and_slices=["4 3 0,1:-", "4 3 1,3:-", "", "", ""],
        data=[matrix[:1], matrix[1:], np.array(["x", "yz"]), np.int8([[-1], [2]]), np.complex128([1 + 2j])],
    ))
