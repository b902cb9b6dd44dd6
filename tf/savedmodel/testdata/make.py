"""Saves a model whose restore operation sets other variables than its signature reads.

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
