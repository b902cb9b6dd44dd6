"""Writes walk.json and the checkpoint walk.ckpt: one model of every layer.

usage: TF_USE_LEGACY_KERAS=1 python walk.py DIRECTORY

It needs tensorflow-cpu==2.21.0 and tf-keras==2.21.0. Each case is in a variable
scope of its own name; inputs are sin(i)."""
import json
import os
import sys

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow.compat.v1 as tf
import tf_keras
from tf_keras.src.legacy_tf_layers import convolutional, core, normalization, pooling

tf.disable_v2_behavior()
tf.enable_resource_variables()
K = tf_keras.layers


def wave(*shape):
    return np.sin(np.arange(np.prod(shape), dtype=np.float64)).astype(np.float32).reshape(shape)


def l2(scale):
    return lambda v: scale * tf.nn.l2_loss(v)


LINES, IMAGES, VOLUMES = (2, 9, 3), (2, 7, 6, 3), (2, 4, 5, 6, 2)
ids = np.array([[0, 3, 4], [1, 1, 2]], np.int32)


def keras(make):
    """A layer of Keras, whose names of variables are not in variable scopes."""

    def build(x):
        with tf.name_scope(None):
            return make(x)

    return build


def adjustment(shape):
    """Scales and offsets of examples: 1, 1.5, 2, … and 0, 0.25, 0.5, …"""
    n = tf.range(shape[0])
    each = tf.reshape(tf.cast(n, tf.float32), tf.concat([[shape[0]], tf.ones_like(shape[1:])], 0))
    return 1.0 + each / 2, each / 4


CASES = {
    "dense": ((4, 3), lambda x: core.dense(x, 5)),
    "dense_options": ((4, 3), lambda x: core.dense(
        x, 5, activation=tf.nn.tanh, use_bias=False, kernel_regularizer=l2(0.1), activity_regularizer=l2(0.3), name="fc")),
    "dense_rank3": ((2, 3, 4), lambda x: core.dense(x, 5, activation=tf.nn.relu, bias_regularizer=l2(0.5))),
    "dense_twice": ((4, 3), lambda x: core.dense(core.dense(x, 5), 2)),
    "flatten": ((2, 3, 2), lambda x: core.flatten(x)),
    "conv1d": (LINES, lambda x: convolutional.conv1d(x, 4, 3, strides=2)),
    "conv1d_same": (LINES, lambda x: convolutional.conv1d(x, 4, 3, padding="same", dilation_rate=2, activation=tf.nn.relu)),
    "conv1d_causal": (LINES, lambda x: convolutional.conv1d(x, 4, 3, padding="causal", dilation_rate=2)),
    "conv1d_causal_strided": (LINES, lambda x: convolutional.conv1d(x, 4, 3, strides=2, padding="causal")),
    "conv1d_groups": (LINES, keras(lambda x: K.Conv1D(6, 2, groups=3, name="conv1d_groups/conv1d")(x))),
    "conv2d_groups": ((2, 7, 6, 4), keras(lambda x: K.Conv2D(6, [3, 2], groups=2, strides=2, padding="same", name="conv2d_groups/conv2d")(x))),
    "conv3d_groups": (VOLUMES, keras(lambda x: K.Conv3D(4, 2, groups=2, name="conv3d_groups/conv3d")(x))),
    "conv2d": (IMAGES, lambda x: convolutional.conv2d(x, 4, [3, 2], strides=[2, 1], kernel_regularizer=l2(0.1))),
    "conv2d_same": (IMAGES, lambda x: convolutional.conv2d(x, 4, 3, padding="same", dilation_rate=[2, 1], use_bias=False)),
    "conv3d": (VOLUMES, lambda x: convolutional.conv3d(x, 3, [2, 3, 2], strides=[1, 2, 1], padding="same")),
    "conv2d_transpose": (IMAGES, lambda x: convolutional.conv2d_transpose(x, 4, [3, 2], strides=[2, 3])),
    "conv2d_transpose_same": (IMAGES, lambda x: convolutional.conv2d_transpose(x, 4, 3, strides=2, padding="same", activation=tf.nn.tanh)),
    "conv3d_transpose": (VOLUMES, lambda x: convolutional.conv3d_transpose(x, 3, 2, strides=2)),
    "separable_conv1d": (LINES, lambda x: convolutional.separable_conv1d(x, 4, 3, depth_multiplier=2)),
    "separable_conv1d_causal": (LINES, keras(lambda x: K.SeparableConv1D(4, 3, padding="causal", name="separable_conv1d_causal/separable_conv1d")(x))),
    "separable_conv2d": (IMAGES, lambda x: convolutional.separable_conv2d(x, 4, [3, 2], strides=2, padding="same", depth_multiplier=2)),
    "depthwise_conv2d": (IMAGES, keras(lambda x: K.DepthwiseConv2D([3, 2], depth_multiplier=2, name="depthwise_conv2d/depthwise_conv2d")(x))),
    "max_pooling1d": (LINES, lambda x: pooling.max_pooling1d(x, 3, 2)),
    "max_pooling2d": (IMAGES, lambda x: pooling.max_pooling2d(x, [3, 2], [2, 1], padding="same")),
    "max_pooling3d": (VOLUMES, lambda x: pooling.max_pooling3d(x, [2, 3, 2], 2)),
    "average_pooling1d": (LINES, lambda x: pooling.average_pooling1d(x, 3, 2, padding="same")),
    "average_pooling2d": (IMAGES, lambda x: pooling.average_pooling2d(x, [3, 2], [2, 1])),
    "average_pooling3d": (VOLUMES, lambda x: pooling.average_pooling3d(x, [2, 3, 2], [1, 2, 2], padding="same")),
    "batch_normalization": (IMAGES, lambda x: normalization.batch_normalization(x, training=True, momentum=0.8)),
    "batch_normalization_rank2": ((6, 3), lambda x: normalization.batch_normalization(x, training=True, gamma_regularizer=l2(0.1))),
    "batch_normalization_infer": (IMAGES, lambda x: normalization.batch_normalization(x)),
    "batch_normalization_tensor": (IMAGES, lambda x: normalization.batch_normalization(x, training=tf.placeholder_with_default(True, []))),
    "batch_normalization_first": (IMAGES, lambda x: normalization.batch_normalization(x, axis=1, training=True, fused=False)),
    "batch_normalization_axes": (IMAGES, lambda x: normalization.batch_normalization(x, axis=[1, 3], training=True, fused=False)),
    "batch_normalization_plain": ((6, 3), lambda x: normalization.batch_normalization(x, training=True, center=False, scale=False)),
    "batch_normalization_renorm": ((6, 3), lambda x: normalization.batch_normalization(
        x, training=True, renorm=True, renorm_clipping={"rmin": 0.5, "rmax": 2.0, "dmax": 0.5}, renorm_momentum=0.9)),
    "batch_normalization_renorm_tensor": ((6, 3), lambda x: normalization.batch_normalization(
        x, training=tf.placeholder_with_default(False, []), renorm=True)),
    "batch_normalization_virtual": ((6, 3), lambda x: normalization.batch_normalization(x, training=True, virtual_batch_size=2)),
    "batch_normalization_adjustment": ((6, 3), lambda x: normalization.batch_normalization(x, training=True, adjustment=adjustment)),
    "batch_normalization_adjustment_tensor": (IMAGES, lambda x: normalization.batch_normalization(
        x, training=tf.placeholder_with_default(True, []), adjustment=adjustment, renorm=True)),
    "batch_normalization_adjustment_infer": ((6, 3), lambda x: normalization.batch_normalization(x, adjustment=adjustment)),
    "batch_normalization_volumes": (VOLUMES, lambda x: normalization.batch_normalization(x, training=True)),
    "layer_normalization": ((4, 3), keras(lambda x: K.LayerNormalization(name="layer_normalization/layer_normalization")(x))),
    "layer_normalization_axes": (LINES, keras(lambda x: K.LayerNormalization(axis=[1, 2], epsilon=0.1, name="layer_normalization_axes/layer_normalization")(x))),
    "embedding": (None, keras(lambda x: K.Embedding(5, 3, name="embedding/embedding")(x))),
    "multi_head_attention": (LINES, keras(lambda x: K.MultiHeadAttention(2, 4, value_dim=3, output_shape=5, name="multi_head_attention/multi_head_attention")(x, x))),
    "multi_head_attention_causal": (LINES, keras(lambda x: K.MultiHeadAttention(2, 4, name="multi_head_attention_causal/multi_head_attention")(x, x, use_causal_mask=True))),
}


def main(directory):
    tf.set_random_seed(7)
    fetches, cases = {}, {}
    for name, (shape, build) in CASES.items():
        x = tf.constant(ids if shape is None else wave(*shape))
        before = len(tf.global_variables()), len(tf.get_collection("update_ops")), len(tf.losses.get_regularization_losses()), len(tf.trainable_variables())
        if shape is not None and "keras" not in build.__qualname__:
            with tf.variable_scope(name):
                y = build(x)
        else:
            y = build(x)
        grad = tf.gradients(tf.reduce_sum(y * y), x)[0] if shape else None
        added = tf.global_variables()[before[0]:]
        cases[name] = {
            "shape": list(ids.shape if shape is None else shape),
            "variables": [v.op.name for v in added],
            "trainable": [v.op.name for v in tf.trainable_variables()[before[3]:]],
        }
        updates = tf.get_collection("update_ops")[before[1]:]
        loss = tf.add_n(tf.losses.get_regularization_losses()[before[2]:] or [tf.constant(0.0)])
        first = {"out": y, "loss": loss}
        if grad is not None:
            first["grad"] = grad
        with tf.control_dependencies([y]):
            fetches[name] = (first, tf.group(*updates) if updates else None, {v.op.name: v for v in added})
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for v in tf.global_variables():  # what begins with zeros or ones would hide mistakes
            value = sess.run(v)
            noise = np.cos(np.arange(value.size, dtype=np.float32)).reshape(value.shape)
            v.load(np.abs(value) + 0.1 * np.abs(noise) if "variance" in v.name or "stddev" in v.name else value + 0.1 * noise, sess)
        tf.train.Saver().save(sess, os.path.join(directory, "walk.ckpt"), write_meta_graph=False, write_state=False)
        for name, (first, updates, variables) in fetches.items():
            out = sess.run((first, updates) if updates is not None else (first,))[0]
            for k, v in out.items():
                cases[name][k] = np.asarray(v, np.float64).round(6).reshape(-1).tolist()
            cases[name]["result"] = list(out["out"].shape)
            if updates is not None:
                cases[name]["after"] = {n: np.asarray(sess.run(v), np.float64).round(6).reshape(-1).tolist() for n, v in variables.items()}
    with open(os.path.join(directory, "walk.json"), "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(c)}" for n, c in cases.items()) + "\n}\n")


main(sys.argv[1])
