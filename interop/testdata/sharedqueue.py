"""One end of a queue that another process uses too, by its name on a ps.

Usage: sharedqueue.py TARGET put|take COUNT"""
import sys

from sessions import config, tf, v1

target, what, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with tf.device("/job:ps/task:0"):
    q = v1.FIFOQueue(5, [tf.int64, tf.string], [[], [2]], shared_name="shared")
n = v1.placeholder(tf.int64, [])
put, take, close = q.enqueue([n, tf.stack([tf.as_string(n), "python"])]), q.dequeue(), q.close()
with v1.Session(target, config=config()) as s:
    if what == "put":
        for i in range(count):
            s.run(put, {n: i})
        s.run(close)
        print("put")
    else:
        got = []
        while True:
            try:
                got.append(s.run(take))
            except tf.errors.OutOfRangeError:
                break
        print([int(a) for a, _ in got] == list(range(count)), sorted(set(b[1].decode() for _, b in got)))
