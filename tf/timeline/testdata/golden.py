"""Makes what the tests compare with: RunMetadata of TensorFlow, and what its own timeline makes of them.

Run with tensorflow-cpu==2.21.0 in this directory.
"""
import json

import tensorflow.compat.v1 as tf
from tensorflow.python.client import timeline

tf.disable_v2_behavior()


def measured():
  """A step on two devices with a loop."""
  config = tf.ConfigProto(device_count={'CPU': 2})
  metadata = tf.RunMetadata()
  with tf.Graph().as_default():
    with tf.device('/cpu:0'):
      x = tf.placeholder(tf.float32, [2, 3], name='x')
      v = tf.get_variable('v', initializer=tf.ones([3, 2]))
      y = tf.matmul(x, v, name='y')
      loop = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
    with tf.device('/cpu:1'):
      z = tf.nn.relu(y, name='z')
      with tf.control_dependencies([z]):
        w = tf.split(tf.identity(z + 1.0), 2, name='w')
      w = w[0] + w[1]
    with tf.Session(config=config) as sess:
      sess.run(tf.global_variables_initializer())
      options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
      sess.run([w, loop], {x: [[1, 2, 3], [4, 5, 6]]}, options=options, run_metadata=metadata)
  return metadata


def invented():
  """What this machine cannot measure: other tasks and GPUs, odd labels, nothing at all."""
  metadata = tf.RunMetadata()

  def add(device, *nodes):
    dev = metadata.step_stats.dev_stats.add(device=device)
    for name, label, start, length, sizes in nodes:
      n = dev.node_stats.add(node_name=name, timeline_label=label, all_start_micros=start, all_end_rel_micros=length)
      for slot, size in enumerate(sizes):
        d = n.output.add(slot=slot).tensor_description
        d.dtype = tf.float32.as_datatype_enum
        d.shape.dim.add(size=size // 4 if size else -1)
        d.allocation_description.requested_bytes = size
        d.allocation_description.allocator_name = 'gpu_bfc' if 'GPU' in device else 'cpu'
        if size > 100:
          d.allocation_description.allocation_id = size
          d.allocation_description.has_single_reference = True

  add('/job:worker/replica:0/task:0/device:CPU:0',
      ('RecvTensor', '[1024B] edge_160_w from /job:ps/task:3 to /job:worker/task:0', 100, 42, [1024]),
      ('a', '[cpu 1.0MB 1.0MB] a = Op(RecvTensor, b:1, ^c)', 90, 20, [400, 0]),
      ('odd', 'no label', 143, 1, [8]),
      ('a', 'a = Op(a, a:1)', 144, 3, [40]))
  add('/job:worker/replica:0/task:0/device:GPU:0',
      ('m', 'm = MatMul(a/_12, x)', 120, 5, [80]), ('n', 'n = Neg(m)', 125, 9, [80, 80]))
  add('/device:GPU:0/stream:all',
      ('m:MatMul', 'gemm@@m:MatMul#1', 130, 30, []), ('m:MatMul', 'gemm2', 170, 3, []), ('k', 'kernel', 160, 2, []))
  add('/device:GPU:0/memcpy', ('edge', 'copy@@edge:MEMCPY#x', 120, 2, []))
  return metadata


ALL = {
    'plain': {},
    'memory': {'show_memory': True},
    'alone': {'show_dataflow': False},
    'gpu': {'op_time': 'gpu', 'show_memory': True},
    'all': {'op_time': 'all'},
}

for name, metadata in [('measured', measured()), ('invented', invented())]:
  with open(name + '.pb', 'wb') as f:
    f.write(metadata.SerializeToString())
  traces = {}
  for how, args in ALL.items():
    t = timeline.Timeline(metadata.step_stats)
    analysis = t.analyze_step_stats(**{'show_memory': False, **args})
    traces[how] = {
        'trace': json.loads(analysis.chrome_trace.format_to_string()),
        'maximums': {k: [m.timestamp, m.num_bytes, sorted(m.tensors)] for k, m in analysis.allocator_maximums.items()},
    }
  with open(name + '.json', 'w') as f:
    json.dump(traces, f, indent=1)
    f.write('\n')
