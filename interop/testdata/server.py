"""Runs one task of a cluster on real TensorFlow, until its input ends."""
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import tensorflow as tf


def main():
    text, job, task = sys.argv[1:4]
    config = tf.compat.v1.ConfigProto()
    if len(sys.argv) > 4:
        config.experimental.collective_group_leader = sys.argv[4]
    cluster = {}
    for part in text.split(","):
        name, tasks = part.split("|")
        cluster[name] = tasks.split(";")
    server = tf.distribute.Server(tf.train.ClusterSpec(cluster), job_name=job, task_index=int(task), config=config)
    print(server.target.decode() if isinstance(server.target, bytes) else server.target, flush=True)
    sys.stdin.read()
    os._exit(0)  # a TensorFlow server cannot be stopped in any other way


if __name__ == "__main__":
    main()
