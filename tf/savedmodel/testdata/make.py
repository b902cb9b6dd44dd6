"""Saves models: one whose restore operation sets other variables than its signature reads, and
one with gradients of its own.

Run from the root of the repository, with TensorFlow 2.21 and Keras 3:

    python tf/savedmodel/testdata/make.py
"""
import pathlib
import shutil

import keras
import numpy as np
import tensorflow as tf

d = pathlib.Path(__file__).parent / "objects"
shutil.rmtree(d, ignore_errors=True)
m = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2, name="d"), keras.layers.Dense(2, name="e")])
m.set_weights([np.float32([[1, 2], [3, 4]]), np.float32([10, 20]), np.float32([[1, 0], [1, 1]]), np.float32([0.5, 0.25])])
tf.saved_model.save(m, str(d))
print(m(np.float32([[1, 1]])))


@tf.custom_gradient
def product(a, b, c):
    return a * a + b * c, lambda dy: (3.0 * dy * a, None, 7.0 * dy * b)  # not the derivatives


class Registered(tf.Module):
    """Has gradients of its own: in a function that another calls, with one that is None."""

    def __init__(self):
        self.w = tf.Variable([2.0, 3.0], name="w")

    @tf.function
    def inner(self, a):
        return product(a * self.w, a + 1.0, a * 2.0)

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    def squares(self, x):
        return self.inner(x) * self.inner(x * x)

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32, name="x")])
    def scaled(self, x):
        @tf.custom_gradient
        def scale(a):
            w = self.w
            return a * w, lambda dy, variables=None: (5.0 * dy * w, [11.0 * dy * a])

        return scale(x * 3.0)


d = pathlib.Path(__file__).parent / "gradients"
shutil.rmtree(d, ignore_errors=True)
m, x = Registered(), tf.constant([1.0, -2.0])
tf.saved_model.save(m, str(d), options=tf.saved_model.SaveOptions(experimental_custom_gradients=True))
for f in (m.squares, m.scaled):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    print([g.numpy() for g in tape.gradient(y, [x, m.w])])
