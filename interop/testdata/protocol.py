"""Does with a session on a server what programs do, right and wrong, and prints
what comes of it. Every server has to give the same."""
import sys

from sessions import config, fails, show, tf, v1

target = sys.argv[1]


def steps():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None], "x")
        v = v1.Variable([1.0, 2.0], name="v", use_resource=True)
        r = v1.Variable([5.0], name="r", use_resource=False)
        y = x + v
        with v1.Session(target, config=config()) as s:
            fails("read before initialization", lambda: s.run(r))
            s.run(v1.global_variables_initializer())
            show("run", s.run(y, {x: [10, 20]}))
            show("fetch twice", s.run([y, y, v], {x: [0, 0]}))
            show("targets only", s.run(v.assign_add([1, 1]).op))
            show("feed a computed tensor", s.run(y * 2, {y: [3, 4]}))
            show("feed and fetch", s.run([x, y], {x: [1, 1]}))
            fails("shapes differ", lambda: s.run(y, {x: [1, 2, 3]}))
            z = y - 1
            show("extended", s.run(z, {x: [1, 1]}))
            fails("placeholder not fed", lambda: s.run(z))
        fails("after close", lambda: s.run(v))


def sharing():
    with tf.Graph().as_default():
        v = v1.Variable(1.0, name="shared", use_resource=True)
        init = v1.global_variables_initializer()
        add = v.assign_add(1.0)
        read = v.read_value()
        a, b = v1.Session(target, config=config()), v1.Session(target, config=config())
        a.run(init)
        b.run(add)
        show("seen by another session", a.run(read))
        c = v1.Session(target, config=config(isolate_session_state=True))
        fails("not seen by an isolated one", lambda: type(c.run(read)))
        c.run(init)
        show("which has its own", (c.run(add), a.run(read)))
        for s in (a, b, c):
            s.close()
        d = v1.Session(target, config=config())
        show("outlives sessions", d.run(read))
        v1.Session.reset(target, config=config())
        fails("session after reset", lambda: d.run(read))
        e = v1.Session(target, config=config())
        fails("variable after reset", lambda: e.run(read))
        e.close()


def devices():
    s = v1.Session(target, config=config())
    for d in s.list_devices():
        show("device", (d.name, d.device_type))
    s.close()


def placement():
    with tf.Graph().as_default():
        with tf.device("/job:nobody"):
            a = v1.constant(1.0, name="a")
        s = v1.Session(target, config=config())
        fails("device that is not there", lambda: s.run(a), op=False)
        soft = v1.Session(target, config=config(allow_soft_placement=True))
        fails("not even softly", lambda: soft.run(a), op=False)
    with tf.Graph().as_default():
        with tf.device("/device:GPU:7"):
            b = v1.constant(1.0, name="b")
        show("soft placement", v1.Session(target, config=config(allow_soft_placement=True)).run(b))


def threads():
    with tf.Graph().as_default():
        a = v1.constant(1.0)
        fails("session threads", lambda: v1.Session(target, config=config(use_per_session_threads=True)).run(a))


def metadata():
    with tf.Graph().as_default():
        a = v1.constant([1.0], name="a")
        b = tf.add(a, 1.0, name="b")
        with v1.Session(target, config=config()) as s:
            m = v1.RunMetadata()
            o = v1.RunOptions(output_partition_graphs=True)
            show("with options", s.run(b, options=o, run_metadata=m))
            show("partitions", len(m.partition_graphs) > 0)


for part in (steps, sharing, devices, placement, threads, metadata):
    part()
