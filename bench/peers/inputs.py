"""Inputs and initial values of the workloads, bit for bit the same in any framework. WORKLOADS.md defines them."""
import math

import numpy as np


def hash32(seed, n, start=0):
    i = np.arange(start, start + n, dtype=np.uint32)
    with np.errstate(over="ignore"):
        h = i * np.uint32(0x9E3779B1) + np.uint32((seed * 0x85EBCA77 + 0x165667B1) & 0xFFFFFFFF)
        h ^= h >> np.uint32(16)
        h *= np.uint32(0x85EBCA6B)
        h ^= h >> np.uint32(13)
        h *= np.uint32(0xC2B2AE35)
        h ^= h >> np.uint32(16)
    return h


def size(shape):
    return int(np.prod(shape)) if shape else 1


def uni(seed, shape, scale=1.0, dtype="float32"):
    """Uniform in [-scale, scale): exact 24-bit value, then one multiplication rounded to the dtype."""
    v = (hash32(seed, size(shape)) >> np.uint32(8)).astype(np.int32) - np.int32(1 << 23)
    v = v.astype(dtype) * np.dtype(dtype).type(2.0 ** -23)
    return (v * np.dtype(dtype).type(scale)).reshape(shape)


def pos(seed, shape):
    """Uniform in [0, 1): exact 24-bit value."""
    return ((hash32(seed, size(shape)) >> np.uint32(8)).astype(np.float32) * np.float32(2.0 ** -24)).reshape(shape)


def ids(seed, shape, n):
    return (hash32(seed, size(shape)) % np.uint32(n)).astype(np.int32).reshape(shape)


def weight(k, shape):
    """The k-th weight of a model."""
    r = math.prod(shape[:-2])
    return uni(k, shape, math.sqrt(6.0 / (r * shape[-2] + r * shape[-1])))


def depthwise(k, shape):
    """The k-th weight of a model, the filter of a depthwise convolution."""
    return uni(k, shape, math.sqrt(6 / (2 * shape[0] * shape[1])))


def image_batches(n, batch, shape):
    x = pos(1001, [n * batch] + shape)
    y = ids(1002, [n * batch], 10)
    return [(x[i * batch:(i + 1) * batch].copy(), y[i * batch:(i + 1) * batch].copy()) for i in range(n)]


def token_batches(n=10, batch=32, steps=20, words=1000):
    """Words of workload 6, and the ones that follow them."""
    t = ids(1003, [n, batch, steps + 1], words)
    return [(np.ascontiguousarray(t[i, :, :steps]), np.ascontiguousarray(t[i, :, 1:])) for i in range(n)]


def sentences(n, batch, steps=128, words=1000):
    """n batches of words and of what is added to the scores of words by which sequences are padded."""
    w = ids(1020, [n, batch, steps], words)
    length = ids(1022, [n, batch], steps // 2) + steps // 2
    mask = np.where(np.arange(steps) > length[..., None], np.float32(-10000), np.float32(0))
    return w, mask.reshape(n, batch, 1, 1, steps)


def sentence_batches(n=4, batch=8, steps=128, words=1000):
    w, mask = sentences(n, batch, steps, words)
    y = ids(1021, [n, batch * steps], words)
    return [(w[i], mask[i], y[i]) for i in range(n)]


def coloured_batches(n=4, batch=16, shape=(96, 96, 3)):
    """Images of workload 29: plain noise would be alike to the last layers."""
    bright = pos(1026, [n, batch, 1, 1, 3])
    return [(x * bright[i], y) for i, (x, y) in enumerate(image_batches(n, batch, list(shape)))]


def skewed(seed, shape, limit):
    p = pos(seed, shape).astype(np.float64)
    p = p * p
    return (p * p * limit).astype(np.int32)


def wide_deep_batches(n=8, batch=1024, fields=16, numbers=13):
    rows, x = skewed(1023, [n, batch, fields], 1000000), uni(1024, [n, batch, numbers])
    y = ids(1025, [n, batch], 2).astype(np.float32)
    return [(rows[i], x[i], y[i]) for i in range(n)]
