"""TensorFlow's side of workload 32. Part of tf_bench.py, which passes itself on as b."""
import numpy as np

from inputs import ids, pos, uni

M, HUNDRED, LINES, WORDS = 1 << 20, 100000, 20000, 10
ALPHABET = np.frombuffer(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", np.uint8)


def lettered(seed, n, least, span, letters):
    """n words of least to least + span - 1 of the first letters of the alphabet."""
    lengths, choice = ids(seed, [n], span) + least, ALPHABET[ids(seed + 1, [n, 16], letters)]
    return [choice[i, :lengths[i]].tobytes() for i in range(n)]


def strings(seed, n=HUNDRED):
    """n words of 8 to 16 letters and digits."""
    return np.array(lettered(seed, n, 8, 9, len(ALPHABET)), object)


def lines():
    """Lines of ten words each: the fourth ends in a comma, the fifth and sixth are an address, the eighth is a number, and the last begins with a capital."""
    w, numbers = lettered(11, WORDS * LINES, 2, 8, 26), ids(13, [LINES], HUNDRED)
    out = []
    for i in range(LINES):
        v = w[WORDS * i:WORDS * (i + 1)]
        out.append(b"%s %s %s %s, %s@%s.com %s %d %s X%s" % (*v[:7], numbers[i], *v[8:]))
    return np.array(out, object)


def op(name, out, *inputs, **attrs):
    """What a row has behind its name: the inputs and what makes an op of them."""
    def build(tf, *args):
        from tensorflow.python.framework import op_def_registry
        names = ["condition"] if name == "Where" else [a.name for a in op_def_registry.get(name).input_arg]
        given = {names[0]: list(args)} if name == "StringJoin" else dict(zip(names, args))
        y = getattr(tf.raw_ops, name)(**given, **attrs)
        return y if hasattr(y, "op") else y[out]
    return [np.asarray(x) for x in inputs], build


def i32(v):
    return np.asarray(v, np.int32)


def f32(v):
    return np.asarray(v, np.float32)


def rows():
    """name, (inputs, build), work, and "GFLOP/s" if that is what work counts."""
    x1, grid = uni(1, [M]), uni(1, [1024, 1024])
    yield "sort_1M", op("TopKV2", 0, x1, i32(M)), M
    yield "argsort_1M", op("TopKV2", 1, x1, i32(M)), M
    yield "argsort_i32_1M", op("TopKV2", 1, ids(1, [M], 1 << 20), i32(M)), M
    yield "sort_rows_1024x1000", op("TopKV2", 0, uni(1, [1024, 1000]), i32(1000)), 1024 * 1000
    yield "in_top_k_5_1024x1000", op("InTopKV2", 0, uni(1, [1024, 1000]), ids(2, [1024], 1000), i32(5)), 1024 * 1000
    wide = ids(2, [M], HUNDRED).astype(np.int64)
    yield "unique_i64_1M_of_100000", op("Unique", 1, wide), M
    yield "unique_counts_i64_1M_of_100000", op("UniqueWithCounts", 2, wide), M
    yield "unique_i32_8192_of_1000", op("Unique", 1, ids(2, [8192], 1000)), 8192
    yield "unique_strings_100K_of_20000", op("Unique", 1, strings(1, 20000)[ids(2, [HUNDRED], 20000)]), HUNDRED
    yield from segments()
    yield from string_rows()
    yield from depthwise()
    yield from indexing()
    yield "cumsum_1M", op("Cumsum", 0, x1, i32(0)), M
    yield "cumsum_axis0_1024x1024", op("Cumsum", 0, grid, i32(0)), M
    yield "cumsum_axis1_1024x1024", op("Cumsum", 0, grid, i32(1)), M
    yield "cumprod_axis1_1024x1024", op("Cumprod", 0, grid, i32(1)), M
    yield "bincount_1M_into_1000", op("Bincount", 0, ids(1, [M], 1000), i32(1000), f32([])), M
    yield "bincount_weighted_1M_into_1000", op("Bincount", 0, ids(1, [M], 1000), i32(1000), uni(2, [M])), M
    yield "searchsorted_100K_of_100K", op("LowerBound", 0, np.sort(uni(1, [1, HUNDRED])), uni(2, [1, HUNDRED])), HUNDRED
    yield "reverse_axis1_1024x1024", op("ReverseV2", 0, grid, i32([1])), M
    m = uni(1, [64, 256, 256])
    yield "matrix_diag_64x256", op("MatrixDiagV3", 0, uni(1, [64, 256]), i32(0), i32(-1), i32(-1), f32(0)), m.size
    yield "matrix_diag_part_64x256x256", op("MatrixDiagPartV3", 0, m, i32(0), f32(0)), 64 * 256
    yield "matrix_band_part_64x256x256", op("MatrixBandPart", 0, m, np.int64(-1), np.int64(0)), m.size
    yield from mathematics()


def segments():
    n, width, into = 65536, 64, 4096
    x, near, spread, size = uni(1, [n, width]), np.sort(ids(2, [n], into)), ids(2, [n], into), n * width
    for name in ("Sum", "Mean", "Max"):
        yield "segment_%s_65536x64_into_4096" % name.lower(), op("Segment" + name, 0, x, near), size
    for name in ("Sum", "Max"):
        yield "unsorted_segment_%s_65536x64_into_4096" % name.lower(), op("UnsortedSegment" + name, 0, x, spread, i32(into)), size
    table, source = uni(1, [HUNDRED, width]), ids(3, [n], HUNDRED)
    for name in ("Sum", "Mean", "SqrtN"):
        yield "sparse_segment_%s_65536x64_into_4096" % name.lower(), op("SparseSegment" + name, 0, table, source, near), size
    yield "sparse_segment_mean_grad_4096x64_into_100000", op("SparseSegmentMeanGrad", 0, uni(1, [into, width]), source, near, i32(HUNDRED)), size


def string_rows():
    w, text = strings(1), lines()
    numbers = np.array([b"%d.%05d" % divmod(v, HUNDRED) for v in ids(5, [HUNDRED], 100000000)], object)
    for name, case in (("hash_bucket_fast", op("StringToHashBucketFast", 0, w, num_buckets=1000)), ("hash_bucket_strong", op("StringToHashBucketStrong", 0, w, num_buckets=1000, key=[12, 34])),
                       ("as_string_f32", op("AsString", 0, uni(1, [HUNDRED]))), ("as_string_i32", op("AsString", 0, ids(1, [HUNDRED], 1000000))),
                       ("string_to_number_f32", op("StringToNumber", 0, numbers)), ("string_join", op("StringJoin", 0, w, strings(3), separator="-")),
                       ("string_lower", op("StringLower", 0, w)), ("string_length", op("StringLength", 0, w)), ("substr", op("Substr", 0, w, i32(2), i32(5))),
                       ("string_equal", op("Equal", 0, w, strings(1)))):
        yield name + "_100K", case, HUNDRED
    yield "reduce_join_100Kx10", op("ReduceJoin", 0, w.reshape(-1, 10), i32([1]), separator=" "), HUNDRED
    yield "string_split_20Kx10", op("StringSplitV2", 1, text, np.array(b"", object)), WORDS * LINES
    yield "string_split_space_20Kx10", op("StringSplitV2", 1, text, np.array(b" ", object)), WORDS * LINES
    yield "string_strip_20K", op("StringStrip", 0, text), LINES
    yield "unicode_decode_20K", op("UnicodeDecode", 1, text, input_encoding="UTF-8"), LINES
    for name, pattern, by in (("letters", "[^a-z0-9 ]", ""), ("digits", r"\d+", "#"), ("address", r"(\w+)@(\w+)\.com", r"\2 \1"), ("anchored", r"^\w+", "X"), ("literal", "@", " at ")):
        yield "regex_replace_%s_20K" % name, op("StaticRegexReplace", 0, text, pattern=pattern, rewrite=by), LINES
    yield "regex_replace_fed_20K", op("RegexReplace", 0, text, np.array(b"[^a-z0-9 ]", object), np.array(b"", object)), LINES
    yield "regex_match_20K", op("StaticRegexFullMatch", 0, text, pattern=r".*\w+@\w+\.com.*"), LINES
    yield "regex_match_words_20K", op("RegexFullMatch", 0, text, np.array(br"[a-z, ]+@[a-z]+\.(com|org) .*\d+ .*", object)), LINES


def depthwise():
    n, size, c = 8, 56, 128
    for stride in (1, 2):
        small = size // stride
        name, work, where = "depthwise_3x3s%d_8x56x56x128" % stride, 2.0 * 9 * n * small * small * c, dict(strides=[1, stride, stride, 1], padding="SAME")
        x, w, dy = uni(1, [n, size, size, c]), uni(2, [3, 3, c, 1]), uni(3, [n, small, small, c])
        yield name + ".fwd", op("DepthwiseConv2dNative", 0, x, w, **where), work, "GFLOP/s"
        yield name + ".bwd_filter", op("DepthwiseConv2dNativeBackpropFilter", 0, x, i32([3, 3, c, 1]), dy, **where), work, "GFLOP/s"
        yield name + ".bwd_input", op("DepthwiseConv2dNativeBackpropInput", 0, i32([n, size, size, c]), w, dy, **where), work, "GFLOP/s"
    yield ("grouped_3x3_8x56x56x128_of_16", op("Conv2D", 0, uni(1, [n, size, size, c]), uni(2, [3, 3, 16, c]), strides=[1, 1, 1, 1], padding="SAME"), 2.0 * 9 * n * size * size * c * 16, "GFLOP/s")


def indexing():
    n, pairs, mask = 65536, ids(2, [65536, 2], 1024), ids(3, [M], 2) == 1
    grid, deep = uni(1, [1024, 1024]), uni(1, [1024, 1024, 16])
    yield "one_hot_4096x1000", op("OneHot", 0, ids(1, [4096], 1000), i32(1000), f32(1), f32(0)), 4096 * 1000
    yield "gather_nd_65536_of_1024x1024", op("GatherNd", 0, grid, pairs), n
    yield "gather_nd_65536x16_of_1024x1024x16", op("GatherNd", 0, deep, pairs), n * 16
    yield "scatter_nd_65536_into_1024x1024", op("ScatterNd", 0, pairs, uni(1, [n]), i32([1024, 1024])), n
    yield "scatter_nd_65536x16_into_1024x1024x16", op("ScatterNd", 0, pairs, uni(1, [n, 16]), i32([1024, 1024, 16])), n * 16
    yield "tensor_scatter_add_65536_into_1024x1024", op("TensorScatterAdd", 0, grid, pairs, uni(3, [n])), n
    yield "gather_axis1_1024x256_of_1024x1024", op("GatherV2", 0, grid, ids(2, [256], 1024), i32(1)), 1024 * 256
    yield "gather_batch_1024x256_of_1024x1024", op("GatherV2", 0, grid, ids(2, [1024, 256], 1024), i32(1), batch_dims=1), 1024 * 256
    yield "where_1M", op("Where", 0, mask), M
    yield "boolean_mask_1M", ([uni(1, [M]), mask], lambda tf, x, m: tf.gather(x, tf.squeeze(tf.where(m), [1]))), M
    yield "dynamic_partition_65536x64_4", op("DynamicPartition", 0, uni(1, [n, 64]), ids(2, [n], 4), num_partitions=4), n * 64


def mathematics():
    x, positive = uni(1, [M]), pos(1, [M]) + np.float32(0.5)
    for name in ("Erf", "Sin", "Cos", "Softplus", "Elu", "Expm1", "Atan", "Floor", "Sign"):
        yield name.lower() + "_1M", op(name, 0, x), M
    yield "log1p_1M", op("Log1p", 0, positive), M
    yield "pow_1M", op("Pow", 0, positive, uni(2, [M])), M
    yield "atan2_1M", op("Atan2", 0, x, uni(2, [M])), M
    yield "floor_mod_i32_1M", op("FloorMod", 0, ids(1, [M], 1000), i32(7)), M
    yield "resize_bilinear_8x56x56x64_by_2", op("ResizeBilinear", 0, uni(1, [8, 56, 56, 64]), i32([112, 112]), half_pixel_centers=True), 8 * 112 * 112 * 64


def layer(b, name, inputs, constants, build):
    """What build makes of variables, and its gradients with respect to all of them but the last few, with the optimizer's passes."""
    for back in (False, True):
        row = name + (".train" if back else ".fwd")
        if not b.wanted(row):
            continue
        tf = b.fresh()
        ins = [b.raw_var(a).read_value() for a in inputs]
        y = build(tf, *ins)
        targets = [y.op]
        if back:
            grads = tf.gradients(tf.nn.l2_loss(y), ins[:len(ins) - constants])
            y, targets = grads[0], [d.op for d in grads]
        with tf.Session(config=b.config()) as sess:
            b.init_all(sess)
            b.check_result(row, sess.run(y))
            b.emit(row + ".us", b.best_auto(b.call(sess, [], [], targets)) * 1e6, "us")


def norms(b):
    def build(tf, x, scale, shift):
        mean, variance = tf.nn.moments(x, [1], keepdims=True)
        return tf.nn.batch_normalization(x, mean, variance, shift, scale, 1e-3)
    layer(b, "layer_norm_4096x1024", [uni(1, [4096, 1024]), uni(2, [1024]), uni(3, [1024])], 0, build)


def attention(b):
    n, heads, steps, size = 8, 8, 128, 64
    mask = np.where(np.arange(steps) >= ids(4, [n, 1], steps // 2) + steps // 2, np.float32(-10000), np.float32(0)).reshape(n, 1, 1, steps)

    def build(tf, q, k, v, mask):
        return tf.matmul(tf.nn.softmax(tf.matmul(q, k, adjoint_b=True) * 0.125 + mask), v)
    layer(b, "attention_8x8x128x64", [uni(i, [n, heads, steps, size]) for i in (1, 2, 3)] + [mask], 1, build)


def embeddings(b):
    """How optimizers apply a gradient of rows, most of which come often."""
    count, width, n = 100000, 128, 8192
    for name, arguments in (("GradientDescent", [0.01]), ("Momentum", [0.01, 0.9]), ("Adagrad", [0.1]), ("Adam", [0.001])):
        row = "embedding_" + name.lower().replace("gradientdescent", "sgd")
        if not b.wanted(row):
            continue
        tf = b.fresh()
        v, values, at = b.var(uni(1, [count, width])), b.raw_var(uni(2, [n, width])), b.raw_var(ids(2, [n], 1000) * np.int32(97))
        grad = tf.IndexedSlices(values.read_value(), at.read_value(), tf.constant([count, width]))
        step = getattr(tf.train, name + "Optimizer")(*arguments).apply_gradients([(grad, v)])
        with tf.Session(config=b.config(noopt=True)) as sess:
            b.init_all(sess)
            f = b.call(sess, [], [], [step])
            f()
            b.check_result(row, sess.run(v.read_value()))
            b.emit(row + ".us", b.best_auto(f) * 1e6, "us")


def picture(h, w):
    """Pixels that change slowly from one corner of a cell of 16 to the next, and some noise."""
    cell = 16
    corner, noise = ids(1, [h // cell + 2, w // cell + 2, 3], 240), ids(2, [h, w, 3], 16)
    y, x = np.arange(h), np.arange(w)
    fy, fx = (y % cell)[:, None, None], (x % cell)[None, :, None]

    def at(dy, dx):
        return corner[y // cell + dy][:, x // cell + dx]
    v = (at(0, 0) * (cell - fx) + at(0, 1) * fx) * (cell - fy) + (at(1, 0) * (cell - fx) + at(1, 1) * fx) * fy
    return (v // (cell * cell) + noise).astype(np.uint8)


def jpegs(b):
    """The decoding of what the same program encodes."""
    for name, copies, h, w in (("decode_jpeg_224x224", 5, 224, 224), ("decode_jpeg_768x1024", 1, 768, 1024)):
        if not b.wanted(name):
            continue
        tf = b.fresh()
        with tf.Session(config=b.config(noopt=True)) as sess:
            data = sess.run(tf.io.encode_jpeg(picture(h, w), quality=95))
        b.kernel(name, copies, [np.array(data, object)], lambda tf, x: tf.io.decode_jpeg(x), h * w, "ns/element")


def run(b):
    for name, (inputs, build), work, *unit in rows():
        if b.wanted(name):
            b.kernel(name, 1, inputs, build, work, unit[0] if unit else "ns/element")
    norms(b)
    attention(b)
    embeddings(b)
    jpegs(b)
