"""Writes testdata/three.tfrecord, or prints the records of the file it is given."""

import sys

import tensorflow as tf

RECORDS = [b"hello", b"", b"x" * 300]

if len(sys.argv) > 1:
    for record in tf.compat.v1.io.tf_record_iterator(sys.argv[1]):
        print(record.hex() or "-")
else:
    with tf.io.TFRecordWriter("testdata/three.tfrecord") as writer:
        for record in RECORDS:
            writer.write(record)
