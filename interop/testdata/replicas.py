"""Trains a network with convolutions, batch normalization and embeddings on two
replicas, which share variables on parameter servers and take turns. Prints the
loss before each step, and last the moving averages and the number of steps: of
one replica that does all without a cluster, then of the two on the cluster;
with reference variables, then with resources.

Usage: replicas.py STEPS WORKER WORKER
"""
import sys

import numpy as np

from sessions import config, tf, v1

steps, targets = int(sys.argv[1]), sys.argv[2:]
WORDS, UNITS, CLASSES = 50, 6, 5


def variable(name, shape, value=None, parts=1, trainable=True):
    rng = np.random.RandomState(sum(map(ord, name)))
    value = rng.uniform(-0.3, 0.3, shape).astype(np.float32) if value is None else np.full(shape, value, np.float32)
    partitioner = v1.fixed_size_partitioner(parts) if parts > 1 else None

    def initial(_, dtype=None, partition_info=None):
        if partition_info is None:
            return tf.constant(value)
        at = partition_info.var_offset[0]
        return tf.constant(value[at:at + shape[0] // parts])

    return v1.get_variable(
        name, shape, initializer=initial, partitioner=partitioner, trainable=trainable)


def normalize(x):
    n = [int(x.shape[-1])]
    y, mean, var = v1.nn.fused_batch_norm(x, variable("gamma", n, 1), variable("beta", n, 0), epsilon=1e-3)
    for name, now in (("mean", mean), ("variance", var)):
        moving = variable("moving_" + name, n, 0, trainable=False)
        v1.add_to_collection(v1.GraphKeys.UPDATE_OPS, moving.assign_sub((moving - now) * 0.1))
    return y


def model():
    images = v1.placeholder(tf.float32, [8, 10, 10, 1], "images")
    words = v1.placeholder(tf.int32, [8, 4], "words")
    labels = v1.placeholder(tf.int32, [8], "labels")
    y = v1.nn.conv2d(images, variable("kernel", [3, 3, 1, 4]), strides=[1, 1, 1, 1], padding="SAME")
    y = tf.nn.max_pool2d(tf.nn.relu(normalize(y)), 2, 2, "SAME")
    table = variable("table", [WORDS, UNITS], parts=2)
    meaning = tf.reduce_mean(v1.nn.embedding_lookup(table, words, partition_strategy="div"), 1)
    both = tf.concat([tf.reshape(y, [8, -1]), meaning], 1)
    logits = tf.matmul(both, variable("w", [int(both.shape[1]), CLASSES])) + variable("b", [CLASSES], 0)
    return (images, words, labels), tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


class Replica:
    """A client of its own, with a graph and a session of its own."""

    def __init__(self, task, target):
        self.graph = tf.Graph()
        with self.graph.as_default():
            setter = None
            if target:
                setter = v1.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:%d" % task)
            with v1.device(setter):
                self.inputs, self.loss = model()
                step = v1.train.get_or_create_global_step()
                train = v1.train.AdamOptimizer(0.01).minimize(self.loss, global_step=step)
                self.step = tf.group(train, *v1.get_collection(v1.GraphKeys.UPDATE_OPS))
                self.moving = [v for v in v1.global_variables() if v.name.startswith("moving")]
                self.count = step
            init = v1.global_variables_initializer()
        self.session = v1.Session(target, graph=self.graph, config=config())
        if task == 0:
            self.session.run(init)

    def train(self, batch):
        loss, _ = self.session.run([self.loss, self.step], dict(zip(self.inputs, batch)))
        print("%.9g" % loss)


def run(targets):
    replicas = [Replica(k, t) for k, t in enumerate(targets)]
    rng = np.random.RandomState(3)
    for k in range(steps):
        labels = rng.randint(0, CLASSES, [8])
        images = rng.uniform(0, 1, [8, 10, 10, 1]) + labels[:, None, None, None] * 0.1
        replicas[k % len(replicas)].train((images.astype(np.float32), rng.randint(0, WORDS, [8, 4]), labels))
    last = replicas[-1]
    for mean in last.session.run(last.moving):
        for x in mean:
            print("%.9g" % x)
    print(last.session.run(last.count))
    for r in replicas:
        r.session.close()


for enable in (v1.disable_resource_variables, v1.enable_resource_variables):
    enable()
    run([""])
    run(targets)
