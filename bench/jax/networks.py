"""The networks of jax_bench.py. p is a Maker or a Reader of layers.py."""
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import inputs
import layers
from layers import batch_norm, conv, dense, layer_norm


def resnet20(p, x):
    def cb(x, k, n_in, n_out, stride):
        return batch_norm(p, conv(x, p.weight([k, k, n_in, n_out]), stride), n_out, True)
    x, n = jax.nn.relu(cb(x, 3, 3, 16, 1)), 16
    for out in (16, 32, 64):
        for block in range(3):
            stride = 2 if out != 16 and not block else 1
            h = cb(jax.nn.relu(cb(x, 3, n, out, stride)), 3, out, out, 1)
            if stride == 2:
                x = cb(x, 1, n, out, 2)
            x, n = jax.nn.relu(h + x), out
    return dense(p, x.mean((1, 2)), 64, 10)


def resnet50(p, x):
    def cb(x, k, n_in, n_out, stride):
        return batch_norm(p, conv(x, p.weight([k, k, n_in, n_out]), stride), n_out, False)
    x, n = layers.max_pool(jax.nn.relu(cb(x, 7, 3, 64, 2)), 3, 2), 64
    for i, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << i
        for block in range(blocks):
            stride = 2 if i and not block else 1
            h = jax.nn.relu(cb(jax.nn.relu(cb(x, 1, n, width, 1)), 3, width, width, stride))
            h = cb(h, 1, width, 4 * width, 1)
            if not block:
                x = cb(x, 1, n, 4 * width, stride)
            x, n = jax.nn.relu(h + x), 4 * width
    return dense(p, x.mean((1, 2)), 2048, 1000)


def mobilenet(p, x):
    def active(x, n):
        return jax.nn.relu6(batch_norm(p, x, n, True, 1e-3))
    x, n = active(conv(x, p.weight([3, 3, 3, 32]), 2), 32), 32
    for out, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]:
        x = active(conv(x, p.depthwise([3, 3, n, 1]).reshape(3, 3, 1, n), stride, n), n)
        x = active(conv(x, p.weight([1, 1, n, out])), out)
        n = out
    return dense(p, x.mean((1, 2)), 1024, 10)


def lstm(p, rows, units):
    """All steps written out, from [steps, batch, units] to [steps * batch, units]."""
    w, b = p.weight([2 * units, 4 * units]), p.zeros([4 * units])
    c = h = jnp.zeros(rows.shape[1:], rows.dtype)
    out = []
    for x in rows:
        i, j, f, o = jnp.split(jnp.concatenate([x, h], 1) @ w + b, 4, 1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(j)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        out.append(h)
    return jnp.concatenate(out)


def encoder(p, words, mask, width, heads, depth=4, vocabulary=1000):
    """Rows are the words of all sequences, one after another."""
    batch, steps = words.shape
    size = width // heads

    def attend(x):
        def project():
            return dense(p, x, width, width).reshape(batch, steps, heads, size).swapaxes(1, 2)
        q, k, v = project(), project(), project()
        shares = p.drop(jax.nn.softmax(q @ k.swapaxes(2, 3) * (1 / math.sqrt(size)) + mask))
        return p.drop(dense(p, (shares @ v).swapaxes(1, 2).reshape(batch * steps, width), width, width))
    table, position = p.weight([vocabulary, width]), p.weight([steps, width])
    x = (jnp.asarray(table)[words] + position).reshape(batch * steps, width)
    x = p.drop(layer_norm(p, x, width))
    for _ in range(depth):
        x = layer_norm(p, x + attend(x), width)
        h = jax.nn.gelu(dense(p, x, width, 4 * width), approximate=True)
        x = layer_norm(p, x + p.drop(dense(p, h, 4 * width, width)), width)
    return x


def wide_deep_state(rows=1000000, width=32, fields=16, numbers=13):
    """Tables, what Adagrad keeps for them, room for representatives of ids, dense layers, what Adagrad keeps for them."""
    m = layers.Maker()
    for n_in, n_out in ((fields * width + numbers, 256), (256, 128), (128, 1)):
        m.weight([n_in, n_out])
        m.zeros([n_out])
    tables = [inputs.uni(101, [rows, width], 0.05), np.zeros([rows], np.float32)]
    return [tables, [np.full_like(t, 0.1) for t in tables], np.zeros([rows], np.int32), m.values, [np.full_like(v, 0.1) for v in m.values]]


def wide_deep_variables(state):
    return state[0] + state[3]


def wide_deep_step(state, ids, x, y, rate=0.5):
    """Only gathered rows are updated. Equal ids have one representative, at which their gradients add up."""
    tables, sums, room, values, kept = state
    batch, flat = len(ids), ids.reshape(-1)

    def model(rows, wide, values):
        p = layers.Reader(values)
        h = jnp.concatenate([rows.reshape(batch, -1), x], 1)
        h = jax.nn.relu(dense(p, h, 525, 256))
        h = dense(p, jax.nn.relu(dense(p, h, 256, 128)), 128, 1)
        z = h.reshape(batch) + wide.reshape(batch, -1).sum(1)
        return (jnp.maximum(z, 0) - z * y + jnp.log1p(jnp.exp(-jnp.abs(z)))).mean()
    loss, (*slices, grads) = jax.value_and_grad(model, (0, 1, 2))(tables[0][flat], tables[1][flat], values)
    room = room.at[flat].set(jnp.arange(flat.size, dtype=jnp.int32))
    same = room[flat]
    for i, g in enumerate(slices):
        g = jnp.zeros_like(g).at[same].add(g)[same]
        a = sums[i][flat] + g * g
        sums[i] = sums[i].at[flat].set(a)
        tables[i] = tables[i].at[flat].set(tables[i][flat] - rate * g * lax.rsqrt(a))
    values, kept = layers.updated(layers.adagrad(rate)[1], values, grads, kept, 0)
    return loss, [tables, sums, room, values, kept]
