"""Writes modules that JAX exports, with operands and what XLA computes from them.

    python make_families.py OUT.zip [-n CASES] [-seed SEED] [-family NAME]

Each entry is a GraphDef of a node "call" of op XlaCallModule, placeholders "x_0", …,
constants "in_0", … and "want_0", …. Needs jax 0.7.2, tensorflow-cpu 2.21.0 and scipy.
"""
import argparse, os, zipfile
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'
import jax, jax.numpy as jnp, numpy as np, tensorflow as tf
from jax import lax, export
from jax._src import xla_bridge
from jax._src.interpreters import mlir  # registers the dialects
from jaxlib import xla_client
from jaxlib.mlir.dialects import stablehlo
jax.config.update('jax_enable_x64', True)

FAMILIES = {}


def family(f):
    FAMILIES[f.__name__] = f
    return f


class Case:
    """A function, its operands, and the symbolic shapes of those that have one."""

    def __init__(self, f, *args, shapes=None):
        self.f, self.args, self.shapes = f, [np.asarray(a) for a in args], shapes

    def specs(self):
        if not self.shapes:
            return [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in self.args]
        scope = export.SymbolicScope()
        return [jax.ShapeDtypeStruct(export.symbolic_shape(s, like=a.shape, scope=scope) if s else a.shape, a.dtype)
                for a, s in zip(self.args, self.shapes)]

    def graph(self):
        e = export.export(jax.jit(self.f), platforms=('cpu',))(*self.specs())
        want = [np.asarray(y) for y in jax.tree.leaves(jax.jit(self.f)(*self.args))]
        return call(self.args, [s.shape for s in self.specs()], e.module_kept_var_idx, e.mlir_module_serialized, want, [v.shape for v in e.out_avals])


def call(args, shapes, kept, module, want, out_shapes):
    size = lambda d: d if isinstance(d, int) else None
    with tf.Graph().as_default() as g:
        for i, (a, s) in enumerate(zip(args, shapes)):
            tf.compat.v1.placeholder(a.dtype, [size(d) for d in s], name='x_%d' % i)
            tf.constant(a, name='in_%d' % i)
        for i, y in enumerate(want):
            tf.constant(y, name='want_%d' % i)
        d = g.as_graph_def()
    node = d.node.add(name='call', op='XlaCallModule')
    node.attr['Tin'].list.SetInParent()
    for i in kept:
        node.input.append('x_%d' % i)
        node.attr['Tin'].list.type.append(tf.as_dtype(args[i].dtype).as_datatype_enum)
    for y, s in zip(want, out_shapes):
        node.attr['Tout'].list.type.append(tf.as_dtype(y.dtype).as_datatype_enum)
        node.attr['Sout'].list.shape.append(tf.TensorShape([size(n) for n in s]).as_proto())
    node.attr['version'].i = 9
    node.attr['module'].s = module
    node.attr['platforms'].list.s.append(b'CPU')
    return d


class Text:
    """A module in text, for operations that JAX has no function for."""

    def __init__(self, text, *args):
        self.text, self.args = text, [np.asarray(a) for a in args]

    def graph(self):
        backend = xla_bridge.get_backend('cpu')
        run = backend.compile_and_load(self.text, backend.devices()[:1], xla_client.CompileOptions())
        want = [np.asarray(y) for y in run.execute([backend.buffer_from_pyval(a) for a in self.args])]
        module = stablehlo.serialize_portable_artifact_str(self.text, stablehlo.get_current_version())
        return call(self.args, [a.shape for a in self.args], range(len(self.args)), module, want, [y.shape for y in want])


def shape(r, rank, low=1, high=6):
    return tuple(int(n) for n in r.integers(low, high + 1, rank))


def numbers(r, s, dtype=np.float32):
    dtype = np.dtype(dtype)
    if dtype == bool:
        return r.integers(0, 2, s).astype(bool)
    if dtype.kind in 'iu':
        return r.integers(0 if dtype.kind == 'u' else -50, 50, s).astype(dtype)
    if dtype.kind == 'c':
        return (r.standard_normal(s) + 1j * r.standard_normal(s)).astype(dtype)
    return r.standard_normal(s).astype(dtype)


def some_type(r, types=(np.float32, np.float32, np.int32, np.float64, np.int64, np.uint8, bool)):
    return types[r.integers(len(types))]


def some_dims(r, n, k):
    return sorted(int(d) for d in r.choice(n, k, replace=False))


@family
def slices(r):
    s = shape(r, r.integers(1, 5))
    x = numbers(r, s, some_type(r))
    kind = r.integers(4)
    if kind == 0:
        lo = [int(r.integers(0, n + 1)) for n in s]
        hi = [int(r.integers(l, n + 1)) for l, n in zip(lo, s)]
        st = [int(n) for n in r.integers(1, 4, len(s))]
        return Case(lambda x: lax.slice(x, lo, hi, st), x)
    part = [int(r.integers(0, n + 1)) for n in s]
    at = [numbers(r, (), some_type(r, (np.int32, np.int64, np.int8, np.uint32, np.uint64))) // 8 for _ in s]
    at = [a.astype(at[0].dtype) for a in at]
    if kind == 1:
        return Case(lambda x, *at: lax.dynamic_slice(x, at, part), x, *at)
    if kind == 2:
        return Case(lambda x, u, *at: lax.dynamic_update_slice(x, u, at), x, numbers(r, part, x.dtype), *at)
    symbols = ', '.join('abcd'[i] for i in range(len(s)))
    return Case(lambda x: x[tuple(slice(0, n // 2 + 1) for n in x.shape)], x, shapes=[symbols])


@family
def pads(r):
    s = shape(r, r.integers(1, 4), 0)
    x = numbers(r, s, some_type(r))
    conf = []
    for n in s:
        i = int(r.integers(0, 3)) * int(r.integers(0, 2))
        full = n + max(n - 1, 0) * i
        lo = int(r.integers(-min(full, 2), 4))
        conf.append((lo, int(r.integers(-min(full + min(lo, 0), 2), 4)), i))
    v = numbers(r, (), x.dtype)
    f = lambda x, v: lax.pad(x, v, conf)
    if r.integers(4) or 0 in s:
        return Case(f, x, v)
    return Case(lambda x: jnp.pad(x, [(x.shape[0], 1)] + [(0, x.shape[0])] * (x.ndim - 1)), x, shapes=['a' + ', _' * (len(s) - 1)])


def windows(r, s, rank, dropped, batching):
    """Sizes of windows of an operand."""
    return [1 if d in dropped or d in batching else int(r.integers(1, s[d] + 1)) if r.integers(2) else s[d] for d in range(rank)]


def indexing(r):
    """Random dimension numbers: operand, batches, and the places of all."""
    rank = int(r.integers(1, 5))
    s = shape(r, rank, 1, 5)
    nb = int(r.integers(0, min(rank, 2))) if r.integers(2) else 0
    batching = some_dims(r, rank, nb)
    others = [d for d in range(rank) if d not in batching]
    to = [int(d) for d in r.permutation(others)[:r.integers(0 if r.integers(4) == 0 else 1, len(others) + 1)]]
    dropped = [d for d in others if r.integers(2)]
    part = windows(r, s, rank, dropped, batching)
    batch_rank = int(r.integers(nb, nb + 3))
    at = list(shape(r, batch_rank, 1, 4))
    batches = [int(d) for d in r.permutation(batch_rank)[:nb]]
    for d, b in zip(batching, batches):
        at[b] = s[d]
    free = [d for d in others if d not in dropped]
    window = some_dims(r, batch_rank + len(free), len(free))
    kind = r.choice([np.int32, np.int32, np.int64, np.int8, np.uint32])
    idx = r.integers(0 if kind == np.uint32 else -2, 6, at + [len(to)]).astype(kind)
    return s, part, tuple(batching), tuple(batches), tuple(to), tuple(dropped), free, tuple(window), at, idx


@family
def gathers(r):
    s, part, batching, batches, to, dropped, free, window, at, idx = indexing(r)
    dn = lax.GatherDimensionNumbers(offset_dims=window, collapsed_slice_dims=dropped, start_index_map=to,
                                    operand_batching_dims=batching, start_indices_batching_dims=batches)
    x = numbers(r, s, some_type(r))
    return Case(lambda x, i: lax.gather(x, i, dn, part, mode='clip'), x, idx)


@family
def scatters(r):
    while True:
        s, part, batching, batches, to, dropped, free, window, at, idx = indexing(r)
        if to:  # without indices XLA takes one of the windows only
            break
    dn = lax.ScatterDimensionNumbers(update_window_dims=window, inserted_window_dims=dropped, scatter_dims_to_operand_dims=to,
                                     operand_batching_dims=batching, scatter_indices_batching_dims=batches)
    name = ['scatter', 'scatter_add', 'scatter_sub', 'scatter_mul', 'scatter_min', 'scatter_max'][r.integers(6)]
    x = numbers(r, s, some_type(r, (np.float32, np.float32, np.int32, np.float64, np.uint8)))
    us, w, b = [], iter(free), iter(at)
    for d in range(len(free) + len(at)):
        us.append(part[next(w)] if d in window else next(b))
    mode = ['drop', 'clip', 'drop'][r.integers(3)]
    return Case(lambda x, i, u: getattr(lax, name)(x, i, u, dn, mode=mode), x, idx, numbers(r, us, x.dtype))


@family
def indices(r):
    """NumPy's indexing."""
    s = shape(r, 3, 2, 5)
    x = numbers(r, s, some_type(r))
    i, j = (r.integers(-2, 2, (3, 1)), r.integers(-2, 2, (2,)))
    k = r.integers(0, 2, s[:2] + (3,))
    fs = [lambda x, i, j, k: x[i], lambda x, i, j, k: x[i, j], lambda x, i, j, k: x[:, i, 1:, None], lambda x, i, j, k: x[i, :, j],
          lambda x, i, j, k: jnp.take_along_axis(x, k, 2), lambda x, i, j, k: x.at[i, j].set(3), lambda x, i, j, k: x.at[:, j].set(1),
          lambda x, i, j, k: x.at[..., 1].set(x[..., 0]), lambda x, i, j, k: x.at[1:, j, 0].set(0), lambda x, i, j, k: jnp.roll(x, i[0, 0], 1),
          lambda x, i, j, k: jax.vmap(lambda y, n: lax.dynamic_slice(y, (n, n), (1, 2)))(x, k[:, 0, 0]), lambda x, i, j, k: x[::-1, ::2],
          lambda x, i, j, k: jax.vmap(lambda y, n: y.at[n].set(0))(x, k[:, 0, 0]), lambda x, i, j, k: jnp.take(x, j, axis=0)]
    f = fs[r.integers(len(fs))]
    return Case(f, x, i, j, k, shapes=[['a, b, c', None, None, 'a, b, _'], None][r.integers(2)])


@family
def convolutions(r):
    n = int(r.integers(1, 4)) if r.integers(5) else int(r.choice([0, 4]))
    groups = int(r.choice([1, 1, 1, 2, 3])) if n else 1  # XLA mixes up the groups of no spatial dimensions
    batch_groups = int(r.choice([1, 1, 2])) if groups == 1 else 1
    each = 1 if groups > 1 and r.integers(2) else int(r.integers(1, 3))
    features, batch = each * groups, batch_groups * int(r.integers(1, 3))
    outputs = groups * batch_groups * int(r.integers(1, 3))
    k = shape(r, n, 1, 3)
    letters = '0123'[:n]
    spec = lambda s: ''.join(r.permutation(list(s)))
    natural = r.integers(2)
    if natural:
        dn = ('N' + letters + 'C', letters + 'IO', 'N' + letters + 'C')
    else:
        dn = (spec('NC' + letters), spec('OI' + letters), spec('NC' + letters))
    strides = [int(v) for v in r.integers(1, 3, n)]
    xd = [int(v) for v in (r.integers(1, 4, n) if r.integers(3) == 0 else np.ones(n))]
    wd = [int(v) for v in (r.integers(1, 3, n) if r.integers(3) == 0 else np.ones(n))]
    pad = [tuple(int(v) for v in r.integers(-1 if r.integers(4) == 0 else 0, 4, 2)) for _ in range(n)]
    xs = dict(zip('NC' + letters, (batch, features) + shape(r, n, 3, 7)))
    ws = dict(zip('IO' + letters, (each, outputs) + k))
    t = some_type(r, (np.float32, np.float32, np.float32, np.float64, np.int32, np.int64, np.float16))
    x, w = numbers(r, [xs[c] for c in dn[0]], t), numbers(r, [ws[c] for c in dn[1]], t)
    if t == np.float16:
        x, w = np.round(x * 4) / 4, np.round(w * 4) / 4
    if n > 0 and r.integers(5) == 0:
        w = w if r.integers(2) else w[tuple(slice(None, None, -1) for _ in w.shape)]
    f = lambda x, w: lax.conv_general_dilated(x, w, strides, pad, xd, wd, dn, feature_group_count=groups, batch_group_count=batch_groups)
    if r.integers(4) == 0 and batch_groups == 1:
        g = lambda x, w: jax.grad(lambda x, w: (f(x, w).astype(jnp.float32) ** 2).sum(), (0, 1))(x, w)
        if t in (np.float32, np.float64):
            return Case(g, x, w)
    if r.integers(4) == 0 and n == 2 and natural:
        same = lambda x, w: lax.conv_general_dilated(x, w, strides, 'SAME', None, wd, dn, feature_group_count=groups)
        return Case(same, x, w, shapes=['b, h, h, _' if xs['0'] == xs['1'] else 'b, h, w, _', None])
    return Case(f, x, w)


@family
def reductions(r):
    n = int(r.integers(1, 5))
    s = shape(r, n, 1, 7)
    t = some_type(r, (np.float32, np.float32, np.float32, np.int32, np.float64, np.uint8, bool))
    x = numbers(r, s, t)
    ops = {'add': (lax.add, 0), 'mul': (lax.mul, 1), 'max': (lax.max, -np.inf), 'min': (lax.min, np.inf)}
    if t == bool:
        op, init = (jnp.logical_or, False) if r.integers(2) else (jnp.logical_and, True)
    else:
        op, init = ops[['add', 'max', 'min', 'mul', 'max', 'add'][r.integers(6)]]
        if np.dtype(t).kind in 'iu' and np.isinf(init):
            init = np.iinfo(t).min if init < 0 else np.iinfo(t).max
    if r.integers(4) == 0:
        init = 1
    init = np.asarray(init, t)
    if r.integers(4) == 0 and t != bool:
        f = [lax.cumsum, lax.cumprod, lax.cummax, lax.cummin][r.integers(4)]
        d, back = int(r.integers(n)), bool(r.integers(2))
        if t == np.uint8 or t == np.int32:
            x = (x % 3).astype(t)
        return Case(lambda x: f(x, d, reverse=back), x)
    moving = [bool(r.integers(2)) for _ in s] if r.integers(2) else [0 < i < n - 1 for i in range(n)]
    pick = lambda high: [int(r.integers(1, high)) if m else 1 for m in moving]
    k = [int(r.integers(1, v + 1)) if m else 1 for v, m in zip(s, moving)]
    if t in (np.int32, np.uint8):
        x = (x % 4).astype(t)
    st, bd, wd = pick(4), pick(3) if r.integers(3) == 0 else [1] * n, pick(3) if r.integers(3) == 0 else [1] * n
    pad = [tuple(int(v) for v in r.integers(0, 3, 2)) if m else (0, 0) for m in moving]
    if r.integers(3) == 0:
        pad = ['SAME', 'VALID'][r.integers(2)]
    return Case(lambda x: lax.reduce_window(x, init, op, k, st, pad, bd, wd), x)


@family
def selections(r):
    n = int(r.integers(1, 5))
    s = shape(r, n, 2, 7)
    moving = [bool(r.integers(2)) for _ in s] if r.integers(2) or n < 3 else [0 < i < n - 1 for i in range(n)]
    k = [int(r.integers(1, v + 1)) if m else 1 for v, m in zip(s, moving)]
    st = [int(r.integers(1, 4)) if m else 1 for m in moving]
    x = r.integers(-3, 3, s).astype(np.float32) if r.integers(2) else numbers(r, s)
    op, init = (lax.max, -np.inf) if r.integers(2) else (lax.min, np.inf)
    pad = ['SAME', 'VALID'][r.integers(2)]
    return Case(jax.grad(lambda x: (lax.reduce_window(x, init, op, k, st, pad) ** 2).sum()), x)


@family
def sorts(r):
    s = shape(r, r.integers(1, 4), 1, 9)
    d = int(r.integers(len(s)))
    kinds = (np.float32, np.float32, np.int32, np.float64, np.int8, np.uint32, np.float16, bool)
    def keys():
        x = r.integers(-2, 3, s) if r.integers(2) else numbers(r, s) * 3
        x = np.abs(x).astype(np.uint32) if (t := some_type(r, kinds)) == np.uint32 else x.astype(t)
        if x.dtype.kind == 'f':
            x.flat[r.integers(x.size)] = [np.nan, -np.nan, -0.0, 0.0, np.inf, -np.inf][r.integers(6)]
        return x
    n = int(r.integers(1, 4))
    xs = [keys() for _ in range(n)]
    kind = r.integers(6)
    if kind == 0:
        return Case(lambda x: lax.top_k(x, min(3, x.shape[-1])), np.where(np.isnan(xs[0]), 0, xs[0]).astype(np.float32))
    if kind == 1:
        return Case(lambda x: (jnp.argsort(x, d), jnp.sort(x, d, descending=True)), xs[0])
    if kind == 2:
        return Case(lambda x: lax.top_k(x, 1), xs[0], shapes=['a' + ', _' * (len(s) - 1)] if len(s) > 1 else None)
    k = int(r.integers(1, n + 1))
    return Case(lambda *xs: lax.sort(xs, dimension=d, is_stable=True, num_keys=k), *xs)


@family
def transforms(r):
    s = shape(r, r.integers(1, 4), 2, 8)
    n = int(r.integers(1, len(s) + 1))
    x = numbers(r, s)
    axes = list(range(len(s) - n, len(s)))
    f = [lambda x: jnp.fft.fftn(x, axes=axes), lambda x: jnp.fft.ifftn(x.astype(jnp.complex64), axes=axes), lambda x: jnp.fft.rfftn(x, axes=axes),
         lambda x: jnp.fft.irfftn(x.astype(jnp.complex64), axes=axes)][r.integers(4)]
    return Case(f, x)


@family
def algebra(r):
    n = int(r.integers(1, 6))
    b = shape(r, r.integers(0, 2), 1, 3)
    t = some_type(r, (np.float32, np.float64, np.complex64))
    a = numbers(r, b + (n, n), t)
    h = a @ np.conj(np.swapaxes(a, -1, -2)) + n * np.eye(n, dtype=t)
    y = numbers(r, b + (n, 2), t)
    m = numbers(r, b + (n + int(r.integers(0, 3)), n), t)
    T = lambda x: jnp.conj(jnp.swapaxes(x, -1, -2))
    def svd(x):
        u, s, v = jnp.linalg.svd(x, full_matrices=False)
        return s, (u * s[..., None, :]) @ v
    def eigh(x):
        w, v = jnp.linalg.eigh(x)
        return w, (v * w[..., None, :]) @ T(v)
    def lu(x):
        lu, p, perm = lax.linalg.lu(x)
        if t == np.complex64:  # LAPACK chooses other pivots
            l, u = jnp.tril(lu, -1) + jnp.eye(n, dtype=t), jnp.triu(lu)
            return jnp.take_along_axis(l @ u, jnp.argsort(perm)[..., None], -2)
        return lu, p, perm
    fs = [(jnp.linalg.cholesky, h), (lambda x: jnp.linalg.cholesky(x, upper=True), h), (eigh, h), (svd, m), (jnp.linalg.qr, m), (lu, a),
          (lambda x: jnp.linalg.qr(x, mode='complete')[0], m)]
    if r.integers(2):
        f, x = fs[r.integers(len(fs))]
        return Case(f, x)
    left, lower, unit, trans = (bool(v) for v in r.integers(0, 2, 4))
    conj = bool(r.integers(2)) and trans
    z = y if left else numbers(r, b + (2, n), t)
    solve = lambda a, z: lax.linalg.triangular_solve(a, z, left_side=left, lower=lower, transpose_a=trans, conjugate_a=conj, unit_diagonal=unit)
    if r.integers(4) == 0:
        return Case(lambda a, y: jnp.linalg.solve(a, y), h, y)
    return Case(solve, h / n, z)


@family
def bits(r):
    alg = r.choice([lax.RandomAlgorithm.RNG_DEFAULT, lax.RandomAlgorithm.RNG_PHILOX, lax.RandomAlgorithm.RNG_THREE_FRY])
    s = shape(r, r.integers(0, 4), 1, 5)
    t = [np.uint32, np.uint32, np.uint64, np.uint8, np.uint16][r.integers(5)]
    k = r.integers(0, 2**63, 2).astype(np.uint64)
    if r.integers(2):
        k[1] = 2**64 - int(r.integers(1, 9))
    return Case(lambda k: lax.rng_bit_generator(k, s, dtype=t, algorithm=alg), k)


def models():
    """What models spend their time on, for tests of which ops it becomes."""
    r = np.random.default_rng(1)
    conv = lambda x, w, s=1, g=1, pad='SAME': lax.conv_general_dilated(x, w, (s, s), pad, dimension_numbers=('NHWC', 'HWIO', 'NHWC'), feature_group_count=g)
    weights = lambda *s: numbers(r, s) * 0.3
    pool = lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), 'SAME')
    norm = lambda x, g, b: (x - x.mean((0, 1, 2))) * g * lax.rsqrt(x.var((0, 1, 2)) + 1e-5) + b

    def resnet(x, w0, g, b, w1, w2, w3):
        x = pool(jax.nn.relu(norm(conv(x, w0, 2), g, b)))
        y = conv(jax.nn.relu(conv(x, w1, 2)), w2)
        return jax.nn.relu(y + conv(x, w3, 2)).mean((1, 2))

    def mobile(x, w, b, p):
        x = jnp.clip(conv(x, w, 2, 4) + b, 0, 6)
        return lax.reduce_window(conv(x, p), 0., lax.add, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID') / 4

    x = numbers(r, (2, 12, 12, 3))
    return {
        'resnet': Case(resnet, x, weights(5, 5, 3, 4), weights(4), weights(4), weights(3, 3, 4, 6), weights(3, 3, 6, 6), weights(1, 1, 4, 6), shapes=['b, 12, 12, 3'] + 6 * [None]),
        'mobile': Case(mobile, numbers(r, (2, 9, 9, 4)), weights(3, 3, 1, 4), weights(4), weights(1, 1, 4, 6), shapes=['b, _, _, _'] + 3 * [None]),
        'embedding': Case(lambda t, i: t.at[i].get(mode='clip'), weights(11, 3), np.array([[1, 10], [0, 4]]), shapes=[None, 'b, n']),
        'sums': Case(lambda x: lax.cumsum(x, 1), weights(3, 7)),
        'transposed': Case(lambda x, w: lax.conv_transpose(x, w, (2, 2), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC')), x, weights(3, 3, 3, 2)),
        'line': Case(lambda x, w: lax.conv_general_dilated(x, w, (1,), 'SAME', rhs_dilation=(2,), dimension_numbers=('NWC', 'WIO', 'NWC')), weights(2, 9, 3), weights(3, 3, 4)),
        'caches': Case(lambda c, u, i: lax.dynamic_update_slice(c, u, (i, np.int32(0))), weights(6, 4), weights(1, 4), np.int32(3)),
        'poolgrad': Case(jax.grad(lambda x: (lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID') ** 2).sum()), numbers(r, (1, 6, 6, 2))),
    }


def texts():
    """Operations that JAX does not emit."""
    r = np.random.default_rng(2)
    x, v = numbers(r, (2, 3, 4)), [np.abs(numbers(r, (3,))) for _ in range(4)]
    f = lambda body, *types: 'func.func @main(%s) -> %s {\n%s\n}' % (', '.join('%%%s: tensor<%s>' % p for p in zip('abcde', types[0])), types[1], body)
    norm = '{epsilon = 0.01 : f32, feature_index = 1 : i64}'
    t, c = 'tensor<2x3x4xf32>', 'tensor<3xf32>'
    out = {
        'norm_inference': Text(f('%%0 = "stablehlo.batch_norm_inference"(%%a, %%b, %%c, %%d, %%e) %s : (%s, %s, %s, %s, %s) -> %s\nreturn %%0 : %s' % (norm, t, c, c, c, c, t, t),
                                 ['2x3x4xf32'] + 4 * ['3xf32'], t), x, *v),
        'norm_training': Text(f('%%0:3 = "stablehlo.batch_norm_training"(%%a, %%b, %%c) %s : (%s, %s, %s) -> (%s, %s, %s)\nreturn %%0#0, %%0#1, %%0#2 : %s, %s, %s' % (norm, t, c, c, t, c, c, t, c, c),
                                ['2x3x4xf32'] + 2 * ['3xf32'], '(%s, %s, %s)' % (t, c, c)), x, *v[:2]),
        'norm_grad': Text(f('%%0:3 = "stablehlo.batch_norm_grad"(%%a, %%b, %%c, %%d, %%e) %s : (%s, %s, %s, %s, %s) -> (%s, %s, %s)\nreturn %%0#0, %%0#1, %%0#2 : %s, %s, %s' % (norm, t, c, c, c, t, t, c, c, t, c, c),
                            ['2x3x4xf32'] + 3 * ['3xf32'] + ['2x3x4xf32'], '(%s, %s, %s)' % (t, c, c)), x, *v[:3], numbers(r, (2, 3, 4))),
        'reversal': Text(f('%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[1, 0], [-1, 2]], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x6x2xf32>, tensor<2x3x2x3xf32>) -> tensor<1x5x3x3xf32>\nreturn %0 : tensor<1x5x3x3xf32>',
                           ['1x5x6x2xf32', '2x3x2x3xf32'], 'tensor<1x5x3x3xf32>'), numbers(r, (1, 5, 6, 2)), numbers(r, (2, 3, 2, 3))),
        'argmax_windows': Text(f('''%i = stablehlo.constant dense<0xFF800000> : tensor<f32>
%z = stablehlo.constant dense<-1> : tensor<i32>
%0:2 = "stablehlo.reduce_window"(%a, %b, %i, %z) ({
^bb0(%p: tensor<f32>, %q: tensor<i32>, %s: tensor<f32>, %t: tensor<i32>):
  %1 = stablehlo.compare GE, %p, %s : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = stablehlo.select %1, %p, %s : tensor<i1>, tensor<f32>
  %3 = stablehlo.select %1, %q, %t : tensor<i1>, tensor<i32>
  stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
}) {window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 1]]> : tensor<2x2xi64>} : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
return %0#0, %0#1 : tensor<4x3xf32>, tensor<4x3xi32>''', ['4x6xf32', '4x6xi32'], '(tensor<4x3xf32>, tensor<4x3xi32>)'), numbers(r, (4, 6)), np.arange(24, dtype=np.int32).reshape(4, 6)),
        'last_least': Text(f('''%i = stablehlo.constant dense<2.0> : tensor<f32>
%0 = "stablehlo.select_and_scatter"(%a, %b, %i) ({
^bb0(%p: tensor<f32>, %q: tensor<f32>):
  %1 = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %1 : tensor<i1>
}, {
^bb0(%p: tensor<f32>, %q: tensor<f32>):
  %1 = stablehlo.add %p, %q : tensor<f32>
  stablehlo.return %1 : tensor<f32>
}) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[1, 1]]> : tensor<1x2xi64>} : (tensor<9xf32>, tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
return %0 : tensor<9xf32>''', ['9xf32', '5xf32'], 'tensor<9xf32>'), r.integers(0, 2, 9).astype(np.float32), numbers(r, (5,))),
        'two_scattered': Text(f('''%0:2 = "stablehlo.scatter"(%a, %b, %c, %d, %e) ({
^bb0(%p: tensor<f32>, %q: tensor<i32>, %s: tensor<f32>, %t: tensor<i32>):
  %1 = stablehlo.add %s, %p : tensor<f32>
  stablehlo.return %1, %t : tensor<f32>, tensor<i32>
}) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<5x2xf32>, tensor<5x2xi32>, tensor<3x1xi32>, tensor<3x2xf32>, tensor<3x2xi32>) -> (tensor<5x2xf32>, tensor<5x2xi32>)
return %0#0, %0#1 : tensor<5x2xf32>, tensor<5x2xi32>''', ['5x2xf32', '5x2xi32', '3x1xi32', '3x2xf32', '3x2xi32'], '(tensor<5x2xf32>, tensor<5x2xi32>)'),
                              numbers(r, (5, 2)), numbers(r, (5, 2), np.int32), np.array([[4], [0], [4]], np.int32), numbers(r, (3, 2)), numbers(r, (3, 2), np.int32)),
        'descending': Text(f('''%0:2 = "stablehlo.sort"(%a, %b) ({
^bb0(%p: tensor<i32>, %q: tensor<i32>, %s: tensor<f32>, %t: tensor<f32>):
  %1 = stablehlo.compare EQ, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %2 = stablehlo.compare GT, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %3 = stablehlo.compare LT, %q, %p : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %4 = stablehlo.select %1, %3, %2 : tensor<i1>, tensor<i1>
  stablehlo.return %4 : tensor<i1>
}) {dimension = 0 : i64, is_stable = true} : (tensor<9x2xi32>, tensor<9x2xf32>) -> (tensor<9x2xi32>, tensor<9x2xf32>)
return %0#0, %0#1 : tensor<9x2xi32>, tensor<9x2xf32>''', ['9x2xi32', '9x2xf32'], '(tensor<9x2xi32>, tensor<9x2xf32>)'), numbers(r, (9, 2), np.int32), r.integers(-1, 2, (9, 2)).astype(np.float32)),
        'upper_cholesky': Text(f('%0 = stablehlo.cholesky %a, lower = false : tensor<2x2xf32>\n%1 = stablehlo.constant dense<[[1., 1.], [0., 1.]]> : tensor<2x2xf32>\n%2 = stablehlo.multiply %0, %1 : tensor<2x2xf32>\nreturn %2 : tensor<2x2xf32>',
                                 ['2x2xf32'], 'tensor<2x2xf32>'), np.array([[4, 1], [9, 3]], np.float32)),
        'solved': Text(f('%0 = "stablehlo.triangular_solve"(%a, %b) {left_side = false, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\nreturn %0 : tensor<2x3xf32>',
                         ['3x3xf32', '2x3xf32'], 'tensor<2x3xf32>'), numbers(r, (3, 3)), numbers(r, (2, 3))),
    }
    vector = lambda n, *v: '%%%s = stablehlo.constant dense<[%s]> : tensor<%dxi32>\n' % (n, ', '.join(map(str, v)), len(v))
    out['real_slice'] = Text(f(vector('p', 1, 0) + vector('q', 4, 5) + vector('s', 2, 3) + '%0 = stablehlo.real_dynamic_slice %a, %p, %q, %s : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>\nreturn %0 : tensor<2x2xf32>',
                               ['4x6xf32'], 'tensor<2x2xf32>'), numbers(r, (4, 6)))
    return out


def write(z, name, case):
    info = zipfile.ZipInfo(name + '.pb', (1980, 1, 1, 0, 0, 0))
    z.writestr(info, case.graph().SerializeToString(deterministic=True), zipfile.ZIP_DEFLATED, 9)


def main():
    p = argparse.ArgumentParser()
    p.add_argument('out')
    p.add_argument('-n', type=int, default=8)
    p.add_argument('-seed', type=int, default=1)
    p.add_argument('-family', default='')
    a = p.parse_args()
    with zipfile.ZipFile(a.out, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        if not a.family:
            for name, case in models().items():
                write(z, 'model_' + name, case)
            for name, case in texts().items():
                write(z, 'text_' + name, case)
        for name, f in FAMILIES.items():
            if a.family and name not in a.family.split(','):
                continue
            for i in range(a.n):
                try:
                    write(z, '%s_%d' % (name, i), f(np.random.default_rng([a.seed, i, len(name)])))
                except Exception as e:  # parameters that JAX refuses
                    print(name, i, str(e).split('\n')[0][:150])


main()
