"""Prints the names of all ops that TensorFlow has, one a line, with "cpu" after those that have a kernel for CPUs.

    python tensorflow_ops.py > tensorflow_ops.txt

Needs tensorflow-cpu==2.21.0.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf  # noqa: F401, registers the ops
from tensorflow.core.framework import op_def_pb2
from tensorflow.python.client import pywrap_tf_session
from tensorflow.python.framework import kernels


def has_cpu_kernel(op):
    return any(k.device_type == "CPU" for k in kernels.get_registered_kernels_for_op(op).kernel)


ops = op_def_pb2.OpList.FromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
for op in sorted(o.name for o in ops.op):
    print(op, "cpu" if has_cpu_kernel(op) else "")
