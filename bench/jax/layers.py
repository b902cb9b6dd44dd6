"""Layers and optimizers for jax_bench.py: plain functions under jit, as JAX's own examples write them."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers"))

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402

import inputs  # noqa: E402


class Maker:
    """Makes the initial values of a model, in the order in which it asks for them."""

    def __init__(self):
        self.values, self.moving, self.k = [], [], 0

    def value(self, v):
        self.values.append(v)
        return v

    def weight(self, shape):
        self.k += 1
        return self.value(inputs.weight(self.k, shape))

    def depthwise(self, shape):
        self.k += 1
        return self.value(inputs.depthwise(self.k, shape))

    def ones(self, shape):
        return self.value(np.ones(shape, np.float32))

    def zeros(self, shape):
        return self.value(np.zeros(shape, np.float32))

    def statistics(self, n, update=None):
        """The moving mean and variance of a batch normalization; update(old) gives the next ones."""
        self.moving.append((np.zeros(n, np.float32), np.ones(n, np.float32)))
        return self.moving[-1]

    def drop(self, x):
        return x


class Reader(Maker):
    """Gives the values of a model in the order in which it made them. Draws dropout from key, if there is one."""

    def __init__(self, values, moving=(), key=None, rate=0.0):
        self.values, self.old, self.moving, self.key, self.rate = iter(values), iter(moving), [], key, rate

    def weight(self, shape):
        return next(self.values)
    depthwise = ones = zeros = weight

    def statistics(self, n, update=None):
        old = next(self.old)
        if update:
            self.moving.append(update(old))
        return old

    def drop(self, x):
        if not self.rate:
            return x
        self.key, key = jax.random.split(self.key)
        return jnp.where(jax.random.bernoulli(key, 1 - self.rate, x.shape), x / (1 - self.rate), 0)


def initial(model, *args):
    """The values and the moving statistics of model(p, *args), without computing it."""
    m = Maker()
    jax.eval_shape(lambda *a: model(m, *a), *args)
    return [jnp.array(v) for v in m.values], [(jnp.array(a), jnp.array(b)) for a, b in m.moving]


def dense(p, x, n_in, n_out):
    w, b = p.weight([n_in, n_out]), p.zeros([n_out])
    return x @ w + b


def conv(x, w, stride=1, groups=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups)


def max_pool(x, size, stride):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, size, size, 1), (1, stride, stride, 1), "SAME")


def batch_norm(p, x, n, training, epsilon=1e-5):
    g, b = p.ones([n]), p.zeros([n])
    if training:
        mean = x.mean((0, 1, 2))
        variance = jnp.square(x - mean).mean((0, 1, 2))
        count = x.size // n

        def update(old):
            m, v = old
            return m - (m - mean) * 0.1, v - (v - variance * (count / (count - 1))) * 0.1
        p.statistics(n, update)
    else:
        mean, variance = p.statistics(n)
    return (x - mean) * (lax.rsqrt(variance + epsilon) * g) + b


def layer_norm(p, x, n):
    mean = x.mean(1, keepdims=True)
    variance = jnp.square(x - mean).mean(1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p.ones([n]) + p.zeros([n])


def xent(logits, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()


# An optimizer is what it keeps for a variable from the beginning, and a function of variable, gradient, what is kept
# and the number of the step (from 1), which returns the next variable and what is kept then.


def sgd(rate):
    return lambda v: (), lambda v, g, s, t: (v - rate * g, s)


def momentum(rate):
    def update(v, g, a, t):
        a = 0.9 * a + g
        return v - rate * a, a
    return jnp.zeros_like, update


def adam(rate):
    def update(v, g, s, t):
        m, u = 0.9 * s[0] + 0.1 * g, 0.999 * s[1] + 0.001 * g * g
        size = rate * jnp.sqrt(1 - 0.999 ** t) / (1 - 0.9 ** t)
        return v - size * m / (jnp.sqrt(u) + 1e-8), (m, u)
    return lambda v: (jnp.zeros_like(v), jnp.zeros_like(v)), update


def adagrad(rate):
    def update(v, g, a, t):
        a = a + g * g
        return v - rate * g * lax.rsqrt(a), a
    return lambda v: jnp.full_like(v, 0.1), update


def updated(update, values, grads, kept, t):
    new = [update(v, g, s, t) for v, g, s in zip(values, grads, kept)]
    return [v for v, _ in new], [s for _, s in new]
