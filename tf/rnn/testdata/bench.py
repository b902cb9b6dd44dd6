"""Measures what BenchmarkDynamicRNN measures, with TensorFlow: milliseconds a
step, the median of 20.

usage: TF_USE_LEGACY_KERAS=1 python bench.py"""
import os
import statistics
import time

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.enable_resource_variables()
for v2 in (False, True):
    (tf.enable_control_flow_v2 if v2 else tf.disable_control_flow_v2)()
    for name, cell in {"lstm": tf.nn.rnn_cell.LSTMCell, "gru": tf.nn.rnn_cell.GRUCell}.items():
        with tf.Graph().as_default(), tf.Session() as sess:
            x = tf.random.normal([32, 200, 64])
            y, _ = tf.nn.dynamic_rnn(cell(128), x, dtype=tf.float32)
            loss = tf.reduce_mean(y * y)
            step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
            sess.run(tf.global_variables_initializer())
            for what, f in {"infer": loss, "train": step}.items():
                took = []
                for _ in range(23):
                    begin = time.perf_counter()
                    sess.run(f)
                    took.append(time.perf_counter() - begin)
                print(f"{'while v2' if v2 else 'while v1'} {name}/{what}: {1000 * statistics.median(took[3:]):.1f} ms", flush=True)
