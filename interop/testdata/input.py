"""TF1 input pipelines on a server: queue runners, readers, tf.train.shuffle_batch,
as programs have them. Prints what does not depend on the order of threads.

Usage: input.py TARGET DIRECTORY"""
import collections
import os
import sys

from sessions import config, show, tf, v1

target, directory = sys.argv[1:]


def write():
    names = []
    for f in range(3):
        names.append(os.path.join(directory, "part%d" % f))
        with tf.io.TFRecordWriter(names[-1]) as w:
            for i in range(20):
                n = 20 * f + i
                features = {
                    "number": tf.train.Feature(int64_list=tf.train.Int64List(value=[n])),
                    "squares": tf.train.Feature(float_list=tf.train.FloatList(value=[n * n, -n])),
                    "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"n%d" % n])),
                }
                w.write(tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString())
    return names


def parsed(names, epochs):
    queue = v1.train.string_input_producer(names, num_epochs=epochs, seed=3)
    key, record = v1.TFRecordReader().read(queue)
    e = v1.parse_single_example(record, {
        "number": v1.FixedLenFeature([], tf.int64), "squares": v1.FixedLenFeature([2], tf.float32), "name": v1.FixedLenFeature([], tf.string)})
    return key, e["number"], e["squares"], e["name"]


def run(what, batch, check):
    with v1.Session(target, config=config()) as s:
        s.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        coord = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(s, coord)
        out = []
        try:
            while not coord.should_stop():
                out.append(s.run(batch))
        except tf.errors.OutOfRangeError:
            show(what, "ended")
        finally:
            coord.request_stop()
        coord.join(threads)
        show(what, check(out))


def counts(out):
    seen = collections.Counter(int(n) for b in out for n in b[1])
    right = all(list(sq) == [n * n, -n] and name == b"n%d" % n for b in out for n, sq, name in zip(*b[1:]))
    return [len(out), sorted(set(seen.values())), len(seen), right]


def main():
    names = write()
    with tf.Graph().as_default():
        run("shuffle_batch", v1.train.shuffle_batch(parsed(names, 2), 8, capacity=50, min_after_dequeue=20, num_threads=3, seed=5, allow_smaller_final_batch=True), counts)
    with tf.Graph().as_default():
        run("batch_join", v1.train.batch_join([parsed(names, 1) for _ in range(2)], 7), lambda out: [len(out), len(out[0])])
    with tf.Graph().as_default():
        run("in order", v1.train.batch(list(parsed(names[:1], 1)), 5, num_threads=1), lambda out: [int(n) for b in out for n in b[1]])
    with tf.Graph().as_default():
        x = v1.train.slice_input_producer([list(range(5)), ["a", "b", "c", "d", "e"]], num_epochs=1, shuffle=False)
        run("slices", v1.train.maybe_batch(x, keep_input=tf.not_equal(x[0], 2), batch_size=2), lambda out: [[int(n) for n in b[0]] for b in out])


main()
