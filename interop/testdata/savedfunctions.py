"""Saves a module without signatures and prints what its functions return."""
import os
import sys

import numpy as np
import tensorflow as tf


class Encoder(tf.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.table = tf.lookup.StaticVocabularyTable(tf.lookup.TextFileInitializer(
            vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER), 1)
        self.scores = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [0.5, 1.5]), -1.0)
        self.w = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
        self.c = tf.constant([10.0, 20.0])

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="words")])
    def embed(self, words):
        return {"sum": tf.gather(self.w, self.table.lookup(words)) + self.c, "score": self.scores.lookup(words)}


class Model(tf.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.encoder = Encoder(vocabulary)
        self.count = tf.Variable(0)

    @tf.function(input_signature=[tf.TensorSpec([]), tf.TensorSpec([])])
    def __call__(self, x, y):
        self.count.assign_add(1)
        return x + y, (x * y, tf.cast(self.count.read_value(), tf.float32))

    @tf.function
    def twice(self, x):
        return x + x


root = sys.argv[1]
vocabulary = os.path.join(root, "words.txt")
with open(vocabulary, "w") as f:
    f.write("a\nb\n")
m = Model(vocabulary)
m.twice(tf.constant(1.0))
m.twice(tf.constant([1, 2]))
tf.saved_model.save(m, os.path.join(root, "model"))
r = m.encoder.embed(tf.constant(["b", "z"]))
for v in (r["score"], r["sum"]):
    print(" ".join(str(x) for x in v.numpy().ravel()))
