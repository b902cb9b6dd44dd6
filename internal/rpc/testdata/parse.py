"""Parses RecvTensorResponse messages, in hexadecimal, one a line.

Answers each with its fields, and with the tensor's elements as TensorFlow's
own parser reads them. The message is declared here because TensorFlow's
wheels lack it; the tensor inside is TensorFlow's.
"""
import sys

import tensorflow as tf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tensorflow.core.framework import tensor_pb2

F = descriptor_pb2.FieldDescriptorProto
file = descriptor_pb2.FileDescriptorProto(
    name="parse.proto", syntax="proto3", dependency=[tensor_pb2.DESCRIPTOR.name],
    message_type=[descriptor_pb2.DescriptorProto(name="RecvTensorResponse", field=[
        F(name="tensor", number=1, type=F.TYPE_MESSAGE, label=1, type_name=".tensorflow.TensorProto"),
        F(name="is_dead", number=2, type=F.TYPE_BOOL, label=1),
        F(name="send_start_micros", number=3, type=F.TYPE_INT64, label=1),
        F(name="require_ack", number=5, type=F.TYPE_BOOL, label=1),
    ])])
pool = descriptor_pool.Default()
pool.Add(file)
Response = message_factory.GetMessageClass(pool.FindMessageTypeByName("RecvTensorResponse"))

for line in sys.stdin:
    m = Response.FromString(bytes.fromhex(line.strip()))
    a = tf.io.parse_tensor(m.tensor.SerializeToString(), tf.as_dtype(m.tensor.dtype))
    if a.dtype == tf.string:
        elements = b"|".join(a.numpy().ravel()) if a.shape.rank else a.numpy()
    elif a.dtype.is_quantized:
        elements = m.tensor.tensor_content  # NumPy has no such elements
    else:
        elements = a.numpy().tobytes()
    print(int(m.is_dead), m.send_start_micros, int(m.require_ack), a.dtype.name,
          "x".join(map(str, a.shape)) or "-", elements.hex() or "-", flush=True)
