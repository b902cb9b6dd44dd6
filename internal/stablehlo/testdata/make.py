"""Makes the artifacts of this folder with JAX: python make.py"""
import os
import sys
import zlib

sys.path.insert(0, os.environ.get("JAX_PACKAGES", "."))

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import export, lax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
F, I = jnp.float32, jnp.int32
here = os.path.dirname(os.path.abspath(__file__))


def spec(shape, dtype=F):
    return jax.ShapeDtypeStruct(shape, dtype)


def save(name, f, *args, platform="cpu"):
    exported = export.export(
        jax.jit(f), platforms=[platform], disabled_checks=[export.DisabledSafetyCheck.custom_call("gorge.twice")])(*args)
    for end, data in (".bc", exported.mlir_module_serialized), (".mlir", exported.mlir_module().encode()):
        out = os.environ.get("MLIR_OUT") if end == ".mlir" else here
        if out:
            with open(os.path.join(out, name + end), "wb") as w:
                w.write(data)


def loops(x, n):
    total = lax.while_loop(lambda s: (s[0] < n) & (s[1].sum() < 100.0), lambda s: (s[0] + 1, s[1] * 2), (0, x))
    carry, ys = lax.scan(lambda c, v: (c + v, jnp.tanh(c) * v), 0.0, x)
    picked = lax.switch(n, [jnp.sin, jnp.cos, lambda v: v], x)
    return total, carry, ys, lax.cond(n > 3, lambda v: v + 1, lambda v: v - 1, picked)


def indices(x, i, u):
    rows = jnp.take(x, i, axis=0, mode="clip")
    batched = jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1)
    s, order = lax.sort((x, lax.broadcasted_iota(I, x.shape, 1)), num_keys=1)
    part = lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i[0], i[1]), (1, 2)), (i[1], i[0]))
    return rows, batched, s, order, x.at[i].add(u), part, lax.top_k(x, 2)


def windows(x, k):
    y = lax.conv_general_dilated(x, k, (2, 1), ((1, 0), (0, 1)), (1, 1), (1, 2),
                                 lax.conv_dimension_numbers(x.shape, k.shape, ("NHWC", "HWIO", "NHWC")),
                                 precision=lax.Precision.HIGHEST)
    pooled = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    return pooled, jax.grad(lambda v: lax.reduce_window(v, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").sum())(y)


def reductions(x, v):
    least = lax.reduce((x, lax.broadcasted_iota(I, x.shape, 0)), (jnp.float32(jnp.inf), jnp.int32(0)),
                       lambda a, b: (jnp.minimum(a[0], b[0]), jnp.where(a[0] <= b[0], a[1], b[1])), (0,))
    return least, x @ v, jnp.einsum("ij,kj->ik", x, x), jnp.any(x > 0), jnp.prod(x), jnp.cumsum(x, axis=1)


def numbers(z, h, b):
    e = [jnp.asarray(np.array([-1.5, 0.25, 3.0]).astype(t)) for t in (
        ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3b11fnuz,
        ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz, np.float64)]
    i = [jnp.asarray(np.array([1, 2, 3]).astype(t)) for t in (
        ml_dtypes.int4, ml_dtypes.uint4, np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.uint64)]
    return (jnp.fft.fft(z * (1 + 2j)), jnp.real(z), h.astype(jnp.bfloat16) * b, *e, *i,
            jnp.asarray(np.array([-8, -1, 7]).astype(ml_dtypes.int4)), jnp.array([1 - 1j, 2j]), jnp.array([-1, -2**40]))


def constants(x):
    many = np.arange(3000, dtype=np.int32).reshape(30, 100)
    flags = np.arange(20) % 3 == 0
    return (x + many.astype(np.float32), jnp.asarray(many % 7), jnp.asarray(flags), jnp.ones((100, 100), bool),
            *(jnp.asarray(v) for v in (
                np.zeros(50, bool), np.ones(50, bool), np.array([True] * 8), np.array([False] * 8), np.array([False, True]),
                np.full((4, 5), 2.5), np.full(7, -3, np.int16), np.full(3, 1 - 2j), np.zeros((0, 3)), np.zeros(0, bool))))


@jax.jit
def inner(x):
    return jnp.exp(x) + 1


def calls(x):
    twice = jax.ffi.ffi_call("gorge.twice", spec(x.shape, x.dtype), has_side_effect=True)(
        x, scale=np.float32(2), name="a name", flags=np.array([1, 2], np.int64))
    whole = lax.composite(lambda v, *, k: jnp.log(v) * k, "gorge.scaled_log", version=3)(x, k=np.float32(1.5))
    return inner(twice) + inner(whole), lax.optimization_barrier(x), lax.erf(x), lax.rng_bit_generator(jnp.array([1, 2], jnp.uint64), (3,))


def linear(a, b):
    return (lax.linalg.cholesky(a), lax.linalg.triangular_solve(a, b, lower=True, left_side=True),
            lax.reduce_precision(b, 5, 10), lax.clamp(F(0), b, F(1)), lax.pad(b, F(0.5), ((1, -1, 2), (0, 1, 0))),
            lax.rev(b, (0,)), lax.convert_element_type(b, I), lax.bitcast_convert_type(b, jnp.uint32))


b, = export.symbolic_shape("b")
save("loops", loops, spec((4,)), spec((), I))
save("indices", indices, spec((4, 6)), spec((2,), I), spec((2, 6)))
save("windows", windows, spec((2, 8, 9, 3)), spec((3, 2, 3, 4)))
save("reductions", reductions, spec((4, 6)), spec((6,)))
save("numbers", numbers, spec((4,), jnp.complex64), spec((3,), jnp.float16), spec((3,), jnp.bfloat16))
save("constants", constants, spec((30, 100)))
save("calls", calls, spec((3,)))
save("linear", linear, spec((3, 3)), spec((3, 3)), platform="tpu")
save("polymorphic", lambda x, y: (jnp.concatenate([x @ y, x[:, :4]]), x.reshape((-1,)), x.sum(0), jnp.arange(x.shape[0]), x[1:]),
     spec((b, 8)), spec((8, 4)))

# The checksums of all values of the small types of numbers, those that are none as 12345.
with open(os.path.join(here, "floats.txt"), "w") as w:
    for name, kind in (("bf16", "bfloat16"), ("f16", "float16"), ("f4E2M1FN", "float4_e2m1fn"), ("f6E2M3FN", "float6_e2m3fn"),
                       ("f6E3M2FN", "float6_e3m2fn"), ("f8E3M4", "float8_e3m4"), ("f8E4M3", "float8_e4m3"),
                       ("f8E4M3B11FNUZ", "float8_e4m3b11fnuz"), ("f8E4M3FN", "float8_e4m3fn"), ("f8E4M3FNUZ", "float8_e4m3fnuz"),
                       ("f8E5M2", "float8_e5m2"), ("f8E5M2FNUZ", "float8_e5m2fnuz"), ("f8E8M0FNU", "float8_e8m0fnu")):
        dtype = np.dtype(getattr(ml_dtypes, kind, None) or kind)
        bits = {"f4": 4, "f6": 6, "f8": 8}.get(name[:2], 16)
        values = np.arange(1 << bits).astype(np.uint16 if bits == 16 else np.uint8).view(dtype).astype(np.float64)
        values[np.isnan(values)] = 12345
        w.write("%s %08x\n" % (name, zlib.crc32(values.astype("<f8").tobytes())))
