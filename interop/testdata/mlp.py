"""Trains a small network and prints the loss before each step.

The same graph runs locally (no --target) and on a cluster; the numbers must
agree. Data and initial values come from numpy, so they do not depend on who
draws random numbers.
"""
import argparse
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--target", default="")
    p.add_argument("--vars", default="")
    p.add_argument("--work", default="")
    p.add_argument("--ref", action="store_true")
    p.add_argument("--optimizer", default="sgd")
    p.add_argument("--seed", type=int, default=0, help="initial values by TensorFlow's random ops")
    p.add_argument("--no_grappler", action="store_true")
    p.add_argument("--steps", type=int, default=100)
    return p.parse_args()


def initial(args, rng, shape):
    scale = shape[0] ** -0.5
    if args.seed:
        return v1.truncated_normal(shape, stddev=scale, seed=args.seed)
    return v1.constant(rng.uniform(-scale, scale, shape).astype(np.float32))


def layer(args, rng, x, n, name, activation):
    with tf.device(args.vars):
        w = v1.Variable(initial(args, rng, [int(x.shape[1]), n]), name=name + "/w", use_resource=not args.ref)
        b = v1.Variable(v1.zeros([n]), name=name + "/b", use_resource=not args.ref)
    y = tf.matmul(x, w) + b
    return tf.nn.relu(y) if activation else y


def build(args):
    rng = np.random.RandomState(1)
    with tf.device(args.work):
        x = v1.placeholder(tf.float32, [None, 784], "x")
        y = v1.placeholder(tf.int32, [None], "y")
        h = layer(args, rng, x, 64, "hidden", True)
        logits = layer(args, rng, h, 10, "out", False)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    with tf.device(args.vars):
        step = v1.Variable(0, trainable=False, dtype=tf.int64, name="global_step", use_resource=not args.ref)
    optimizer = {
        "sgd": lambda: v1.train.GradientDescentOptimizer(0.1),
        "adam": lambda: v1.train.AdamOptimizer(0.001),
        "momentum": lambda: v1.train.MomentumOptimizer(0.05, 0.9),
    }[args.optimizer]()
    return x, y, loss, optimizer.minimize(loss, global_step=step), step


def main():
    args = parse()
    if args.ref:
        v1.disable_v2_behavior()
    else:
        v1.disable_eager_execution()
    x, y, loss, train, step = build(args)
    config = v1.ConfigProto(operation_timeout_in_ms=240000)
    if args.no_grappler:
        config.graph_options.rewrite_options.disable_meta_optimizer = True
    rng = np.random.RandomState(2)
    with v1.Session(args.target, config=config) as sess:
        sess.run(v1.global_variables_initializer())
        for _ in range(args.steps):
            images = rng.uniform(0, 1, [32, 784]).astype(np.float32)
            labels = (images[:, 0] * 10).astype(np.int32)
            value, _ = sess.run([loss, train], {x: images, y: labels})
            print("%.9g" % value)
        print("global_step", sess.run(step))


if __name__ == "__main__":
    sys.exit(main())
