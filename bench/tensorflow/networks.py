"""TensorFlow's side of workloads 28 to 31. Part of tf_bench.py, which passes itself on as b."""
import math

import inputs


def layer_norm(tf, s, x, width):
    mean = tf.reduce_mean(x, 1, keepdims=True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), 1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * s.ones([width]) + s.zeros([width])


def gelu(tf, x):
    return 0.5 * x * (1.0 + tf.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


class Encoder:
    """Rows are the words of all sequences, one after another."""

    def __init__(self, b, s, batch, width, heads, rate=0.0, steps=128, layers=4, words=1000):
        self.b, self.s, self.batch, self.width, self.heads, self.rate = b, s, batch, width, heads, rate
        self.steps, self.layers, self.words, self.drops = steps, layers, words, 0

    def drop(self, x):
        if not self.rate:
            return x
        self.drops += 1
        return self.b.tf1().nn.dropout(x, rate=self.rate, seed=self.drops)

    def attend(self, x, mask):
        tf, size = self.b.tf1(), self.width // self.heads

        def project():
            y = self.b.dense(self.s, x, self.width, self.width)
            return tf.transpose(tf.reshape(y, [self.batch, self.steps, self.heads, size]), [0, 2, 1, 3])
        q, k, v = project(), project(), project()
        shares = self.drop(tf.nn.softmax(tf.matmul(q, k, adjoint_b=True) * (1 / math.sqrt(size)) + mask))
        y = tf.reshape(tf.transpose(tf.matmul(shares, v), [0, 2, 1, 3]), [self.batch * self.steps, self.width])
        return self.drop(self.b.dense(self.s, y, self.width, self.width))

    def encode(self, words, mask):
        tf, s, d = self.b.tf1(), self.s, self.width
        e, position = s.weight([self.words, d]), s.weight([self.steps, d])
        x = tf.reshape(tf.nn.embedding_lookup(e, words) + position, [self.batch * self.steps, d])
        x = self.drop(layer_norm(tf, s, x, d))
        for _ in range(self.layers):
            x = layer_norm(tf, s, x + self.attend(x, mask), d)
            h = self.b.dense(s, gelu(tf, self.b.dense(s, x, d, 4 * d)), 4 * d, d)
            x = layer_norm(tf, s, x + self.drop(h), d)
        return x


def transformer_train(b):
    batch, width, words = 8, 256, 1000
    batches = inputs.sentence_batches()
    for rate in (0.0, 0.1):
        tf = b.fresh()
        feeds = [tf.placeholder(v.dtype, v.shape) for v in batches[0]]

        def build(words_, mask_, y_):
            s = b.Seeds()
            x = Encoder(b, s, batch, width, 4, rate).encode(words_, mask_)
            loss = b.xent(b.dense(s, x, width, words), y_)
            return loss, tf.train.AdamOptimizer(0.001).minimize(loss)
        loss, step = b.stepped(feeds, build)
        drawn = b.ARGS.jit and rate  # XLA's own numbers
        b.train("" if rate else "plain.", feeds, loss, step, batches, 2 if rate else 0, 5,
                tolerances=dict.fromkeys(("loss_first", "loss_last", "param_delta"), 0.01) if drawn else {})


def normalized(b, s, x, n, updates, epsilon=1e-5):
    """A batch normalization, and the updates of its statistics in training (updates is a list)."""
    tf = b.tf1()
    g, c = s.ones([n]), s.zeros([n])
    mean, variance = b.untrained(s.zeros([n])), b.untrained(s.ones([n]))
    if updates is None:
        return tf.nn.fused_batch_norm(x, g, c, mean, variance, epsilon=epsilon, is_training=False)[0]
    x, bm, bv = tf.nn.fused_batch_norm(x, g, c, epsilon=epsilon, is_training=True)
    updates += [mean.assign_sub((mean - bm) * 0.1), variance.assign_sub((variance - bv) * 0.1)]
    return x


def mobilenet(b, s, x, updates):
    tf = b.tf1()

    def active(x, n):
        return tf.nn.relu6(normalized(b, s, x, n, updates, 1e-3))
    x = active(tf.nn.conv2d(x, s.weight([3, 3, 3, 32]), strides=2, padding="SAME"), 32)
    n = 32
    for out, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + [(1024, 2), (1024, 1)]:
        x = active(tf.nn.depthwise_conv2d_native(x, s.depthwise([3, 3, n, 1]), [1, stride, stride, 1], "SAME"), n)
        x = active(tf.nn.conv2d(x, s.weight([1, 1, n, out]), strides=1, padding="SAME"), out)
        n = out
    return b.dense(s, tf.reduce_mean(x, [1, 2]), 1024, 10)


def mobilenet_train(b):
    tf = b.fresh()
    feeds = [tf.placeholder(tf.float32, [16, 96, 96, 3]), tf.placeholder(tf.int32, [16])]

    def build(x, y):
        updates = []
        loss = b.xent(mobilenet(b, b.Seeds(), x, updates), y)
        return loss, tf.group(tf.train.MomentumOptimizer(0.005, 0.9).minimize(loss), *[u.op for u in updates])
    loss, step = b.stepped(feeds, build)
    b.train("", feeds, loss, step, inputs.coloured_batches(), 2, 1, tolerances={"param_delta": 0.01})


def resnet50(b, x):
    tf, s = b.tf1(), b.Seeds()

    def cb(x, k, n, out, stride):
        return normalized(b, s, tf.nn.conv2d(x, s.weight([k, k, n, out]), strides=stride, padding="SAME"), out, None)
    x = tf.nn.max_pool(tf.nn.relu(cb(x, 7, 3, 64, 2)), [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
    n = 64
    for i, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << i
        for block in range(blocks):
            stride = 2 if i and not block else 1
            h = tf.nn.relu(cb(tf.nn.relu(cb(x, 1, n, width, 1)), 3, width, width, stride))
            h = cb(h, 1, width, 4 * width, 1)
            if not block:
                x = cb(x, 1, n, 4 * width, stride)
            x, n = tf.nn.relu(h + x), 4 * width
    return b.dense(s, tf.reduce_mean(x, [1, 2]), 2048, 1000)


def inference(b):
    for n in (1, 32):
        for name in ("resnet50", "encoder"):
            if not b.wanted("%s_b%d" % (name, n)):
                continue
            tf = b.fresh()
            if name == "resnet50":
                values = [b.pos(1001, [n, 224, 224, 3])]
                build = lambda x: resnet50(b, x)
            else:
                values = [v[0] for v in inputs.sentences(1, n)]
                build = lambda w, mask: Encoder(b, b.Seeds(), n, 512, 8).encode(w, mask)
            feeds = [tf.placeholder(v.dtype, v.shape) for v in values]
            y = b.compiled(build)(*feeds)
            with tf.Session(config=b.config()) as sess:
                b.init_all(sess)
                if b.ARGS.trace:
                    b.trace_step("%s_b%d." % (name, n), sess, dict(zip(feeds, values)), [y])
                    continue
                answer = b.call(sess, feeds, [y])
                b.answer_times(name, lambda *values: answer(*values)[0], values, n)


def wide_deep_train(b, batch=1024, fields=16, width=32, rows=1000000):
    """XLA has no sparse updates, so that with --jit it compiles what lies between gathering rows and updating them."""
    import numpy as np
    tf = b.fresh()
    batches = inputs.wide_deep_batches()
    feeds = [tf.placeholder(v.dtype, v.shape) for v in batches[0]]
    ids, x, y = feeds
    table, wide = b.var(b.uni(101, [rows, width], 0.05)), b.var(np.zeros([rows], np.float32))
    s, dense = b.Seeds(), []
    for n_in, n_out in ((fields * width + 13, 256), (256, 128), (128, 1)):
        dense += [s.weight([n_in, n_out]), s.zeros([n_out])]

    def gradients(e, w, x, y):
        h = tf.concat([tf.reshape(e, [batch, fields * width]), x], 1)
        for i in (0, 2, 4):
            h = tf.nn.bias_add(tf.matmul(h, dense[i]), dense[i + 1])
            h = tf.nn.relu(h) if i < 4 else h
        z = tf.reshape(h, [batch]) + tf.reduce_sum(w, 1)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=z))
        return [loss] + tf.gradients(loss, [e, w] + dense)
    loss, de, dw, *rest = b.compiled(gradients)(tf.nn.embedding_lookup(table, ids), tf.nn.embedding_lookup(wide, ids), x, y)
    flat = tf.reshape(ids, [-1])
    pairs = [(tf.IndexedSlices(tf.reshape(de, [-1, width]), flat), table), (tf.IndexedSlices(tf.reshape(dw, [-1]), flat), wide)] + list(zip(rest, dense))
    b.train("", feeds, loss, tf.train.AdagradOptimizer(0.5).apply_gradients(pairs), batches, 10, 10)
