#!/usr/bin/env python3
"""JAX side of the speed comparison, compiled by XLA. Definitions: WORKLOADS.md. How to run: BENCHMARKS.md.

XLA's thread pools have as many threads as there are processors for this process, or as NPROC says, and XLA divides
an operation among as many when it compiles. There is no option for it, so that the process is bound to as many
processors as it shall have threads. For one thread, XLA's division among threads (xla_cpu_multi_thread_eigen) is off.

Dropout is drawn by JAX's default generator; JAX_DEFAULT_PRNG_IMPL=rbg chooses the one of XLA.
"""
import importlib.metadata
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "peers"))

from harness import ARGS, answer_times, arguments, run, train_steps, wanted  # noqa: E402
import inputs  # noqa: E402


def start(threads):
    """Before JAX is imported."""
    mine = sorted(os.sched_getaffinity(0))[:threads]
    os.sched_setaffinity(0, mine)
    os.environ["NPROC"] = str(threads)
    os.environ["JAX_PLATFORMS"] = "cpu"
    if threads == 1:
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_cpu_multi_thread_eigen=false"


def train(name, model, optimizer, batches, n, n_check, rate=0.0, **options):
    """Trains model(p, *batch), which returns the loss."""
    import jax
    import layers
    make, update = optimizer
    values, moving = layers.initial(model, *batches[0])
    state = [values, moving, [make(v) for v in values], jax.random.key(0), 0]

    def loss(values, moving, key, batch):
        p = layers.Reader(values, moving, key, rate)
        return model(p, *batch), p.moving

    def step(state, *batch):
        values, moving, kept, key, t = state
        key, now = jax.random.split(key)
        (value, moving), grads = jax.value_and_grad(loss, has_aux=True)(values, moving, now, batch)
        values, kept = layers.updated(update, values, grads, kept, t + 1)
        return value, [values, moving, kept, key, t + 1]
    train_state(name, step, state, lambda s: s[0], batches, n, n_check, **options)


def train_state(name, step, state, variables, batches, n, n_check, **options):
    """Trains by step(state, *batch), which returns the loss and the next state."""
    import jax
    step = jax.jit(step, donate_argnums=0)

    def one(*batch):
        nonlocal state
        loss, state = step(state, *batch)
        return float(loss)
    train_steps(name, one, lambda: variables(state), batches, n, n_check, **options)


def mlp_train():
    import jax
    import layers

    def model(p, x, y):
        for i, (n_in, n_out) in enumerate(((784, 512), (512, 512), (512, 10))):
            x = layers.dense(p, x, n_in, n_out)
            x = jax.nn.relu(x) if i < 2 else x
        return layers.xent(x, y)
    for name, optimizer in (("sgd.", layers.sgd(0.01)), ("adam.", layers.adam(0.001))):
        train(name, model, optimizer, inputs.image_batches(10, 100, [784]), 50, 20)


def lenet_train():
    import jax
    import layers

    def model(p, x, y):
        for n_in, n_out in ((1, 32), (32, 64)):
            w, b = p.weight([5, 5, n_in, n_out]), p.zeros([n_out])
            x = layers.max_pool(jax.nn.relu(layers.conv(x, w) + b), 2, 2)
        x = jax.nn.relu(layers.dense(p, x.reshape(-1, 3136), 3136, 1024))
        return layers.xent(layers.dense(p, x, 1024, 10), y)
    train("", model, layers.adam(0.001), inputs.image_batches(10, 64, [28, 28, 1]), 10, 10)


def resnet_train():
    import layers
    import networks
    train("", lambda p, x, y: layers.xent(networks.resnet20(p, x), y), layers.momentum(0.05), inputs.image_batches(4, 32, [32, 32, 3]), 5, 5)


def lstm_train(words=1000, units=128, rate=2.0):
    """The rows of the embedding are gathered and updated by themselves: their gradient is sparse."""
    import jax
    import layers
    import networks
    update = layers.sgd(rate)[1]

    def model(p, rows, y):
        hidden = networks.lstm(p, rows, units)
        return layers.xent(hidden @ p.weight([units, words]) + p.zeros([words]), y.T.reshape(-1))

    def step(state, x, y):
        embedding, values = state
        loss, (drows, grads) = jax.value_and_grad(lambda rows, values: model(layers.Reader(values), rows, y), (0, 1))(embedding[x.T], values)
        return loss, [embedding.at[x.T].add(-rate * drows), layers.updated(update, values, grads, [()] * len(values), 0)[0]]
    batches = inputs.token_batches()
    m = layers.Maker()
    embedding = m.weight([words, units])
    m.values.clear()
    jax.eval_shape(lambda rows, y: model(m, rows, y), jax.ShapeDtypeStruct((20, 32, units), "float32"), batches[0][1])
    state = jax.tree.map(jax.numpy.array, [embedding, m.values])
    train_state("unrolled.", step, state, lambda s: [s[0]] + s[1], batches, 20, 10)


def transformer_train():
    import layers
    import networks

    def model(p, words, mask, y):
        x = networks.encoder(p, words, mask, 256, 4)
        return layers.xent(layers.dense(p, x, 256, 1000), y)
    for rate in (0.0, 0.1):
        # numbers drawn by JAX itself
        loose = dict.fromkeys(("loss_first", "loss_last", "param_delta"), 0.01) if rate else {}
        train("" if rate else "plain.", model, layers.adam(0.001), inputs.sentence_batches(), 2 if rate else 0, 5, rate, tolerances=loose)


def mobilenet_train():
    import layers
    import networks
    train("", lambda p, x, y: layers.xent(networks.mobilenet(p, x), y), layers.momentum(0.005), inputs.coloured_batches(), 2, 1,
          tolerances={"param_delta": 0.01})


def inference():
    import jax
    import numpy as np
    import layers
    import networks
    for n in (1, 32):
        for name in ("resnet50", "encoder"):
            if not wanted("%s_b%d" % (name, n)):
                continue
            if name == "resnet50":
                values, model = [inputs.pos(1001, [n, 224, 224, 3])], networks.resnet50
            else:
                values, model = [v[0] for v in inputs.sentences(1, n)], lambda p, words, mask: networks.encoder(p, words, mask, 512, 8)
            made = layers.initial(model, *values)
            f = jax.jit(lambda made, *a: model(layers.Reader(*made), *a))
            answer_times(name, lambda *a: np.asarray(f(made, *a)), values, n)


def wide_deep_train():
    import jax
    import networks
    train_state("", networks.wide_deep_step, jax.tree.map(jax.numpy.array, networks.wide_deep_state()), networks.wide_deep_variables, inputs.wide_deep_batches(), 10, 10)


WORKLOADS = [
    ("03-mlp-train", mlp_train), ("04-lenet-train", lenet_train), ("05-resnet20-train", resnet_train), ("06-lstm-train", lstm_train),
    ("28-transformer-train", transformer_train), ("29-mobilenet-train", mobilenet_train), ("30-inference", inference), ("31-wide-deep-train", wide_deep_train),
]


def main():
    arguments(__doc__).parse_args(namespace=ARGS)
    return run(WORKLOADS, "jax-" + importlib.metadata.version("jax"), start, about={"prng": os.environ.get("JAX_DEFAULT_PRNG_IMPL", "default")})


if __name__ == "__main__":
    sys.exit(main())
