"""TensorFlow's side of the workloads that need tf-keras beside TensorFlow: recurrent networks, beam search, feature columns.

Part of tf_bench.py, which passes itself on as b. tf-keras==2.21.0 has the cells and layers of TensorFlow 1.
"""
import os
import tempfile


def sequences(b):
    import numpy as np
    B, T, IN, H = 32, 200, 64, 128
    xv = b.uni(1008, [B, T, IN])
    n = b.ids(1009, [B], T // 2) + T // 2 + 1
    for lengths in (None, n):
        for name in ("lstm", "gru", "block"):
            metric = name + (".lengths." if lengths is not None else ".")
            tf = b.fresh()
            x = tf.placeholder(tf.float32, [B, T, IN])
            ys = network(b, tf, name, x, H, None if lengths is None else tf.constant(lengths))
            loss = tf.reduce_mean(tf.square(ys))
            step = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
            with tf.Session(config=b.config()) as s:
                s.run(tf.global_variables_initializer())
                forward = b.call(s, [x], [loss])
                b.check(metric + "loss", float(forward(xv)[0]))
                b.emit(metric + "forward_ms", b.best(lambda: forward(xv), b.steps(5)) * 1e3, "ms")
            b.train(metric, [x], loss, step, [(np.ascontiguousarray(xv),)], 3, 5)


def numbered(b):
    """Gives matrices the workloads' weights 1, 2, 3 and so on, vectors zeros."""
    import math
    k = [0]

    def init(shape, dtype=None, partition_info=None):
        import numpy as np
        shape = [int(n) for n in shape]
        if len(shape) != 2:
            return b.tf1().constant(np.zeros(shape, np.float32))
        k[0] += 1
        return b.tf1().constant(b.uni(k[0], shape, math.sqrt(6.0 / (shape[0] + shape[1]))))
    return init


def network(b, tf, name, x, units, lengths):
    init = numbered(b)
    if name == "lstm":
        cell = tf.nn.rnn_cell.LSTMCell(units, initializer=init)
    elif name == "gru":
        cell = tf.nn.rnn_cell.GRUCell(units, kernel_initializer=init)
    else:
        return fused(tf, x, units, lengths, init)
    return tf.nn.dynamic_rnn(cell, x, sequence_length=lengths, dtype=tf.float32)[0]


def fused(tf, x, units, lengths, init):
    """TensorFlow 1's LSTMBlockFusedCell, which no package has any more, around its operation."""
    t = x.shape[1].value
    w = tf.get_variable("kernel", [x.shape[2].value + units, 4 * units], initializer=init)
    c = tf.get_variable("bias", [4 * units], initializer=tf.zeros_initializer())
    none, zero = tf.zeros([units]), tf.zeros([x.shape[0].value, units])
    most = tf.cast(t if lengths is None else tf.reduce_max(lengths), tf.int64)
    h = tf.raw_ops.BlockLSTM(seq_len_max=most, x=tf.transpose(x, [1, 0, 2]), cs_prev=zero, h_prev=zero, w=w, wci=none, wcf=none, wco=none, b=c,
                             forget_bias=1.0, cell_clip=-1.0, use_peephole=False).h
    if lengths is not None:
        h *= tf.expand_dims(tf.transpose(tf.sequence_mask(lengths, t, dtype=tf.float32)), 2)
    return tf.transpose(h, [1, 0, 2])


def beam_search(b):
    """Runs the graph that Gorge's side has left."""
    import numpy as np
    tf = b.fresh()
    with open(os.path.join(tempfile.gettempdir(), "gorge-bench-beam.pb"), "rb") as f:
        tf.import_graph_def(tf.GraphDef.FromString(f.read()), name="")
    g = tf.get_default_graph()
    feeds = [g.get_tensor_by_name("starts:0"), g.get_tensor_by_name("state:0")]
    values = [b.ids(1010, [8], 2000), b.uni(1011, [8, 256])]
    out = [g.get_tensor_by_name("ids:0"), g.get_tensor_by_name("scores:0")]
    with tf.Session(config=b.config()) as s:
        s.run(g.get_operation_by_name("init"))
        search = b.call(s, feeds, out)
        ids, scores = search(*values)
        b.check("ids", float(np.sum(ids)))
        b.check("score", float(scores.flat[0]))
        b.emit("search_ms", b.best(lambda: search(*values), b.steps(10)) * 1e3, "ms")


JOBS = ["cook", "clerk", "nurse", "pilot", "smith", "tailor", "teacher", "farmer"]
AGES = [18, 25, 30, 35, 40, 45, 50, 55, 60, 65]


def people(b, n):
    import tensorflow as real

    def ints(v):
        return real.train.Feature(int64_list=real.train.Int64List(value=v))

    def floats(v):
        return real.train.Feature(float_list=real.train.FloatList(value=v))

    def text(v):
        return real.train.Feature(bytes_list=real.train.BytesList(value=[w.encode() for w in v]))
    age, hours, scores = b.ids(1012, [n], 80), b.ids(1013, [n], 60), b.uni(1014, [n, 4])
    job, city, user = b.ids(1015, [n], len(JOBS)), b.ids(1016, [n], 3000), b.ids(1017, [n], 1000)
    many, words = b.ids(1018, [n], 5), b.ids(1019, [n, 4], 5000)
    return [real.train.Example(features=real.train.Features(feature={
        "age": floats([age[i]]), "hours": floats([hours[i]]), "scores": floats(scores[i]), "job": text([JOBS[job[i]]]), "city": text(["city%d" % city[i]]),
        "user": ints([user[i]]), "words": text(["word%d" % w for w in words[i][:many[i]]])})).SerializeToString() for i in range(n)]


def wide(tf, serialized):
    fc = tf.feature_column
    age = fc.bucketized_column(fc.numeric_column("age"), AGES)
    job = fc.categorical_column_with_vocabulary_list("job", JOBS)
    columns = [age, job, fc.numeric_column("hours"), fc.categorical_column_with_hash_bucket("city", 1000), fc.categorical_column_with_hash_bucket("words", 2000),
               fc.categorical_column_with_identity("user", 1000), fc.crossed_column([age, job], 5000), fc.crossed_column(["city", job], 10000)]
    return fc.linear_model(tf.parse_example(serialized, fc.make_parse_example_spec(columns)), columns)


def deep(tf, serialized):
    fc = tf.feature_column
    columns = [fc.numeric_column("age"), fc.numeric_column("hours"), fc.numeric_column("scores", [4]), fc.bucketized_column(fc.numeric_column("age"), AGES),
               fc.indicator_column(fc.categorical_column_with_vocabulary_list("job", JOBS)),
               fc.embedding_column(fc.categorical_column_with_hash_bucket("city", 1000), 16), fc.embedding_column(fc.categorical_column_with_identity("user", 1000), 16),
               fc.embedding_column(fc.categorical_column_with_hash_bucket("words", 2000), 16)]
    h = tf.layers.dense(fc.input_layer(tf.parse_example(serialized, fc.make_parse_example_spec(columns)), columns), 64, tf.nn.relu)
    return tf.layers.dense(h, 1)


def feature_columns(b):
    import numpy as np
    n = 512
    records = np.array(people(b, n), dtype=object)
    for name, model in (("wide.", wide), ("deep.", deep)):
        tf = b.fresh()
        serialized = tf.placeholder(tf.string, [None])
        logits = model(tf, serialized)
        with tf.Session(config=b.config()) as s:
            s.run([tf.global_variables_initializer(), tf.tables_initializer()])
            for i, v in enumerate(sorted(tf.trainable_variables(), key=lambda v: v.op.name)):
                v.load(b.uni(i + 1, v.shape.as_list(), 0.1), s)
            run = b.call(s, [serialized], [logits])
            b.check(name + "logits", float(np.sum(run(records)[0][:, 0].astype(np.float64) * (np.arange(n) % 7))))
            b.emit(name + "examples_per_s", n / b.best(lambda: run(records), b.steps(50)), "ops/s")
