"""Runs TensorFlow's own server as task 0 of a cluster until stdin ends.

Arguments: the address of task 1. Prints the server's target.
"""
import os
import sys

import tensorflow as tf

server = tf.distribute.Server(
    {"worker": ["localhost:0", sys.argv[1]]},
    job_name="worker", task_index=0, protocol="grpc")
print("target", server.target, flush=True)
sys.stdin.read()
os._exit(0)  # a server of TensorFlow's does not stop cleanly
