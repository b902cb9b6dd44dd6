"""Savers of TensorFlow and Gorge on the same checkpoints.

Usage: saver.py nodes           prints the operations of savers: name, op, inputs, device
       saver.py save DIR        saves checkpoints in each way there is
       saver.py restore DIR     restores what Gorge saved in the same ways and compares
       saver.py drive DIR       drives the saver of the MetaGraph that Gorge wrote, saves again
"""
import os
import sys

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np  # noqa: E402
import tensorflow.compat.v1 as tf  # noqa: E402

tf.disable_eager_execution()
WAYS = {"plain": {}, "sharded": {"sharded": True}, "old": {"write_version": tf.train.SaverDef.V1}}
TYPES = ["float32", "float64", "int32", "uint8", "int16", "int8", "int64", "bool", "complex64", "complex128", "uint16", "uint32", "uint64",
         "float16", "bfloat16", "string"]
OLD = set(TYPES) - {"uint32", "uint64", "bfloat16"}


def values(name, k):
    """The initial values of each type: Gorge's test has the same."""
    if name == "string":
        return [b"a" * i for i in range(k, k + 3)]
    x = np.arange(k, k + 3)
    return (x % 2 == 0) if name == "bool" else x.astype(tf.as_dtype(name).as_numpy_dtype)


def model(k, types=TYPES):
    for i, name in enumerate(types):
        x = values(name, k)
        with tf.device("/device:CPU:%d" % (i % 2)):
            tf.get_variable("v_" + name, initializer=tf.constant(x, tf.as_dtype(name)), use_resource=i % 3 > 0)
            tf.get_variable("s_" + name, initializer=tf.constant(x[0], tf.as_dtype(name)), use_resource=True)
    tf.get_variable("empty", [0, 3], use_resource=True)
    tf.get_variable("sliced", [5, 4], initializer=tf.constant_initializer(float(k)), partitioner=tf.fixed_size_partitioner(2 + k % 2, axis=k % 2), use_resource=k > 1)


def session(g):
    return tf.Session(graph=g, config=tf.ConfigProto(device_count={"CPU": 2}))


def nodes():
    for kw in [{}, {"sharded": True}, {"restore_sequentially": True}]:
        with tf.Graph().as_default() as g:
            with tf.device("/job:ps/task:1"):
                tf.get_variable("b", [2], use_resource=True)
            with tf.device("/job:ps/task:0"):
                tf.get_variable("a", [2, 3], use_resource=False)
            have = {n.name for n in g.as_graph_def().node}
            saver = tf.train.Saver(**kw)
            print(saver.saver_def.filename_tensor_name, saver.saver_def.save_tensor_name, saver.saver_def.restore_op_name)
            for n in sorted(g.as_graph_def().node, key=lambda n: n.name):
                if n.name not in have:
                    print(n.name, n.op, sorted(n.input), n.device)
            print("-")


def save(directory):
    for name, kw in WAYS.items():
        with tf.Graph().as_default() as g:
            model(1, [t for t in TYPES if name != "old" or t in OLD])
            saver = tf.train.Saver(**kw)
            with session(g) as sess:
                sess.run(tf.global_variables_initializer())
                saver.save(sess, os.path.join(directory, name), global_step=7)


def restore(directory):
    for name in WAYS:
        with tf.Graph().as_default() as g:
            types = [t for t in TYPES if name != "old" or t in OLD]
            model(1, types)
            saver = tf.train.Saver()
            path = os.path.join(directory, name + "-7")
            with session(g) as sess:
                saver.restore(sess, path)
                for t in types:
                    got, want = sess.run("v_%s:0" % t if t in types[::3] else "v_%s/Read/ReadVariableOp:0" % t), values(t, 2)
                    assert list(got) == list(want), (name, t, got, want)
                    assert sess.run("s_%s/Read/ReadVariableOp:0" % t) == want[0]
                whole = np.concatenate([sess.run(v) for v in tf.global_variables() if v.name.startswith("sliced/")], axis=1)
                assert whole.shape == (5, 4) and (whole == 2).all(), whole
            reader = tf.train.NewCheckpointReader(path)
            assert reader.get_variable_to_shape_map()["sliced"] == [5, 4]
            print(name, len(reader.get_variable_to_shape_map()))
    print(tf.train.latest_checkpoint(directory))


def drive(directory):
    for name in WAYS:
        with tf.Graph().as_default() as g:
            path = os.path.join(directory, name + "-7")
            saver = tf.train.import_meta_graph(path + ".meta")
            with session(g) as sess:
                saver.restore(sess, path)
                saver.save(sess, os.path.join(directory, "again_" + name), global_step=8)
    print("driven")


{"nodes": nodes, "save": save, "restore": restore, "drive": drive}[sys.argv[1]](*sys.argv[2:])
