"""Fetches variables in the steps that train them, and prints the values; "--"
after each server. A server is a target, or "local"."""
import sys

import numpy as np

from sessions import config, show, tf, v1

# Nothing in TensorFlow orders reads of a resource before the update: the product takes so long that all reads have begun,
# on a busy machine, too.
N = 1000


def fetches(w, ref):
    """What programs fetch of a variable. How it is read shows in the value."""
    f = [("variable", w), ("value", w.value()), ("read", w.read_value()), ("identity", tf.identity(w)),
         ("twice", tf.identity(tf.identity(w))), ("reshaped", tf.reshape(w, [-1])), ("expanded", tf.expand_dims(w, 0)),
         ("constant", v1.stop_gradient(w))]
    return f + [("reference", w._ref())] if ref else f


def build(ref, device):
    with v1.device(device):
        w = v1.get_variable("w", initializer=tf.zeros([N, N]), use_resource=not ref)
        x = v1.placeholder(tf.float32, [N, N])
        loss = v1.reduce_sum(v1.square(tf.matmul(w, x) / N - x))
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        return fetches(w, ref), train, x


def steps(target, ref, device, kind):
    g = v1.Graph()
    with g.as_default():
        f, train, x = build(ref, device)
        init = v1.global_variables_initializer()
    with v1.Session("" if target == "local" else target, graph=g, config=config()) as s:
        s.run(init)
        for i in range(3):
            out = s.run([train] + [t for _, t in f], {x: np.ones([N, N])})[1:]
            for (name, _), v in zip(f, out):
                show("%s %s, step %d" % (kind, name, i), round(float(np.ravel(v)[0]), 3))
    if target != "local":
        v1.Session.reset(target)


for target in sys.argv[1:]:
    device = "" if target == "local" else "/job:worker"
    for ref in (True, False):
        steps(target, ref, device, "reference" if ref else "resource")
    print("--", flush=True)
