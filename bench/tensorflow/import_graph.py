"""Workload 16 on TensorFlow's side: imports the GraphDef that `bench -only 16` has left.

Prints the best of five by the C API alone, which programs in other languages use, and one by tf.import_graph_def.
"""
import json
import os
import tempfile
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow.compat.v1 as tf  # noqa: E402
from tensorflow.python.client import pywrap_tf_session as c_api  # noqa: E402

data = open(os.path.join(tempfile.gettempdir(), "gorge-bench-import.pb"), "rb").read()


def show(metric, value, unit=""):
    print(json.dumps({"workload": "16-import", "metric": metric, "value": value, "unit": unit, "config": {"impl": "tensorflow", "threads": 2}}), flush=True)


def by_c():
    start = time.perf_counter()
    graph = tf.Graph()
    with graph._c_graph.get() as c_graph:
        options = c_api.TF_NewImportGraphDefOptions()
        c_api.TF_GraphImportGraphDefWithResults(c_graph, c_api.TF_NewBufferFromString(data), options)
    return time.perf_counter() - start


def by_python():
    start = time.perf_counter()
    graph_def = tf.GraphDef.FromString(data)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    return time.perf_counter() - start, len(graph.get_operations())


show("import.s", min(by_c() for _ in range(5)), "s")
seconds, nodes = by_python()
show("import_by_python.s", seconds, "s")
show("check.import.nodes", nodes)
