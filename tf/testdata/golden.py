"""Writes what TensorFlow says about types, tensors, names, devices and seeds.

python golden.py > golden.json && python golden.py graph > graph.pbtxt
(needs tensorflow-cpu==2.21.0)
"""
import json
import os
import sys

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import tensor_pb2, types_pb2
from tensorflow.python.framework import dtypes, random_seed, tensor_util

v1 = tf.compat.v1


def types():
    out = []
    for name, number in types_pb2.DataType.items():
        if number == 0 or number > 100:
            continue
        try:
            d = dtypes.as_dtype(number)
        except TypeError:
            continue
        try:
            size = d.size
        except Exception:
            size = 0
        out.append(dict(enum=name, number=number, name=d.name, size=size or 0, ref=d._as_ref.name,
                        floating=d.is_floating, integer=d.is_integer, complex=d.is_complex))
    return out


def values(d, n):
    if d == tf.string:
        return np.array([b'', b'a', b'\x00\xff'] * n, dtype=object)[:n]
    if d == tf.bool:
        return np.arange(n) % 2 == 0
    x = np.arange(n) * 3 - (0 if d.is_unsigned else 2)
    if d.is_complex:
        return (x + 0.5j * x).astype(d.as_numpy_dtype)
    return x.astype(d.as_numpy_dtype)


def content(a):
    if a.dtype == object:
        return [v.hex() for v in a.ravel()]
    return a.tobytes().hex()


def tensors():
    """Tensors as make_tensor_proto writes them, and their elements."""
    out = []
    for d in [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8, tf.uint16,
              tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128, tf.string]:
        for shape in [(), (1,), (2, 3), (0, 4)]:
            a = values(d, int(np.prod(shape))).reshape(shape)
            p = tensor_util.make_tensor_proto(a, dtype=d, shape=shape)
            out.append(dict(name='%s%s' % (d.name, list(shape)), dtype=d.as_datatype_enum, shape=shape,
                            proto=p.SerializeToString(deterministic=True).hex(), elements=content(a)))
    return out


def encodings():
    """Tensors in the typed fields, the last value repeated or none given."""
    fields = {
        tf.float32: ('float_val', [1.5, -2.5]), tf.float64: ('double_val', [1.5, -2.5]), tf.int32: ('int_val', [7, -8]),
        tf.int16: ('int_val', [7, -8]), tf.int8: ('int_val', [7, -8]), tf.uint8: ('int_val', [7, 200]),
        tf.uint16: ('int_val', [7, 60000]), tf.uint32: ('uint32_val', [7, 4000000000]), tf.int64: ('int64_val', [7, -1 << 40]),
        tf.uint64: ('uint64_val', [7, 1 << 63]), tf.bool: ('bool_val', [True, False]), tf.float16: ('half_val', [0x3c00, 0xc000]),
        tf.bfloat16: ('half_val', [0x3f80, 0xc000]), tf.complex64: ('scomplex_val', [1, 2, 3, 4]),
        tf.complex128: ('dcomplex_val', [1, 2, 3, 4]), tf.string: ('string_val', [b'ab', b'']),
        tf.qint8: ('int_val', [7, -8]), tf.quint8: ('int_val', [7, 200]), tf.qint32: ('int_val', [7, -8]),
    }
    out = []
    for d, (field, vals) in fields.items():
        per = 2 if d.is_complex else 1
        for given, n in [(len(vals), len(vals) // per), (len(vals), 5), (per, 3), (0, 2)]:
            p = tensor_pb2.TensorProto(dtype=d.as_datatype_enum)
            p.tensor_shape.dim.add().size = n
            getattr(p, field).extend(vals[:given])
            a = tf.io.parse_tensor(p.SerializeToString(), d)
            if d.is_quantized:
                a = tf.bitcast(a, {tf.qint8: tf.int8, tf.quint8: tf.uint8, tf.qint32: tf.int32}[d])
            out.append(dict(name='%s %d of %d' % (d.name, given // per, n), dtype=d.as_datatype_enum, shape=[n],
                            proto=p.SerializeToString(deterministic=True).hex(), elements=content(a.numpy())))
    return out


def names():
    """Names that a graph gives to a sequence of operations within scopes."""
    asked = [
        ('', 'x'), ('', 'x'), ('', 'X'), ('', 'x_1'), ('', 'x_1'), ('', 'x'), ('', 'x_1_1'), ('a', 'x'), ('a', 'x'), ('A', 'x'),
        ('a/', 'x'), ('a/b', 'x'), ('a', ''), ('', 'a'), ('', 'a/x'), ('', 'x_2'), ('', 'x'), ('', 'y/'), ('', 'y'), ('b', 'b'), ('b', 'b/'),
    ]
    g = v1.Graph()
    out = []
    with g.as_default():
        for scope, name in asked:
            if scope:
                with g.name_scope(scope):
                    got = v1.no_op(name=name or None).name
            else:
                try:
                    got = v1.no_op(name=name or None).name
                except ValueError:
                    got = '!'
            out.append([scope, name, got])
    return out


def devices():
    """Device specs: the canonical text, or None if they are malformed."""
    out = {}
    for s in ['', '/job:ps', '/job:ps/replica:0/task:1/device:CPU:0', '/job:ps/task:1', '/cpu:0', '/gpu:2', '/CPU:1', '/device:CPU:*',
              '/device:GPU', '/device:TPU:3', '/device:tpu:3', '/job:*/task:*', '/replica:7', 'job:a/task:2', '/job:a//task:3',
              '/job:a/job:b', '/task:x', '/job:1a', '/foo:1', '/device:', '/job:', '/task:-1', '/device:CPU:x', '/job:a/device:*:1']:
        try:
            out[s] = tf.DeviceSpec.from_string(s).to_string()
        except Exception:
            out[s] = None
    return out


def scopes():
    """Devices of operations within nested scopes."""
    out = []
    for nest in [['/job:a'], ['/job:a', '/task:1'], ['/job:a/task:1', '/job:b'], ['/device:CPU:1', '/device:GPU:0'], ['/job:a', None],
                 ['/job:a', None, '/task:2'], ['/device:CPU:1', '/device:GPU:*'], ['/task:1', '/job:a/replica:0'], ['/job:a/device:CPU:0', '/device:CPU:*']]:
        g = v1.Graph()
        with g.as_default():
            def inner(i):
                if i == len(nest):
                    return v1.no_op().device
                with v1.device(nest[i]):
                    return inner(i + 1)
            out.append([[n or '' for n in nest], inner(0)])
    return out


def seeds():
    """Seeds of consecutive operations, by the graph's and the op's own."""
    out = []
    for graph_seed in [None, 0, 1, 87654321, 1 << 40]:
        g = v1.Graph()
        got = []
        with g.as_default():
            v1.set_random_seed(graph_seed)
            for op in [None, None, 5, None, 0, 1 << 40]:
                a, b = random_seed.get_seed(op)
                got.append([op, a or 0, b or 0])
        out.append([graph_seed, got])
    return out


def broadcasts():
    """Static shapes of sums and of merged shapes; None: an error."""
    shapes = [None, [], [1], [2], [3], [None], [1, 3], [2, 1], [None, 3], [2, None], [4, 2, 3], [0], [None, 1]]

    def shape(s):
        return tf.TensorShape(s)

    def known(s):
        return 'unknown' if s.rank is None else [-1 if d is None else d for d in s.as_list()]

    out = []
    for a in shapes:
        for b in shapes:
            with v1.Graph().as_default():
                try:
                    s = known((v1.placeholder(tf.float32, a) + v1.placeholder(tf.float32, b)).shape)
                except ValueError:
                    s = None
            try:
                m = known(shape(a).merge_with(shape(b)))
            except ValueError:
                m = None
            out.append([known(shape(a)), known(shape(b)), s, m, bool(shape(a).is_compatible_with(shape(b)))])
    return out


def graph():
    g = v1.Graph()
    with g.as_default():
        v1.enable_resource_variables()
        x = v1.placeholder(tf.float32, [None, 3], name='x')
        with v1.name_scope('layer'), v1.device('/job:ps/task:1'):
            w = v1.Variable(np.float32([[1, 2], [3, 4], [5, 6]]), name='w')
            b = v1.Variable(np.zeros(2, np.float32), name='b')
        y = tf.nn.relu(tf.matmul(x, w) + b, name='y')
        with g.control_dependencies([y]), g.colocate_with(y.op):
            v1.no_op(name='after')
        parts = tf.split(y, 2, axis=1)
        tf.concat([parts[1], parts[0]], 1, name='swapped')
        v1.get_default_graph().get_operation_by_name('after')._set_attr('_note', tf.compat.v1.AttrValue(s=b'kept'))
        v1.global_variables_initializer()
    return g.as_graph_def()


if len(sys.argv) > 1:
    v1.disable_eager_execution()
    print(graph(), end='')
else:
    e = encodings()
    v1.disable_eager_execution()
    json.dump(dict(types=types(), tensors=tensors(), encodings=e, names=names(), devices=devices(), scopes=scopes(),
                   seeds=seeds(), broadcasts=broadcasts()), sys.stdout, indent=0)
