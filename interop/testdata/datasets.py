"""Datasets on TensorFlow, without a server: the orders of shuffles, and files of
every kind, for Go to compare with and to read.

Usage: datasets.py DIRECTORY"""
import glob
import os
import sys

from sessions import show, tf, v1

directory = sys.argv[1]
D = tf.data.Dataset


def elements(d):
    with v1.Session() as s:
        it = v1.data.make_initializable_iterator(d)
        following = it.get_next()
        s.run(it.initializer)
        out = []
        while True:
            try:
                out.append(int(s.run(following)))
            except tf.errors.OutOfRangeError:
                return out


def main():
    for n, size, seed, seed2 in ((20, 8, 1, 3), (100, 100, 7, 9), (50, 1, 5, 5), (1000, 64, 2 ** 40, 4)):
        tf.compat.v1.set_random_seed(None)
        raw = tf.raw_ops.ShuffleDataset
        shape = dict(output_types=[tf.int64], output_shapes=[[]])
        source = tf.raw_ops.RangeDataset(start=0, stop=n, step=1, **shape)
        shuffled = raw(input_dataset=source, buffer_size=size, seed=seed, seed2=seed2, reshuffle_each_iteration=True, **shape)
        twice = tf.raw_ops.RepeatDataset(input_dataset=shuffled, count=2, **shape)
        show("shuffle %d %d %d %d" % (n, size, seed, seed2), " ".join(map(str, elements(v1.data.Dataset.from_tensors(0).flat_map(lambda _: wrapped(twice))))))
    for compression in ("", "GZIP", "ZLIB"):
        with tf.io.TFRecordWriter(os.path.join(directory, "theirs" + compression), compression or None) as w:
            for i in range(50):
                w.write(tf.train.Example(features=tf.train.Features(feature={"i": tf.train.Feature(int64_list=tf.train.Int64List(value=[i, -i]))})).SerializeToString())
        got = []
        with v1.Session() as s:
            it = v1.data.make_initializable_iterator(v1.data.TFRecordDataset(os.path.join(directory, "ours" + compression), compression))
            x = v1.parse_single_example(it.get_next(), {"i": v1.FixedLenFeature([2], tf.int64), "s": v1.FixedLenFeature([], tf.string)})
            s.run(it.initializer)
            while True:
                try:
                    v = s.run(x)
                    got.append((list(map(int, v["i"])), v["s"].decode()))
                except tf.errors.OutOfRangeError:
                    break
        show("ours " + compression, got == [([i, -i], "s%d" % i) for i in range(50)])
    with v1.Session() as s:
        d = v1.data.Dataset.range(12).batch(5)
        s.run(d.save(os.path.join(directory, "saved"), compression="GZIP"))
    snapshots()
    show("saved by us", elements(v1.data.Dataset.load(os.path.join(directory, "oursaved"), tf.TensorSpec([None], tf.int64)).unbatch()))


def snapshots():
    """keeps a snapshot for Go to read, and reads Go's where TensorFlow's was"""
    d = v1.data.Dataset.range(12).snapshot(os.path.join(directory, "snapshots"), compression="GZIP")
    elements(d)
    (own,) = glob.glob(os.path.join(directory, "snapshots", "*"))
    os.rename(own, os.path.join(directory, "theirsnapshot"))
    os.rename(os.path.join(directory, "oursnapshot"), own)
    show("snapshot of ours", elements(d))


def wrapped(variant):
    from tensorflow.python.data.ops import dataset_ops
    return dataset_ops._VariantDataset(variant, tf.TensorSpec([], tf.int64))


main()
