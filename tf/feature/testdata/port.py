"""Writes port.json and the checkpoint port.ckpt: a wide linear model trained by FTRL
and a deep one of embeddings and batch normalization trained by Adam, their initial
variables and their losses over 200 steps.

usage: TF_USE_LEGACY_KERAS=1 python port.py DIRECTORY

It needs tensorflow-cpu==2.21.0 and tf-keras==2.21.0."""
import json
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow.compat.v1 as tf
from tf_keras.src.legacy_tf_layers import core, normalization

tf.disable_v2_behavior()
tf.enable_resource_variables()
F = tf.feature_column


def main(directory):
    tf.set_random_seed(6)
    n = 32
    age = [float(20 + i * 7 % 50) for i in range(n)]
    job = [["cook", "clerk", "smith", "judge"][i * i % 7 % 4] for i in range(n)]
    label = [[1.0 if (i * 7 % 50 > 20) == (i * i % 7 % 4 < 2) else 0.0] for i in range(n)]
    f = {"age": tf.constant(age), "job": tf.constant(job)}
    ages = F.bucketized_column(F.numeric_column("age"), [30, 40, 60])
    jobs = F.categorical_column_with_hash_bucket("job", 20)
    crossed = F.crossed_column([ages, "job"], 30)
    y = tf.constant(label)
    cross_entropy = lambda logits: tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))

    wide = cross_entropy(F.linear_model(f, [ages, jobs, crossed]))
    x = F.input_layer(f, [F.numeric_column("age", normalizer_fn=lambda x: x / 50.0), F.embedding_column(jobs, 3), F.indicator_column(crossed)])
    x = normalization.batch_normalization(core.dense(x, 8, activation=tf.nn.relu), training=True, momentum=0.9)
    deep = cross_entropy(core.dense(x, 1))
    saver = tf.train.Saver()
    updates = tf.get_collection("update_ops")
    wide_step = tf.train.FtrlOptimizer(0.3, l1_regularization_strength=0.01, l2_regularization_strength=0.02).minimize(
        wide, var_list=[v for v in tf.trainable_variables() if "linear_model" in v.name])
    with tf.control_dependencies(updates):
        deep_step = tf.train.AdamOptimizer(0.005).minimize(deep, var_list=[v for v in tf.trainable_variables() if "linear_model" not in v.name])
    mean = [v for v in tf.global_variables() if "moving_variance" in v.name][0]
    out = {"wide": [], "deep": []}
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        saver.save(sess, os.path.join(directory, "port.ckpt"), write_meta_graph=False, write_state=False)
        for _ in range(200):
            out["wide"].append(round(float(sess.run((wide, wide_step))[0]), 7))
            out["deep"].append(round(float(sess.run((deep, deep_step))[0]), 7))
        out["variance"] = [round(float(x), 6) for x in sess.run(mean)]
    with open(os.path.join(directory, "port.json"), "w") as out_file:
        json.dump(out, out_file)
        out_file.write("\n")


main(sys.argv[1])
