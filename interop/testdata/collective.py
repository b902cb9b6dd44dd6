"""Runs a part of collective operations that span tasks of several masters, and
prints what it gets.

Usage: collective.py TARGET TASK TASKS LENGTH
All tasks of job worker run this at once, each with its own target and number."""
import sys

from sessions import config, tf, v1

from tensorflow.python.ops import collective_ops

target, task, tasks, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])


def show(name, value):
    print(name, " ".join("%g" % v for v in value.reshape(-1)), flush=True)


with tf.Graph().as_default():
    with tf.device("/job:worker/task:%d" % task):
        x = tf.constant([float((task + 1) * (i % 5) + i % 3) for i in range(length)])
        total = collective_ops.all_reduce(x, tasks, 1, 1, "Add", "Id")
        mean = collective_ops.all_reduce(x, tasks, 1, 2, "Add", "Div")
        rows = collective_ops.all_gather(x, tasks, 1, 3)
        if task == 0:
            sent = collective_ops.broadcast_send(x, x.shape, x.dtype, tasks, 1, 4)
        else:
            sent = collective_ops.broadcast_recv(x.shape, x.dtype, tasks, 1, 4)
        dynamic = collective_ops.all_reduce_v2(x, tasks, 1, 5, "Max")
    c = config()
    c.device_filters.append("/job:worker/task:%d" % task)
    o = v1.RunOptions()
    o.experimental.collective_graph_key = 17
    with v1.Session(target, config=c) as s:
        for step in range(3):
            got = s.run([total, mean, rows, sent, dynamic], options=o)
            for name, value in zip(("sum", "mean", "rows", "sent", "max"), got):
                show(name, value)
