"""Losses of models in training, and the models as MetaGraphs without their optimizers.

Usage: losses.py DIR STEPS NAME...
Writes DIR/NAME.meta for each model and prints "NAME loss loss ...".
Inputs come from random operations with seeds: equal streams are part of it.
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_v2_behavior()
train = tf.train


# What the variables of a model are. A deep network amplifies the least
# difference in rounding: it is compared in double precision, with numbers that
# single precision, in which optimizers have theirs, holds exactly.
PRECISION = {"resnet20": np.float64}
precision = np.float32


def weights(name, *shape, scale=None):
    rng = np.random.RandomState(sum(map(ord, name)) % 1000)
    fan_in = int(np.prod(shape[:-1])) or 1
    return tf.get_variable(name, initializer=(rng.randn(*shape) * (scale or fan_in**-0.5)).astype(precision))


def zeros(name, *shape):
    return tf.get_variable(name, initializer=np.zeros(shape, precision))


def dense(name, x, n):
    return tf.matmul(x, weights(name + "/w", int(x.shape[1]), n)) + zeros(name + "/b", n)


def digits(images, classes=10):
    """Labels that a linear function of the images decides."""
    flat = tf.reshape(images, [int(images.shape[0]), -1])
    judge = np.random.RandomState(7).randn(int(flat.shape[1]), classes).astype(precision)
    return tf.argmax(tf.matmul(flat, judge), 1)


def classify(logits, labels):
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def mlp():
    x = tf.random_uniform([32, 12], -1, 1, seed=1)
    y = tf.sin(3 * x[:, :4]) + x[:, 4:8]
    return tf.reduce_mean(tf.square(dense("out", tf.tanh(dense("hidden", x, 24)), 4) - y))


def batch_norm(name, x):
    n = int(x.shape[-1])
    scale = tf.get_variable(name + "/gamma", initializer=np.ones(n, precision))
    if x.dtype == tf.float64:  # the fused operation has none
        return tf.nn.batch_normalization(x, *tf.nn.moments(x, [0, 1, 2]), zeros(name + "/beta", n), scale, 1e-3)
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, zeros(name + "/beta", n), epsilon=1e-3)
    for stat, start, now in [("mean", 0, mean), ("variance", 1, variance)]:
        moving = tf.get_variable(name + "/" + stat, initializer=np.full(n, start, np.float32), trainable=False)
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_sub(moving, (moving - now) * 0.1))
    return y


def conv(name, x, n, size=3, stride=1):
    return tf.nn.conv2d(x, weights(name + "/kernel", size, size, int(x.shape[-1]), n), strides=[1, stride, stride, 1], padding="SAME")


def cnn():
    x = tf.random_uniform([16, 14, 14, 1], seed=2)
    y = tf.nn.relu(batch_norm("bn1", conv("conv1", x, 8)))
    y = tf.nn.max_pool2d(y, 2, 2, "SAME")
    y = tf.nn.relu(batch_norm("bn2", conv("conv2", y, 16, 5)))
    y = tf.nn.dropout(tf.reshape(y, [16, -1]), rate=0.4, seed=5)
    return classify(dense("out", y, 10), digits(x))


def resnet20():
    x = tf.random_uniform([4, 32, 32, 3], -1, 1, tf.float64, seed=3)
    y = tf.nn.relu(batch_norm("bn", conv("conv", x, 16)))
    for stage, n in enumerate([16, 32, 64]):
        for block in range(3):
            name, stride = "s%d/b%d/" % (stage, block), 2 if stage and not block else 1
            z = tf.nn.relu(batch_norm(name + "bn1", conv(name + "conv1", y, n, stride=stride)))
            z = batch_norm(name + "bn2", conv(name + "conv2", z, n))
            if stride == 2:
                y = tf.pad(y[:, ::2, ::2, :], [[0, 0], [0, 0], [0, 0], [n // 4, n // 4]])
            y = tf.nn.relu(y + z)
    return classify(dense("out", tf.reduce_mean(y, [1, 2]), 10), digits(x))


def lstm():
    x = tf.random_uniform([8, 7, 5], -1, 1, seed=4)
    w, b = weights("w", 5 + 12, 48), zeros("b", 48)
    h = c = tf.zeros([8, 12])
    for t in range(7):
        i, j, f, o = tf.split(tf.matmul(tf.concat([x[:, t], h], 1), w) + b, 4, 1)
        c = c * tf.sigmoid(f + 1) + tf.sigmoid(i) * tf.tanh(j)
        h = tf.tanh(c) * tf.sigmoid(o)
    return tf.reduce_mean(tf.square(dense("out", h, 2) - tf.reduce_sum(x[:, :, :2], 1)))


def word2vec():
    words = tf.random_uniform([32], 0, 200, tf.int32, seed=6)
    context = tf.cast((words * 7 + 3) % 200, tf.int64)
    sampled = tf.nn.log_uniform_candidate_sampler(tf.reshape(context, [-1, 1]), 1, 8, True, 200, seed=9)
    return tf.reduce_mean(tf.nn.nce_loss(weights("nce/w", 200, 16), zeros("nce/b", 200), tf.reshape(context, [-1, 1]),
                                         tf.nn.embedding_lookup(weights("words", 200, 16, scale=0.3), words), 8, 200, sampled_values=sampled))


def wide():
    ids = tf.random_uniform([32, 6], 0, 500, tf.int32, seed=8)
    logits = tf.reduce_sum(tf.nn.embedding_lookup(zeros("w", 500, 1), ids), [1, 2]) + zeros("bias")
    labels = tf.cast(tf.reduce_sum(ids % 2, 1) > 3, tf.float32)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))


def adagrad_da():
    step = tf.train.get_or_create_global_step()
    return train.AdagradDAOptimizer(0.1, step, l1_regularization_strength=1e-4, l2_regularization_strength=1e-3)


MODELS = {
    "sgd": (mlp, lambda: train.GradientDescentOptimizer(0.1)),
    "momentum": (mlp, lambda: train.MomentumOptimizer(0.05, 0.9)),
    "nesterov": (mlp, lambda: train.MomentumOptimizer(0.05, 0.9, use_nesterov=True)),
    "adam": (mlp, lambda: train.AdamOptimizer(0.01)),
    "adagrad": (mlp, lambda: train.AdagradOptimizer(0.1)),
    "adagrad_da": (mlp, adagrad_da),
    "adadelta": (mlp, lambda: train.AdadeltaOptimizer(1.0)),
    "rmsprop": (mlp, lambda: train.RMSPropOptimizer(0.003, momentum=0.5)),
    "centered": (mlp, lambda: train.RMSPropOptimizer(0.003, centered=True)),
    "ftrl": (mlp, lambda: train.FtrlOptimizer(0.1, l1_regularization_strength=1e-4, l2_regularization_strength=1e-3)),
    "proximal": (mlp, lambda: train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=1e-4)),
    "proximal_adagrad": (mlp, lambda: train.ProximalAdagradOptimizer(0.1, l2_regularization_strength=1e-3)),
    "cnn": (cnn, lambda: train.AdamOptimizer(0.002)),
    "resnet20": (resnet20, lambda: train.MomentumOptimizer(2.0**-7, 0.875)),
    "lstm": (lstm, lambda: train.AdamOptimizer(0.01)),
    "word2vec": (word2vec, lambda: train.GradientDescentOptimizer(0.5)),
    "word2vec_adam": (word2vec, lambda: train.AdamOptimizer(0.01)),
    "ftrl2": (mlp, lambda: train.FtrlOptimizer(0.1, l1_regularization_strength=1e-4, l2_regularization_strength=1e-3, l2_shrinkage_regularization_strength=1e-2)),
    "wide": (wide, lambda: train.FtrlOptimizer(0.2, l1_regularization_strength=1e-3)),
}


def run(name, directory, steps):
    global precision
    model, optimizer = MODELS[name]
    precision = PRECISION.get(name, np.float32)
    # Variables of both kinds have their turn.
    with tf.Graph().as_default(), tf.variable_scope(tf.get_variable_scope(), use_resource=len(name) % 2 == 0):
        loss = model()
        tf.add_to_collection("losses", loss)
        optimizer = optimizer()
        tf.train.export_meta_graph(os.path.join(directory, name + ".meta"))
        step = [optimizer.minimize(loss, global_step=tf.train.get_global_step())] + tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            print(name, *[repr(float(sess.run([loss, step])[0])) for _ in range(steps)], flush=True)


for which in sys.argv[3:]:
    run(which, sys.argv[1], int(sys.argv[2]))
