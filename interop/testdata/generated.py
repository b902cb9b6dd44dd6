"""Runs the graphs that a manifest lists, two devices each, and prints a line for each: the values of all steps."""
import json
import os
import sys

os.environ.setdefault('TF_CPP_MIN_LOG_LEVEL', '3')

import numpy as np
import tensorflow.compat.v1 as tf


def run(entry):
  graph_def = tf.GraphDef()
  with open(entry['file'], 'rb') as f:
    graph_def.ParseFromString(f.read())
  config = tf.ConfigProto(device_count={'CPU': 2})
  # TensorFlow's own optimizer breaks a few of the graphs: "Retval[1] does not have value".
  config.graph_options.rewrite_options.disable_meta_optimizer = True
  config.operation_timeout_in_ms = 60000  # it waits for ever for one of them
  out = []
  with tf.Graph().as_default() as graph:
    tf.import_graph_def(graph_def, name='')
    feeds = {}
    for name, values in entry['feeds'].items():
      tensor = graph.get_tensor_by_name(name)
      feeds[tensor] = np.array(values, np.float32).reshape(tensor.shape.as_list())
    with tf.Session(graph=graph, config=config) as sess:
      for step in entry['steps']:
        targets = [graph.get_operation_by_name(t) for t in step['targets']]
        values, _ = sess.run([step['fetches'], targets], feeds)
        out.append([np.ravel(v).tolist() for v in values])
  return out


with open(sys.argv[1]) as manifest:
  for entry in json.load(manifest):
    try:
      print(json.dumps(run(entry)), flush=True)
    except tf.errors.OpError as e:  # its own fault: see the test
      print(json.dumps(e.message.split('[[')[0]), flush=True)
