"""Writes walk.json and the checkpoint walk.ckpt: a model of every feature column,
by input_layer and by linear_model.

usage: TF_USE_LEGACY_KERAS=1 python walk.py DIRECTORY

It needs tensorflow-cpu==2.21.0 and tf-keras==2.21.0."""
import json
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf
import tf_keras

tf.disable_v2_behavior()
tf.enable_resource_variables()
F = tf.feature_column

VOCABULARY = os.path.join(os.path.dirname(__file__), "words.txt")
color = F.categorical_column_with_vocabulary_list("color", ["red", "green", "blue"])
color_oov = F.categorical_column_with_vocabulary_list("color", ["red", "green"], num_oov_buckets=3)
year = F.categorical_column_with_vocabulary_list("year", [1990, 2000], default_value=1)
word = F.categorical_column_with_vocabulary_file("word", VOCABULARY, vocabulary_size=3, num_oov_buckets=2)
other = F.categorical_column_with_vocabulary_file("other", VOCABULARY, vocabulary_size=3, num_oov_buckets=2)
plain = F.categorical_column_with_vocabulary_file("other", VOCABULARY)
hashed = F.categorical_column_with_hash_bucket("word", 7)
hashed_year = F.categorical_column_with_hash_bucket("year", 5, dtype=tf.int64)
identity = F.categorical_column_with_identity("id", 4, default_value=0)
age = F.numeric_column("age")
pair = F.numeric_column("pair", shape=(2,), normalizer_fn=lambda x: (x - 1.0) / 2.0)
ages = F.bucketized_column(age, [18, 30, 50])
pairs = F.bucketized_column(F.numeric_column("pair", shape=(2,)), [0, 1])
weighted = F.weighted_categorical_column(word, "weight")
crossed = F.crossed_column([ages, "color"], 11)
crossed_key = F.crossed_column(["word", identity, ages], 13, hash_key=5)
signs = F.weighted_categorical_column(word, "signs")
grades = F.weighted_categorical_column(F.categorical_column_with_identity("levels", 4), "grades")
flat = F.categorical_column_with_hash_bucket("flat", 5)

CASES = {
    "numeric": [age, pair],
    "bucketized": [ages, pairs],
    "list": [F.indicator_column(color)],
    "list_oov": [F.indicator_column(color_oov)],
    "integers": [F.indicator_column(year)],
    "file": [F.indicator_column(word)],
    "file_plain": [F.indicator_column(plain)],
    "hashed": [F.indicator_column(hashed), F.indicator_column(hashed_year)],
    "identity": [F.indicator_column(identity)],
    "weighted": [F.indicator_column(weighted)],
    "crossed": [F.indicator_column(crossed), F.indicator_column(crossed_key)],
    "embedding": [F.embedding_column(word, 3), F.embedding_column(color, 2, combiner="sqrtn", max_norm=0.5)],
    "embedding_weighted": [F.embedding_column(weighted, 3, combiner="sum"), age],
    "shared": F.shared_embedding_columns([word, other], 2),
    "numeric_grid": [F.numeric_column("grid", shape=(2, 2))],
    "file_all": [F.indicator_column(F.categorical_column_with_vocabulary_file("word", VOCABULARY, num_oov_buckets=1))],
    "file_default": [F.indicator_column(F.categorical_column_with_vocabulary_file("tags", VOCABULARY, vocabulary_size=3, default_value=2))],
    "file_small": [F.indicator_column(F.categorical_column_with_vocabulary_file("tags", VOCABULARY, vocabulary_size=2))],
    "integers_oov": [F.indicator_column(F.categorical_column_with_vocabulary_list("levels", [2, 0], num_oov_buckets=2))],
    "hashed_tags": [F.indicator_column(F.categorical_column_with_hash_bucket("tags", 5)), F.indicator_column(F.categorical_column_with_hash_bucket("levels", 4, dtype=tf.int64))],
    "identity_levels": [F.indicator_column(F.categorical_column_with_identity("levels", 4))],
    "weighted_signs": [F.indicator_column(signs)],
    "weighted_dense": [F.indicator_column(grades)],
    "embedding_signs": [F.embedding_column(signs, 2)],
    "embedding_signs_sum": [F.embedding_column(signs, 2, combiner="sum")],
    "embedding_flat": [F.embedding_column(flat, 2), F.indicator_column(flat)],
    "embedding_crossed": [F.embedding_column(crossed, 3, combiner="sqrtn")],
    "crossed_nested": [F.indicator_column(F.crossed_column([crossed, "tags"], 11))],
    "crossed_levels": [F.indicator_column(F.crossed_column([F.categorical_column_with_identity("levels", 4), "tags", "word"], 17))],
}
LINEAR = {
    "linear": [age, pair, ages, color, identity, crossed],
    "linear_weighted": [weighted, hashed_year],
    "linear_embedding": [F.embedding_column(word, 2), age],
    "linear_indicator": [F.indicator_column(color), identity],
    "linear_shared": F.shared_embedding_columns([word, other], 2) + [age],
    "linear_signs": [signs],
    "linear_signs_mean": [signs],
    "linear_sqrtn": [weighted, F.categorical_column_with_hash_bucket("tags", 5)],
    "linear_flat": [flat, pair],
    "linear_grid": [F.numeric_column("grid", shape=(2, 2)), pairs, F.categorical_column_with_hash_bucket("tags", 5)],
}
OPTIONS = {
    "linear": dict(units=2), "linear_weighted": dict(sparse_combiner="mean"), "linear_signs": dict(units=2), "linear_signs_mean": dict(sparse_combiner="mean"),
    "linear_sqrtn": dict(sparse_combiner="sqrtn"), "linear_grid": dict(units=3),
}

SEQUENCES = {
    "sequence": [
        F.embedding_column(F.sequence_categorical_column_with_vocabulary_list("step", ["a", "b", "c"]), 2),
        F.indicator_column(F.sequence_categorical_column_with_hash_bucket("step", 3)),
        F.sequence_numeric_column("heat", default_value=-1.0),
        F.sequence_numeric_column("wind", shape=(2,), normalizer_fn=lambda x: x * 2.0),
    ],
    "sequence_ids": [
        F.indicator_column(F.sequence_categorical_column_with_identity("number", 4, default_value=3)),
        F.embedding_column(F.sequence_categorical_column_with_vocabulary_file("step", VOCABULARY, vocabulary_size=3, num_oov_buckets=2), 3),
    ],
}


def features():
    sparse = lambda values, indices: tf.SparseTensor(np.array(indices, np.int64), values, [4, 3])
    return {
        "age": tf.constant([17.0, 18.0, 42.0, 80.0]),
        "pair": tf.constant([[0.5, -1.0], [2.0, 0.0], [1.0, 1.0], [-3.0, 0.25]]),
        "color": tf.constant(["red", "blue", "", "pink"]),
        "year": tf.constant([[1990], [2000], [1985], [-1]], tf.int64),
        "id": tf.constant([[0], [3], [9], [2]], tf.int64),
        "word": sparse(["b", "a", "z", "c", "b"], [[0, 0], [0, 1], [1, 0], [3, 0], [3, 2]]),
        "weight": sparse(tf.constant([0.5, 2.0, 1.0, 3.0, 0.25]), [[0, 0], [0, 1], [1, 0], [3, 0], [3, 2]]),
        "step": sparse(["b", "a", "z", "c", "b"], [[0, 0], [0, 1], [1, 0], [3, 0], [3, 1]]),
        "heat": sparse(tf.constant([0.5, 2.0, 1.0, 3.0, 0.25]), [[0, 0], [0, 1], [1, 0], [3, 0], [3, 1]]),
        "wind": tf.SparseTensor([[0, 0], [0, 1], [0, 2], [0, 3], [1, 0], [1, 1], [3, 0], [3, 1], [3, 2], [3, 3]], tf.range(10.0), [4, 6]),
        "flat": tf.SparseTensor([[0], [3]], ["b", "a"], [4]),
        "signs": sparse(tf.constant([0.5, -2.0, 1.0, -3.0, 0.25]), [[0, 0], [0, 1], [1, 0], [3, 0], [3, 2]]),
        "tags": tf.constant([["a", "b"], ["z", ""], ["c", "c"], ["", ""]]),
        "levels": tf.constant([[0, 2], [3, 1], [1, 1], [2, 0]], tf.int32),
        "grades": tf.constant([[1.0, 0.5], [-2.0, 3.0], [0.25, 1.5], [4.0, -1.0]]),
        "grid": tf.constant(np.cos(np.arange(16, dtype=np.float32)).reshape(4, 2, 2)),
        "number": sparse(tf.constant([2, 0, 9, 1, 3], tf.int64), [[0, 0], [0, 1], [1, 0], [3, 0], [3, 1]]),
        "other": sparse(["c", "q"], [[1, 0], [2, 0]]),
    }


def main(directory):
    tf.set_random_seed(3)
    cases, fetches, f = {}, {}, features()
    for name, columns in list(CASES.items()) + list(LINEAR.items()):
        before = len(tf.global_variables())
        with tf.variable_scope(name):
            if name in LINEAR:
                y = F.linear_model(f, columns, **OPTIONS.get(name, {}))
            else:
                y = F.input_layer(f, columns)
        cases[name] = {"variables": sorted(v.op.name for v in tf.global_variables()[before:])}
        fetches[name] = y
    lengths = {}
    for name, columns in SEQUENCES.items():
        before = len(tf.global_variables())
        layer = tf_keras.experimental.SequenceFeatures(columns, name=name + "/sequence_input_layer")
        fetches[name], lengths[name] = layer(f)
        cases[name] = {"variables": sorted(v.op.name for v in tf.global_variables()[before:])}
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for v in tf.global_variables():
            value = sess.run(v)
            v.load(value + 0.3 * np.cos(np.arange(value.size, dtype=np.float32)).reshape(value.shape), sess)
        tf.train.Saver().save(sess, os.path.join(directory, "walk.ckpt"), write_meta_graph=False, write_state=False)
        for name, y in fetches.items():
            out = sess.run(y)
            cases[name].update(result=list(out.shape), out=np.asarray(out, np.float64).round(6).reshape(-1).tolist())
    with tf.Session() as sess:
        for name, n in lengths.items():
            cases[name]["lengths"] = sess.run(n).tolist()
    every = [c for columns in list(CASES.values()) + list(LINEAR.values()) for c in columns]
    cases["spec"] = {"out": [], "result": [], "variables": [f"{k} {type(s).__name__} {s.dtype.name} {getattr(s, 'shape', '')}" for k, s in sorted(F.make_parse_example_spec(every).items())]}
    with open(os.path.join(directory, "walk.json"), "w") as out:
        out.write("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(c)}" for n, c in cases.items()) + "\n}\n")


main(sys.argv[1])
