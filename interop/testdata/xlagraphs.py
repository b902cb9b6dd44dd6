"""Saves a SavedModel in DIR whose signatures compute graph operations of XLA of random
parameters, COUNT of each family, drawn from SEED. For a case NAME, signature NAME
computes, NAME_in has inputs, and NAME_want what TensorFlow computes of them by XLA.

    python xlagraphs.py DIR COUNT SEED
"""
import sys

import numpy as np
import tensorflow as tf
from tensorflow.compiler.tf2xla.ops import gen_xla_ops as ops
from tensorflow.compiler.tf2xla.python import xla  # registers what its wrappers need
from tensorflow.compiler.xla import xla_data_pb2 as pb

DIR, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = np.random.RandomState(SEED)
FLOATS, NUMBERS = [np.float32, np.float64], [np.float32, np.float64, np.int32]
families = {}


def family(f):
    families[f.__name__] = f


def choose(values):
    return values[rng.randint(len(values))]


def ints(n, low, high):
    return [int(v) for v in rng.randint(low, high + 1, size=n)]


def array(shape, dtype=np.float32, low=-4, high=5):
    if np.issubdtype(dtype, np.floating):
        return np.asarray(rng.randn(*shape), dtype)
    return np.asarray(rng.randint(low, high, size=shape), dtype)


def const(v):
    return tf.constant(v, choose([tf.int32, tf.int64]))


def same(*values):
    """Returns integers as constants of one type."""
    d = choose([tf.int32, tf.int64])
    return [tf.constant(v, d) for v in values]


def function(f, *dtypes):
    return tf.function(f, autograph=False).get_concrete_function(*[tf.TensorSpec([], d) for d in dtypes])


COMBINE = {"add": tf.add, "mul": tf.multiply, "min": tf.minimum, "max": tf.maximum}


@family
def dot():
    batch, free = rng.randint(0, 3), [rng.randint(0, 3), rng.randint(0, 3)]
    sums = rng.randint(0, 3)
    b, s = ints(batch, 1, 3), ints(sums, 1, 4)
    d = pb.DotDimensionNumbers()
    x = []
    for side, (bd, sd) in enumerate([(d.lhs_batch_dimensions, d.lhs_contracting_dimensions), (d.rhs_batch_dimensions, d.rhs_contracting_dimensions)]):
        sizes = b + s + ints(free[side], 1, 4)
        order = rng.permutation(len(sizes))
        place = np.argsort(order)
        bd.extend(int(place[i]) for i in range(batch))
        sd.extend(int(place[batch + i]) for i in range(sums))
        x.append([sizes[i] for i in order])
    dtype = choose(NUMBERS)
    a = [array(x[0], dtype), array(x[1], dtype)]
    if rng.randint(2):
        return a, lambda x, y: ops.xla_dot(x, y, d.SerializeToString(), b"")
    out = dtype if dtype == np.int32 or rng.randint(2) else np.float64
    return a, lambda x, y: ops.xla_dot_v2(x, y, d.SerializeToString(), b"", out)


@family
def conv():
    n = rng.randint(1, 4)
    groups, batches = choose([(1, 1), (2, 1), (3, 1), (1, 2)])
    inputs, outputs = rng.randint(1, 4), groups * batches * rng.randint(1, 3)
    order = [rng.permutation(n + 2) for _ in range(3)]
    d = pb.ConvolutionDimensionNumbers()
    d.input_batch_dimension, d.input_feature_dimension = map(int, order[0][:2])
    d.kernel_output_feature_dimension, d.kernel_input_feature_dimension = map(int, order[1][:2])
    d.output_batch_dimension, d.output_feature_dimension = map(int, order[2][:2])
    d.input_spatial_dimensions.extend(map(int, order[0][2:]))
    d.kernel_spatial_dimensions.extend(map(int, order[1][2:]))
    d.output_spatial_dimensions.extend(map(int, order[2][2:]))

    def shaped(first, second, spatial, at):
        s = [0] * (n + 2)
        for where, size in zip(at, [first, second] + spatial):
            s[where] = size
        return s

    x = array(shaped(batches * rng.randint(1, 3), inputs * groups, ints(n, 4, 7), order[0]))
    w = array(shaped(outputs, inputs, ints(n, 1, 3), order[1]))
    strides, padding = ints(n, 1, 2), np.reshape(ints(2 * n, -1, 3), [n, 2])
    dilated = rng.randint(2)
    low, high = (ints(n, 1, 2), ints(n, 1, 2)) if dilated else ([1] * n, [1] * n)
    c = lambda: same(strides, padding, low, high, groups)
    if batches == 1 and rng.randint(2):
        return [x, w], lambda x, w: ops.xla_conv(x, w, *c(), d.SerializeToString(), b"")
    return [x, w], lambda x, w: ops.xla_conv_v2(x, w, *c(), d.SerializeToString(), b"", tf.float32, batch_group_count=batches)


def indexed(rank, batch, update):
    """Returns dimensions of an operand that indices are for, dimensions that windows do
    not have, sizes of windows, and where windows are in the windows tensor."""
    to = [int(v) for v in rng.permutation(rank)[:rng.randint(1, rank + 1)]]
    dropped = sorted(d for d in to if rng.randint(2))
    window = sorted(int(v) for v in rng.permutation(rank - len(dropped) + batch)[:rank - len(dropped)])
    return to, dropped, window


@family
def gather():
    x = array(ints(rng.randint(1, 4), 2, 5), choose(NUMBERS + [np.uint8]))
    batch = ints(rng.randint(0, 3), 1, 4)
    to, dropped, window = indexed(x.ndim, len(batch), False)
    sizes = [1 if d in dropped else rng.randint(1, n + 1) if d in to or rng.randint(2) else n for d, n in enumerate(x.shape)]
    vector = rng.randint(0, len(batch) + 1)
    d = pb.GatherDimensionNumbers(offset_dims=window, collapsed_slice_dims=dropped, start_index_map=to, index_vector_dim=vector)
    at = array(batch[:vector] + [len(to)] + batch[vector:], choose([np.int32, np.int64]), -2, 6)
    return [x, at], lambda x, at: ops.xla_gather(x, at, tf.constant(sizes, at.dtype), d.SerializeToString(), False)


@family
def scatter():
    dtype = choose(NUMBERS)
    x = array(ints(rng.randint(1, 4), 2, 5), dtype)
    batch = ints(rng.randint(0, 2), 1, 3)
    to, dropped, window = indexed(x.ndim, len(batch), True)
    sizes = [rng.randint(1, n + 1) if d in to else n for d, n in enumerate(x.shape)]
    kept = [s for d, s in enumerate(sizes) if d not in dropped]
    shape, b = [], list(batch)
    for i in range(len(kept) + len(batch)):
        shape.append(kept.pop(0) if i in window else b.pop(0))
    vector = rng.randint(0, len(batch) + 1)
    d = pb.ScatterDimensionNumbers(update_window_dims=window, inserted_window_dims=dropped, scatter_dims_to_operand_dims=to, index_vector_dim=vector)
    at = array(batch[:vector] + [len(to)] + batch[vector:], choose([np.int32, np.int64]), -1, 5)
    f = function(COMBINE[choose(list(COMBINE))], dtype, dtype)
    return [x, at, array(shape, dtype)], lambda x, at, u: ops.xla_scatter(x, at, u, f, d.SerializeToString(), False)


@family
def pad():
    x = array(ints(rng.randint(1, 4), 1, 4), choose(NUMBERS + [np.bool_]), 0, 2)
    n = x.ndim
    low, inner = ints(n, -1, 3), ints(n, 0, 2)
    high = [max(h, -(s + (s - 1) * i + l)) for h, s, i, l in zip(ints(n, -1, 3), x.shape, inner, low)]
    return [x, array([], x.dtype, 0, 2)], lambda x, v: ops.xla_pad(x, v, *same(low, high, inner))


@family
def dynamic_slice():
    x = array(ints(rng.randint(1, 4), 1, 5), choose(NUMBERS))
    sizes = [rng.randint(1, n + 1) for n in x.shape]
    return [x, array([x.ndim], choose([np.int32, np.int64]), -2, 6)], lambda x, at: ops.xla_dynamic_slice(x, at, tf.constant(sizes, at.dtype))


@family
def dynamic_update_slice():
    x = array(ints(rng.randint(1, 4), 1, 5), choose(NUMBERS))
    u = array([rng.randint(1, n + 1) for n in x.shape], x.dtype)
    return [x, u, array([x.ndim], choose([np.int32, np.int64]), -2, 6)], ops.xla_dynamic_update_slice


def dims_of(x):
    return sorted(int(d) for d in rng.permutation(x.ndim)[:rng.randint(0, x.ndim + 1)])


def dims_shrink(x, dims):
    return any(x.shape[d] > 1 for d in dims)


@family
def reduce():
    dtype = choose(NUMBERS + [np.bool_])
    x = array(ints(rng.randint(1, 4), 1, 5), dtype, 0, 2)
    dims = dims_of(x)
    norm = lambda a, b: tf.sqrt(a * a + b * b)
    how = choose([tf.logical_and, tf.logical_or] if dtype == np.bool_ else list(COMBINE.values()) + [norm] * (dtype != np.int32))
    if how is norm:
        x = np.abs(x)
    f = function(how, dtype, dtype)
    given = np.asarray(1 if how in (tf.multiply, tf.logical_and) else 0, dtype)
    if how in (tf.minimum, tf.maximum) and not dims_shrink(x, dims):
        given = np.asarray(-100 if how is tf.maximum else 100, dtype)  # XLA takes it for one that changes nothing
    if dims and rng.randint(2):
        return [x, given], lambda x, v: ops.xla_variadic_reduce([x], [v], dims, f)
    return [x, given], lambda x, v: ops.xla_reduce(x, v, dims, f)


@family
def reduce_pairs():
    x = array(ints(rng.randint(1, 4), 1, 5), choose(NUMBERS), -2, 3)
    if x.dtype != np.int32 and rng.randint(2):
        x = np.round(x)
    at = np.broadcast_to(np.arange(x.shape[-1], dtype=np.int32), x.shape)

    def later(a, i, b, j):
        first = tf.logical_or(a > b, tf.logical_and(tf.equal(a, b), i < j))
        return tf.where(first, a, b), tf.where(first, i, j)

    f = function(later, x.dtype, np.int32, x.dtype, np.int32)
    least = np.asarray(-np.inf if x.dtype != np.int32 else -2**31, x.dtype)
    dims = dims_of(x)
    return [x, np.array(at)], lambda x, i: ops.xla_variadic_reduce_v2([x, i], [tf.constant(least), tf.constant(100)], dims, f)


@family
def reduce_window():
    dtype = choose(NUMBERS)
    x = array(ints(rng.randint(1, 5), 2, 5), dtype)
    n = x.ndim
    window, strides, base, dilation = ints(n, 1, 3), ints(n, 1, 2), ints(n, 1, 2) if rng.randint(2) else [1] * n, ints(n, 1, 2) if rng.randint(2) else [1] * n
    padding = np.reshape(ints(2 * n, 0, 2), [n, 2])
    how = choose(list(COMBINE))
    f = function(COMBINE[how], dtype, dtype)
    info = np.finfo(dtype) if dtype != np.int32 else np.iinfo(dtype)
    neutral = {"add": 0, "mul": 1, "min": info.max, "max": info.min}[how]
    v = np.asarray(choose([neutral, neutral, 2]), dtype)
    return [x], lambda x: ops.xla_reduce_window(x, tf.constant(v), *same(window, strides, base, dilation, padding), f)


@family
def select_and_scatter():
    n = rng.randint(1, 5)
    x = array(ints(n, 3, 6), choose([np.float32, np.int32]))
    if x.dtype == np.int32:  # which of equal elements counts is left to the implementation
        x = rng.permutation(x.size).astype(np.int32).reshape(x.shape)
    if n == 4 and rng.randint(2):
        window, strides = [1, 2, 3, 1], [1, 1, 2, 1]
    else:
        window, strides = ints(n, 1, 3), ints(n, 1, 2)
    padding = [[rng.randint(0, w) if rng.randint(2) else 0 for _ in range(2)] for w in window]
    shape = [(s + sum(p) - w) // t + 1 for s, p, w, t in zip(x.shape, padding, window, strides)]
    select, add = function(tf.greater_equal, x.dtype, x.dtype), function(tf.add, x.dtype, x.dtype)
    v = np.asarray(choose([0, 0, 3]), x.dtype)

    def f(x, s):
        w, t, p = same(window, strides, padding)
        return ops.xla_select_and_scatter(x, w, t, p, s, tf.constant(v), select, add)

    return [x, array(shape, x.dtype)], f


@family
def sort():
    x = array(ints(rng.randint(1, 4), 1, 6), choose(NUMBERS + [np.uint8]), 0, 4)
    if rng.randint(2):
        return [x], ops.xla_sort
    return [x, np.arange(x.size, dtype=np.int32).reshape(x.shape)], lambda x, y: ops.xla_key_value_sort(x, y)


@family
def variadic_sort():
    x = np.round(array(ints(rng.randint(1, 4), 1, 6), choose(NUMBERS), 0, 4))
    y = array(x.shape, np.int32)
    less, d = choose([tf.less, tf.greater]), rng.randint(-x.ndim, x.ndim)
    two = lambda a, b, i, j: tf.logical_or(less(a, b), tf.logical_and(tf.equal(a, b), i < j))
    one = lambda a, b, i, j: less(a, b)
    f = function(choose([one, two]), x.dtype, x.dtype, np.int32, np.int32)
    return [x, y], lambda x, y: ops.xla_variadic_sort([x, y], tf.constant(int(d)), f, True)


@family
def bits():
    algorithm = choose([1, 2])
    key = rng.randint(0, 2**62, size=3 if algorithm == 1 else 2).astype(np.uint64)
    shape, d = ints(rng.randint(0, 3), 1, 5), choose([tf.uint32, tf.uint64])
    return [key], lambda key: ops.xla_rng_bit_generator(tf.constant(algorithm), key, const(shape), d)


@family
def reduce_precision():
    x = array(ints(2, 1, 4), choose(FLOATS))
    e, m = int(rng.randint(2, 9)), int(rng.randint(1, 12))
    return [x], lambda x: ops.xla_reduce_precision(x, e, m)


@family
def einsum():
    return [array([3, 4]), array([4, 5])], lambda x, y: ops.xla_einsum(x, y, choose(["ab,bc->ac", "ab,bc->ca", "ab,bc->abc"]))


@family
def broadcast():
    y = array(ints(3, 1, 4))
    n = rng.randint(0, 4)
    dims = sorted(int(d) for d in rng.permutation(3)[:n])
    x = array([y.shape[d] for d in dims])
    if n == 3:
        dims = []
    if rng.randint(2):
        x, y = y, x
    return [x, y], lambda x, y: ops.xla_broadcast_helper(x, y, const(np.asarray(dims, np.int64)))


@family
def matrices():
    x = array([2, 4, 4])
    x = x + np.swapaxes(x, 1, 2)
    if rng.randint(2):
        lower = bool(rng.randint(2))
        return [x], lambda x: ops.xla_self_adjoint_eig(x, lower, 100, 1e-6)[0]
    return [array(choose([[3, 4], [2, 4, 3]]))], lambda x: ops.xla_svd(x, 100, 1e-6, b"")[0]


@family
def loop():
    spec = tf.TensorSpec([3], tf.float32)
    n = tf.TensorSpec([], tf.int32)
    x = array([3])
    cond = tf.function(lambda i, a: i < 5).get_concrete_function(n, spec)
    body = tf.function(lambda i, a: [i + 1, a * 1.5]).get_concrete_function(n, spec)
    return [np.asarray(rng.randint(7), np.int32), x], lambda i, x: ops.xla_while([i, x], cond, body)


@family
def hints():
    x = array([2, 3])
    return [x], lambda x: ops.xla_optimization_barrier([ops.xla_sharding(x), x + 1.0])


def named(values):
    values = values if isinstance(values, (list, tuple)) else [values]
    return {"y_%d" % i: v for i, v in enumerate(values)}


def giving(values):
    return tf.function(lambda: {k: tf.constant(np.asarray(v)) for k, v in values.items()}).get_concrete_function()


def taking(f):
    return tf.function(lambda **xs: named(f(*[xs["y_%d" % i] for i in range(len(xs))])), jit_compile=True, autograph=False)


signatures, names = {}, []
for kind, make in families.items():
    for i in range(COUNT):
        name = "%s_%d" % (kind, i)
        xs, f = make()
        given = named([np.asarray(x) for x in xs])
        known = rng.randint(3) > 0  # else ranks are known only, or nothing
        specs = {k: tf.TensorSpec(v.shape if known else [None] * v.ndim, v.dtype, name=k) for k, v in given.items()}
        try:
            g = taking(f).get_concrete_function(**specs)
            first, want = [{k: np.array(v) for k, v in g(**{k: tf.constant(v) for k, v in given.items()}).items()} for _ in range(2)]
        except Exception as e:
            print("refused", name, type(e).__name__, str(e)[:300].replace("\n", " "))
            continue
        if any(not np.array_equal(first[k], want[k], equal_nan=want[k].dtype.kind == "f") for k in want):
            print("refused", name, "TensorFlow computes one thing, then another")
            continue
        signatures[name], signatures[name + "_in"], signatures[name + "_want"] = g, giving(given), giving(want)
        names.append(name)
module = tf.Module()
module.functions = list(signatures.values())
tf.saved_model.save(module, DIR, signatures=signatures)
print(" ".join(names))
