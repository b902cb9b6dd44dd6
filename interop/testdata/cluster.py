"""Does with sessions on clusters of two tasks, ps and worker, what programs do
beyond plain steps, and prints what comes of it: partial runs, callables, traces,
containers, errors, time limits, closing, many sessions at once, large tensors.

Usage: cluster.py MEGABYTES TARGET...
A line "--" ends what is printed of each cluster."""
import sys
import threading
import time

import numpy as np

from sessions import config, fails, show, tf, v1

megabytes = int(sys.argv[1])
PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"


def on(device, f):
    with tf.device(device):
        return f()


def partial_runs():
    with tf.Graph().as_default(), v1.Session(target, config=config()) as s:
        a, b, c = (v1.placeholder(tf.float32, [], n) for n in "abc")
        add = on(PS, lambda: tf.add(a, b, name="add"))
        mul = on(WORKER, lambda: tf.multiply(add, c, name="mul"))
        for _ in range(2):
            h = s.partial_run_setup([add, mul], [a, b, c])
            show("first piece", s.partial_run(h, add, {a: 1, b: 2}))
            show("last piece", s.partial_run(h, mul, {c: 17}))
        h = s.partial_run_setup([add.op, mul], [a, b, c])
        fails("not computable yet", lambda: s.partial_run(h, mul, {a: 1}))
        h = s.partial_run_setup([add], [a, b])
        fails("not set up", lambda: s.partial_run(h, mul, {a: 1}))
        show("fed", s.partial_run(h, [], {a: 1}))
        fails("fed twice", lambda: s.partial_run(h, add, {a: 1}))
        fails("no such run", lambda: s.partial_run("nothing", add, {a: 1}))


def callables():
    with tf.Graph().as_default(), v1.Session(target, config=config()) as s:
        x = v1.placeholder(tf.float32, [None], "x")
        v = on(PS, lambda: v1.Variable([1.0], name="v", use_resource=True))
        add = on(WORKER, lambda: x * v)
        s.run(v.initializer)
        f = s.make_callable([add, v], [x])
        show("callable", [f([k]) for k in range(3)])
        show("target", s.make_callable(v.assign_add([1]).op)())
        show("fetch", s.make_callable(v.read_value())())
        o = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
        m = v1.RunMetadata()
        show("with options", s.make_callable(add, [x], accept_options=True)([4], options=o, run_metadata=m))
        show("traced", len(m.step_stats.dev_stats) > 0)
        g = s._make_callable_from_options(callable_options([x.name], [add.name], [v.op.name]))
        show("from options", g(np.array([5], np.float32)))


def callable_options(feeds, fetches, targets):
    from tensorflow.core.protobuf import config_pb2

    o = config_pb2.CallableOptions()
    o.feed.extend(feeds)
    o.fetch.extend(fetches)
    o.target.extend(targets)
    return o


def metadata():
    with tf.Graph().as_default(), v1.Session(target, config=config()) as s:
        x = v1.placeholder(tf.float32, [2, 2], "x")
        square = on(PS, lambda: tf.square(x, name="square"))
        fourth = on(WORKER, lambda: tf.square(square, name="fourth"))
        o = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE, output_partition_graphs=True)
        m = v1.RunMetadata()
        show("traced", s.run(fourth, {x: [[1, 1], [0, 1]]}, options=o, run_metadata=m).tolist())
        where = {n.node_name: d.device for d in m.step_stats.dev_stats for n in d.node_stats}
        show("where nodes ran", sorted((n, d) for n, d in where.items() if n in ("square", "fourth")))
        times = [n for d in m.step_stats.dev_stats for n in d.node_stats if n.node_name in ("square", "fourth")]
        show("times", [n.all_start_micros > 0 and n.all_end_rel_micros >= 0 for n in times])
        parts = sorted(sorted({n.op for n in g.node}) for g in m.partition_graphs)
        show("operations of the parts", parts)


def devices():
    s = v1.Session(target, config=config())
    for d in sorted(s.list_devices(), key=lambda d: d.name):
        show("device", (d.name, d.device_type, d.incarnation != 0))
    s.close()


def containers():
    def variable(container):
        with v1.container(container), tf.device(PS):
            return v1.get_variable("in_" + container, [], initializer=tf.zeros_initializer(), use_resource=True)

    with tf.Graph().as_default():
        a, b = variable("one"), variable("two")
        init = v1.global_variables_initializer()
        s = v1.Session(target, config=config())
        s.run(init)
        v1.Session.reset(target, ["one"], config=config())
        fails("a session that was there", lambda: s.run(b))
        t = v1.Session(target, config=config())
        fails("cleared", lambda: t.run(a), words=False)  # of the ps, or of the worker that waits for it
        show("kept", t.run(b))
        t.close()


def errors():
    with tf.Graph().as_default(), v1.Session(target, config=config()) as s:
        x = v1.placeholder(tf.float32, [None], "x")
        i = v1.placeholder(tf.int32, [None], "i")
        far = on(PS, lambda: tf.gather(x, i, name="far"))
        near = on(WORKER, lambda: tf.reshape(far, [2, 2], name="near"))
        fails("an index on the other task", lambda: s.run(near, {x: [1, 2], i: [0, 5]}), words=False)
        fails("a shape on the own task", lambda: s.run(near, {x: [1, 2], i: [0, 1]}))
        fails("a feed is missing", lambda: s.run(near, {x: [1, 2]}), words=False)
        fails("a name that is not there", lambda: s.run("nothing:0"))
        show("still there", s.run(near, {x: [1, 2], i: [0, 1, 0, 1]}).tolist())


def waiting():
    """Returns a step that waits on the ps for what never comes, and a counter of
    how often it has begun to."""
    with tf.device(PS):
        q = tf.queue.FIFOQueue(2, [tf.float32], shapes=[[]], name="q")
        count = v1.get_variable("count", [], tf.int32, tf.zeros_initializer(), use_resource=True)
        with tf.control_dependencies([count.assign_add(1)]):
            value = q.dequeue()
    return on(WORKER, lambda: tf.identity(value, name="taken")), count


def limits():
    with tf.Graph().as_default():
        taken, count = waiting()
        short = config()
        short.operation_timeout_in_ms = 2000
        with v1.Session(target, config=config()) as s:
            s.run(count.initializer)
            o = v1.RunOptions(timeout_in_ms=300)
            fails("the step's limit", lambda: s.run(taken, options=o), words=False)
            show("afterwards", s.run(tf.constant(3.0)))
        with v1.Session(target, config=short) as s:
            fails("the session's limit", lambda: s.run(taken), words=False)


def closing():
    with tf.Graph().as_default():
        taken, count = waiting()
        s, other = v1.Session(target, config=config()), v1.Session(target, config=config())
        other.run(count.initializer)
        t = threading.Thread(target=fails, args=("closed meanwhile", lambda: s.run(taken)), kwargs={"op": False, "words": False})
        t.start()
        while other.run(count) == 0:
            time.sleep(0.01)
        s.close()
        t.join()
        other.close()


def many():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [], "x")
        y = on(WORKER, lambda: on(PS, lambda: x * 2) + 1)
        found = {}

        def one(k):
            with v1.Session(target, graph=x.graph, config=config()) as s:
                found[k] = [float(s.run(y, {x: k + n})) for n in range(5)]

        threads = [threading.Thread(target=one, args=(k,)) for k in range(20)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        show("20 sessions at once", all(found.get(k) == [2 * (k + n) + 1 for n in range(5)] for k in range(20)))


def large():
    n = megabytes << 18  # float32
    with tf.Graph().as_default(), v1.Session(target, config=config()) as s:
        x = v1.placeholder(tf.float32, [None], "x")
        back = on(WORKER, lambda: on(PS, lambda: tf.identity(x)) + 1.0)
        got = s.run(back, {x: np.arange(n, dtype=np.float32) % 1000})
        show("%d MB there and back" % megabytes, (got.shape, bool((got == np.arange(n) % 1000 + 1).all())))


for target in sys.argv[2:]:
    for part in (partial_runs, callables, metadata, devices, containers, errors, limits, closing, many, large):
        part()
    print("--", flush=True)
