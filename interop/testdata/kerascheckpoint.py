"""Writes object-based checkpoints of a Keras model and says what is in them.

Usage: kerascheckpoint.py DIR

DIR/model is the model's; DIR/all-1 has an optimizer and a counter beside it, and a
state file. Prints what the model makes of four rows, then what tf.train.Saver says
of a variable that there is not.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

directory = sys.argv[1]
tf.keras.utils.set_random_seed(3)
layers = tf.keras.layers
model = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(4, activation="relu", name="hidden"), layers.BatchNormalization(name="bn"), layers.Dense(2, name="out")])
model.compile("adam", "mse")
x = np.arange(12, dtype=np.float32).reshape(4, 3) / 12
model.fit(x, np.ones((4, 2), np.float32), epochs=3, verbose=0)
tf.train.Checkpoint(model=model).write(os.path.join(directory, "model"))
counter = tf.Variable(7, dtype=tf.int64, name="my_step")
manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, **{"with.dot/slash": counter}), os.path.join(directory, "managed"), max_to_keep=2)
manager.save()
print(" ".join("%.9g" % v for v in model(x).numpy().flatten()))

with tf.Graph().as_default():
    v1 = tf.compat.v1
    v1.get_variable("sequential/hidden/bias", [4])
    v1.get_variable("none", [4])
    with v1.Session() as sess:
        try:
            v1.train.Saver().restore(sess, os.path.join(directory, "model"))
        except tf.errors.NotFoundError as e:
            print(repr(e.message))
