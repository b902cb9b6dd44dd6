"""Trains the network of this example on the digits of the examples and saves it.

Run from the root of the repository, with TensorFlow 2.21:

    python examples/predict/make.py

The model takes PNG and JPEG files of any size, so that the program that uses it
need not know how the network sees them.
"""
import gzip
import pathlib
import shutil

import keras
import numpy as np
import tensorflow as tf

here = pathlib.Path(__file__).parent
data = here.parent / "internal" / "digits" / "data"
layers = keras.layers


def read(name, offset):
    with gzip.open(data / name) as f:
        return np.frombuffer(f.read(), np.uint8, offset=offset)


def digits(kind):
    labels = read(f"{kind}-labels-idx1-ubyte.gz", 8)
    return read(f"{kind}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28, 1) / np.float32(255), labels


keras.utils.set_random_seed(1)
network = keras.Sequential([
    keras.Input((28, 28, 1)),
    layers.Conv2D(16, 3, activation="relu"), layers.MaxPooling2D(), layers.BatchNormalization(),
    layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(), layers.Flatten(), layers.Dropout(0.3),
    layers.Dense(10),
])
network.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
network.fit(*digits("train"), batch_size=32, epochs=8, verbose=0)
print("accuracy", network.evaluate(*digits("t10k"), verbose=0)[1])


class Reader(tf.Module):
    def __init__(self):
        super().__init__()
        self.network = network

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="image")])
    def read(self, image):
        def decode(file):
            pixels = tf.image.resize(tf.image.convert_image_dtype(tf.io.decode_image(file, 1, expand_animations=False), tf.float32), [28, 28])
            return tf.ensure_shape(pixels, [28, 28, 1])
        p = tf.nn.softmax(self.network(tf.map_fn(decode, image, fn_output_signature=tf.float32), training=False))
        return {"digit": tf.argmax(p, 1), "probability": tf.reduce_max(p, 1)}


reader = Reader()
shutil.rmtree(here / "model", ignore_errors=True)
tf.saved_model.save(reader, str(here / "model"), signatures=reader.read)
images, labels = digits("t10k")
for i in range(3):
    tf.io.write_file(str(here / f"digit{i}.png"), tf.io.encode_png(tf.cast(images[i] * 255, tf.uint8)))
    print(f"digit{i}.png is a", labels[i])
