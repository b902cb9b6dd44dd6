"""The operations that sweep.py compares: name, inputs, and what makes the operation of variables that hold these."""

import numpy as np
import tensorflow.compat.v1 as tf

R = tf.raw_ops
ALL = {}  # name: inputs, function, and the type that inputs are cast to, if not their own
rng = np.random.RandomState(1)

# Results by chance, and those that are not determined up to signs or order.
BY_CHANCE = {"random_shuffle", "multinomial", "truncated_normal", "random_gamma", "random_poisson", "qr", "svd", "stateless_normal"}


def f(*s, dt="f"):
    """Uniform numbers in [0, 1)."""
    return rng.rand(*s).astype(dt)


def ii(hi, *s, dt="i"):
    return rng.randint(0, hi, s).astype(dt)


def case(name, *inputs, fn, kind=None):
    ALL[name] = [np.asarray(x) for x in inputs], fn, kind


img = f(8, 128, 128, 32)
img3 = f(16, 224, 224, 3)
case("resize_bicubic3", img3, fn=lambda x: R.ResizeBicubic(images=x, size=[320, 320], half_pixel_centers=True))
case("resize_bicubic3_down", img3, fn=lambda x: R.ResizeBicubic(images=x, size=[112, 112], half_pixel_centers=True))
case("resize_bilinear3", img3, fn=lambda x: R.ResizeBilinear(images=x, size=[320, 320], half_pixel_centers=True))
case("resize_bilinear3_down", img3, fn=lambda x: R.ResizeBilinear(images=x, size=[112, 112], half_pixel_centers=True))
case("resize_nearest3", img3, fn=lambda x: R.ResizeNearestNeighbor(images=x, size=[320, 320]))
case("resize_area3", img3, fn=lambda x: R.ResizeArea(images=x, size=[100, 100]))
case("resize_bilinear_grad", img, fn=lambda x: R.ResizeBilinearGrad(grads=x, original_image=tf.zeros([8, 64, 64, 32])))
case(
    "crop_and_resize", img3, np.sort(f(64, 4)), fn=lambda x, b: R.CropAndResize(image=x, boxes=b, box_ind=tf.constant(np.arange(64) % 16, tf.int32), crop_size=[112, 112])
)
case("adjust_contrast", img3, fn=lambda x: R.AdjustContrastv2(images=x, contrast_factor=1.5))
case("adjust_hue", img3, fn=lambda x: R.AdjustHue(images=x, delta=0.1))
case("adjust_saturation", img3, fn=lambda x: R.AdjustSaturation(images=x, scale=1.5))
case("rgb_to_hsv", img3, fn=lambda x: R.RGBToHSV(images=x))
case("hsv_to_rgb", img3, fn=lambda x: R.HSVToRGB(images=x))
case("lrn", img, fn=lambda x: R.LRN(input=x))
case("lrn_grad", img, img, img, fn=lambda x, y, z: R.LRNGrad(input_grads=x, input_image=y, output_image=z))
vol = f(2, 16, 32, 32, 32)
case("max_pool3d", vol, fn=lambda x: R.MaxPool3D(input=x, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID"))
case("avg_pool3d", vol, fn=lambda x: R.AvgPool3D(input=x, ksize=[1, 3, 3, 3, 1], strides=[1, 1, 1, 1, 1], padding="SAME"))
case("conv3d", vol, f(3, 3, 3, 32, 32), fn=lambda x, w: R.Conv3D(input=x, filter=w, strides=[1] * 5, padding="SAME"))
case("conv3d_bwd_filter", vol, vol, fn=lambda x, w: R.Conv3DBackpropFilterV2(input=x, filter_sizes=[3, 3, 3, 32, 32], out_backprop=w, strides=[1] * 5, padding="SAME"))
case(
    "conv3d_bwd_input",
    f(3, 3, 3, 32, 32),
    vol,
    fn=lambda w, y: R.Conv3DBackpropInputV2(input_sizes=[2, 16, 32, 32, 32], filter=w, out_backprop=y, strides=[1] * 5, padding="SAME"),
)
case("dilation2d", img, f(3, 3, 32), fn=lambda x, w: R.Dilation2D(input=x, filter=w, strides=[1] * 4, rates=[1] * 4, padding="SAME"))
case("extract_patches", img, fn=lambda x: R.ExtractImagePatches(images=x, ksizes=[1, 3, 3, 1], strides=[1, 2, 2, 1], rates=[1] * 4, padding="SAME"))
case("max_pool_argmax", img, fn=lambda x: R.MaxPoolWithArgmax(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")[0])
c64 = (f(64, 4096) + 1j * f(64, 4096)).astype("F")
case("fft", c64, fn=lambda x: R.FFT(input=x))
case("rfft", f(64, 4096), fn=lambda x: R.RFFT(input=x, fft_length=[4096]))
case("fft2d", c64.reshape(4, 256, 256), fn=lambda x: R.FFT2D(input=x))
m = f(16, 96, 96)
spd = np.einsum("bij,bkj->bik", m, m) + 96 * np.eye(96, dtype="f")
case("cholesky", spd, fn=lambda x: R.Cholesky(input=x))
case("matrix_inverse", spd, fn=lambda x: R.MatrixInverse(input=x))
case("matrix_solve", spd, m, fn=lambda x, y: R.MatrixSolve(matrix=x, rhs=y))
case("matrix_determinant", spd, fn=lambda x: R.MatrixDeterminant(input=x))
case("triangular_solve", spd, m, fn=lambda x, y: R.MatrixTriangularSolve(matrix=x, rhs=y))
case("qr", m, fn=lambda x: R.Qr(input=x)[0])
case("svd", m[:4], fn=lambda x: R.Svd(input=x)[0])
case("eigh", spd[:4], fn=lambda x: R.SelfAdjointEigV2(input=x)[0])
case("lu", spd, fn=lambda x: R.Lu(input=x)[0])
case("expm_like_bmm_32", f(2048, 32, 32), f(2048, 32, 32), fn=lambda x, y: R.BatchMatMulV2(x=x, y=y))
case("bmm_64_f64", f(256, 64, 64, dt="d"), f(256, 64, 64, dt="d"), fn=lambda x, y: R.BatchMatMulV2(x=x, y=y))
case("einsum", f(32, 128, 64), f(32, 128, 64), fn=lambda x, y: tf.einsum("bij,bkj->bik", x, y))
big = f(2048, 1024)
b3 = f(64, 256, 256)
case("mirror_pad", b3, fn=lambda x: R.MirrorPad(input=x, paddings=[[0, 0], [8, 8], [8, 8]], mode="REFLECT"))
case("space_to_depth", img, fn=lambda x: R.SpaceToDepth(input=x, block_size=2))
case("depth_to_space", img, fn=lambda x: R.DepthToSpace(input=x, block_size=2))
case("space_to_batch", img, fn=lambda x: R.SpaceToBatchND(input=x, block_shape=[2, 2], paddings=[[0, 0], [0, 0]]))
case("strided_slice_2", big, fn=lambda x: x[::2, ::3])
case("strided_slice_rev", big, fn=lambda x: x[::-1, 5:900])
case("strided_slice_grad", f(1024, 342), fn=lambda x: R.StridedSliceGrad(shape=[2048, 1024], begin=[0, 0], end=[2048, 1024], strides=[2, 3], dy=x))
case("slice", b3, fn=lambda x: R.Slice(input=x, begin=[0, 10, 10], size=[64, 200, 200]))
case("split_axis1", big, fn=lambda x: R.Split(axis=1, value=x, num_split=8)[0].op)
case("unpack_axis1", f(1024, 8, 256), fn=lambda x: R.Unpack(value=x, num=8, axis=1)[0].op)
case("pack_axis1", big, big, big, fn=lambda *x: R.Pack(values=list(x), axis=1))
case("clip", big, fn=lambda x: R.ClipByValue(t=x, clip_value_min=0.2, clip_value_max=0.7))
case("l2loss", f(8 * 1024 * 1024), fn=lambda x: R.L2Loss(t=x))
case("addn4", big, big, big, big, fn=lambda *x: R.AddN(inputs=list(x)))
case("bias_add_nchw", f(8, 32, 128, 128), f(32), fn=lambda x, y: R.BiasAdd(value=x, bias=y, data_format="NCHW"))
case("bias_add_grad", f(65536, 64), fn=lambda x: R.BiasAddGrad(out_backprop=x))
case("cumprod_rev", big, fn=lambda x: R.Cumprod(x=x, axis=1, reverse=True, exclusive=True))
case("cum_logsumexp", big[:512], fn=lambda x: R.CumulativeLogsumexp(x=x, axis=1))
case("prod_axis1", big, fn=lambda x: R.Prod(input=x, axis=1))
case("all", big > 0.1, fn=lambda x: R.All(input=x, axis=1))
case("any_axis0", big > 0.9, fn=lambda x: R.Any(input=x, axis=0))
case("argmax_axis0", big, fn=lambda x: R.ArgMax(input=x, dimension=0))
case("argmax_axis1", big, fn=lambda x: R.ArgMax(input=x, dimension=1))
case("max_axis0_i32", ii(1000, 2048, 1024), fn=lambda x: R.Max(input=x, axis=0))
case("sum_i32_axis1", ii(1000, 2048, 1024), fn=lambda x: R.Sum(input=x, axis=1))
case("mean_f64", f(2048, 1024, dt="d"), fn=lambda x: R.Mean(input=x, axis=1))
case("sum_mid", b3, fn=lambda x: R.Sum(input=x, axis=1))
case("logsumexp", big, fn=lambda x: tf.reduce_logsumexp(x, 1))
case("logsoftmax", big, fn=lambda x: R.LogSoftmax(logits=x))
case("softmax_f64", f(2048, 1024, dt="d"), fn=lambda x: R.Softmax(logits=x))
case("softmax_10", f(200000, 10), fn=lambda x: R.Softmax(logits=x))
case("logsoftmax_10", f(200000, 10), fn=lambda x: R.LogSoftmax(logits=x))
case("sparse_xent_10", f(200000, 10), ii(10, 200000), fn=lambda x, y: R.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=y)[0])
case("sparse_xent_1000", f(4096, 1000), ii(1000, 4096), fn=lambda x, y: R.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=y)[0])
case("xent_10", f(200000, 10), f(200000, 10), fn=lambda x, y: R.SoftmaxCrossEntropyWithLogits(features=x, labels=y)[0])
case("topk10", f(1024, 10000), fn=lambda x: R.TopKV2(input=x, k=10)[0])
case("top100", f(100, 100000), fn=lambda x: R.TopKV2(input=x, k=100)[0])
for a, b in [
    ("uint8", "float32"),
    ("float32", "uint8"),
    ("float32", "half"),
    ("half", "float32"),
    ("float32", "bfloat16"),
    ("bfloat16", "float32"),
    ("int32", "float32"),
    ("float32", "int64"),
    ("int64", "int32"),
    ("float64", "int32"),
    ("bool", "float32"),
    ("float32", "bool"),
    ("int32", "int8"),
]:
    x = rng.rand(4 * 1024 * 1024) * 100
    case("cast_%s_%s" % (a, b), x.astype("f"), kind=a, fn=(lambda b: lambda v: tf.cast(v, b))(b))
case("reverse_sequence", b3, ii(256, 64), fn=lambda x, l: R.ReverseSequence(input=x, seq_lengths=l, seq_dim=1))
case("invert_permutation", rng.permutation(1 << 20).astype("i"), fn=lambda x: R.InvertPermutation(x=x))
case("range", f(1), fn=lambda x: R.Range(start=tf.cast(x[0], tf.int32), limit=4000000, delta=1))
case("linspace", f(1), fn=lambda x: R.LinSpace(start=x[0], stop=10.0, num=2000000))
for n in [
    "Digamma",
    "Lgamma",
    "Erfinv",
    "Ndtri",
    "BesselI0e",
    "BesselI1e",
    "Asin",
    "Acos",
    "Acosh",
    "Asinh",
    "Atanh",
    "Sinh",
    "Cosh",
    "Tan",
    "Reciprocal",
    "Rint",
    "Round",
    "Ceil",
    "IsNan",
    "IsFinite",
    "Softsign",
    "Selu",
    "Sigmoid",
    "Tanh",
    "Exp",
    "Log",
    "Rsqrt",
    "Sqrt",
    "Square",
    "Erfc",
    "Inv",
    "BesselI0",
]:

    def mk(n):
        a = {"Softsign": "features", "Selu": "features"}.get(n, "x")
        return lambda x: getattr(R, n)(**{a: x})

    case(n.lower(), f(1 << 20) * 0.9 + (1.1 if n == "Acosh" else 0.05), fn=mk(n))
case("leaky_relu", f(1 << 21) - 0.5, fn=lambda x: R.LeakyRelu(features=x))
case("softplus_grad", f(1 << 21), f(1 << 21) - 0.5, fn=lambda x, y: R.SoftplusGrad(gradients=x, features=y))
case("elu_grad", f(1 << 21), f(1 << 21) - 0.5, fn=lambda x, y: R.EluGrad(gradients=x, outputs=y))
for n in ["Igamma", "Igammac", "Zeta", "Polygamma"]:

    def mk(n):
        return lambda x, y: getattr(R, n)(a=x, x=y) if n != "Zeta" else R.Zeta(x=x + 1.1, q=y + 0.5)

    case(n.lower(), (np.floor(f(1 << 17) * 4) + 1).astype("f"), f(1 << 17) * 3 + 0.1, fn=mk(n))
case("betainc", f(1 << 16) + 0.5, f(1 << 16) + 0.5, f(1 << 16), fn=lambda a, b, x: R.Betainc(a=a, b=b, x=x))
for n in ["Xlogy", "Xdivy", "FloorDiv", "TruncateDiv", "SquaredDifference", "Maximum", "DivNoNan", "NextAfter", "Mod"]:

    def mk(n):
        def g(x, y):
            o = {"NextAfter": dict(x1=x, x2=y)}.get(n, dict(x=x, y=y))
            if n == "TruncateDiv":
                o = dict(x=tf.cast(x * 100, tf.int32), y=tf.cast(y * 10, tf.int32) + 1)
            return getattr(R, n)(**o)

        return g

    case(n.lower(), f(1 << 20) * 10, f(1 << 20) + 0.1, fn=mk(n))
for dt in ["i", "l"]:
    k = {"i": "i32", "l": "i64"}[dt]
    a, b = ii(1000, 1 << 21, dt=dt) + 1, ii(100, 1 << 21, dt=dt) + 1
    for n in ["FloorDiv", "FloorMod", "Mul", "AddV2", "Maximum", "BitwiseXor"]:
        case("%s_%s" % (n.lower(), k), a, b, fn=(lambda n: lambda x, y: getattr(R, n)(x=x, y=y))(n))
cc = (f(1 << 20) + 1j * f(1 << 20)).astype("F")
for n in ["ComplexAbs", "Conj", "Angle", "Real", "Exp", "Log", "Sqrt", "Tanh", "Square", "Reciprocal"]:
    case("c64_" + n.lower(), cc, fn=(lambda n: lambda x: getattr(R, n)(**{"input" if n in ("Conj", "Angle", "Real") else "x": x}))(n))
case("c64_mul", cc, cc, fn=lambda x, y: R.Mul(x=x, y=y))
case("c64_div", cc, cc, fn=lambda x, y: R.Div(x=x, y=y))
case("c64_matmul", c64[:, :512], c64[:, :512], fn=lambda x, y: tf.matmul(x, y, transpose_b=True))
for dt in ["half", "bfloat16"]:
    case(dt + "_add", f(1 << 20), kind=dt, fn=lambda x: x + x)
    case(dt + "_exp", f(1 << 20), kind=dt, fn=lambda x: tf.exp(x))
    case(dt + "_matmul", f(512, 512), kind=dt, fn=lambda x: tf.matmul(x, x))
    case(dt + "_sum", f(2048, 1024), kind=dt, fn=lambda x: tf.reduce_sum(x, 1))
    case(dt + "_softmax", f(2048, 512), kind=dt, fn=lambda x: tf.nn.softmax(x))
    case(dt + "_conv", f(8, 32, 32, 32), f(3, 3, 32, 32), kind=dt, fn=lambda x, y: tf.nn.conv2d(x, y, 1, "SAME"))
    case(dt + "_bias_relu", f(1 << 14, 128), f(128), kind=dt, fn=lambda x, y: tf.nn.relu(tf.nn.bias_add(x, y)))
d = f(1024, 1024, dt="d")
for n in ["Exp", "Log", "Tanh", "Sigmoid", "Erf", "Sin", "Sqrt", "Rsqrt"]:
    case("f64_" + n.lower(), d + 0.1, fn=(lambda n: lambda x: getattr(R, n)(x=x))(n))
case("f64_pow", d + 0.1, d, fn=lambda x, y: R.Pow(x=x, y=y))
case("f64_matmul", d, d, fn=lambda x, y: tf.matmul(x, y))
case("i32_matmul", ii(100, 512, 512), ii(100, 512, 512), fn=lambda x, y: tf.matmul(x, y))
case("f64_add", d, d, fn=lambda x, y: x + y)
case("fake_quant", f(1 << 22), fn=lambda x: R.FakeQuantWithMinMaxArgs(inputs=x))
case("fake_quant_pc", f(1 << 15, 64), f(64) * -1, f(64), fn=lambda x, a, b: R.FakeQuantWithMinMaxVarsPerChannel(inputs=x, min=a, max=b))
case("quantize_v2", f(1 << 22), fn=lambda x: R.QuantizeV2(input=x, min_range=0.0, max_range=1.0, T=tf.quint8)[0])
case("dequantize", f(1 << 22), fn=lambda x: R.Dequantize(input=R.QuantizeV2(input=x, min_range=0.0, max_range=1.0, T=tf.quint8)[0], min_range=0.0, max_range=1.0))
idx = np.unique(rng.randint(0, 1000 * 1000, 50000))
sp = np.stack([idx // 1000, idx % 1000], 1).astype("l")
nv = len(idx)
case("sparse_dense_matmul", sp, f(nv), f(1000, 64), fn=lambda i, v, b: R.SparseTensorDenseMatMul(a_indices=i, a_values=v, a_shape=[1000, 1000], b=b))
case("sparse_reorder", sp[rng.permutation(nv)], f(nv), fn=lambda i, v: R.SparseReorder(input_indices=i, input_values=v, input_shape=[1000, 1000])[0])
case("sparse_reduce_sum", sp, f(nv), fn=lambda i, v: R.SparseReduceSum(input_indices=i, input_values=v, input_shape=[1000, 1000], reduction_axes=[1]))
case("sparse_add", sp, f(nv), fn=lambda i, v: R.SparseAdd(a_indices=i, a_values=v, a_shape=[1000, 1000], b_indices=i, b_values=v, b_shape=[1000, 1000], thresh=0.0)[0])
case("sparse_concat", sp, f(nv), fn=lambda i, v: R.SparseConcat(indices=[i, i], values=[v, v], shapes=[[1000, 1000], [1000, 1000]], concat_dim=1)[0])
case("sparse_to_dense", sp, f(nv), fn=lambda i, v: R.SparseToDense(sparse_indices=i, output_shape=[1000, 1000], sparse_values=v, default_value=0.0))
case("sparse_softmax", sp, f(nv), fn=lambda i, v: R.SparseSoftmax(sp_indices=i, sp_values=v, sp_shape=[1000, 1000]))
case("sparse_fill_empty", sp, f(nv), fn=lambda i, v: R.SparseFillEmptyRows(indices=i, values=v, dense_shape=[1000, 1000], default_value=0.0)[0])
case("sparse_reshape", sp, fn=lambda i: R.SparseReshape(input_indices=i, input_shape=[1000, 1000], new_shape=[500, 2000])[0])
case("sparse_slice", sp, f(nv), fn=lambda i, v: R.SparseSlice(indices=i, values=v, shape=[1000, 1000], start=[100, 100], size=[800, 800])[0])
case("random_shuffle", f(1 << 20), fn=lambda x: R.RandomShuffle(value=x))
case("multinomial", f(1024, 1000), fn=lambda x: R.Multinomial(logits=x, num_samples=10))
case("truncated_normal", f(1), fn=lambda x: R.TruncatedNormal(shape=[1 << 20], dtype=tf.float32))
case("random_gamma", f(100), fn=lambda x: R.RandomGamma(shape=[2000], alpha=x))
case("random_poisson", f(100) * 10, fn=lambda x: R.RandomPoissonV2(shape=[2000], rate=x))
case("stateless_uniform", f(1), fn=lambda x: R.StatelessRandomUniform(shape=[1 << 21], seed=[1, 2]))
case("stateless_normal", f(1), fn=lambda x: R.StatelessRandomNormal(shape=[1 << 21], seed=[1, 2]))
case("nms", np.sort(f(4000, 4)), f(4000), fn=lambda b, s: R.NonMaxSuppressionV3(boxes=b, scores=s, max_output_size=500, iou_threshold=0.5, score_threshold=0.0))
words = ii(60, 320)
case(
    "ctc_loss",
    f(100, 32, 64),
    fn=lambda x: R.CTCLoss(
        inputs=x, labels_indices=np.stack([np.repeat(np.arange(32), 10), np.tile(np.arange(10), 32)], 1), labels_values=words, sequence_length=[100] * 32
    )[0],
)
case("ctc_greedy", f(100, 32, 64), fn=lambda x: R.CTCGreedyDecoder(inputs=x, sequence_length=[100] * 32)[0][0])
case("unravel_index", ii(1 << 20, 1 << 20), fn=lambda x: R.UnravelIndex(indices=x, dims=[1024, 1024]))
case("dynamic_stitch", f(1 << 16, 16), fn=lambda x: R.DynamicStitch(indices=[np.random.RandomState(0).permutation(1 << 16)], data=[x]))
case("tril_band", b3, fn=lambda x: R.MatrixBandPart(input=x, num_lower=3, num_upper=3))
case("set_diag", b3, f(64, 256), fn=lambda x, y: R.MatrixSetDiagV3(input=x, diagonal=y, k=0))
case("cross", f(1 << 20, 3), f(1 << 20, 3), fn=lambda x, y: R.Cross(a=x, b=y))
case(
    "lstm_block",
    f(64, 256),
    f(64, 256),
    f(64, 256),
    f(512, 1024),
    f(1024),
    fn=lambda x, c, h, w, b: R.LSTMBlockCell(x=x, cs_prev=c, h_prev=h, w=w, wci=tf.zeros([256]), wcf=tf.zeros([256]), wco=tf.zeros([256]), b=b)[0],
)
case("batch_norm_infer", img, f(32), fn=lambda x, s: R.FusedBatchNormV3(x=x, scale=s, offset=s, mean=s, variance=s, is_training=False)[0])
case("fused_bn_nchw", f(8, 32, 64, 64), f(32), fn=lambda x, s: R.FusedBatchNormV3(x=x, scale=s, offset=s, mean=[], variance=[], is_training=True, data_format="NCHW")[0])
case("bucketize", f(1 << 20) * 100, fn=lambda x: R.Bucketize(input=x, boundaries=[float(i) for i in range(0, 100, 5)]))
case("histogram", f(1 << 20), fn=lambda x: R.HistogramFixedWidth(values=x, value_range=[0.0, 1.0], nbins=100))
case("where2d", big > 0.5, fn=lambda x: R.Where(condition=x))
case("listdiff", ii(1 << 20, 200000), ii(1 << 20, 200000), fn=lambda x, y: R.ListDiff(x=x, y=y)[0])
case("check_numerics", f(1 << 22), fn=lambda x: R.CheckNumerics(tensor=x, message="x"))
case("tile", f(1024, 256), fn=lambda x: R.Tile(input=x, multiples=[4, 4]))
case("transpose_0213", f(8, 128, 16, 64), fn=lambda x: R.Transpose(x=x, perm=[0, 2, 1, 3]))
case("transpose_nchw", img, fn=lambda x: R.Transpose(x=x, perm=[0, 3, 1, 2]))
case("broadcast_to", f(1, 1024), fn=lambda x: R.BroadcastTo(input=x, shape=[2048, 1024]))
case("add_row", big, f(1024), fn=lambda x, y: x + y)
case("add_col", big, f(2048, 1), fn=lambda x, y: x + y)
case("select_bcast", big > 0.5, big, fn=lambda c, x: R.SelectV2(condition=c, t=x, e=0.0))
case("concat_axis1", big, big, fn=lambda *x: tf.concat(list(x), 1))
case("gather_small_rows", f(100000, 4), ii(100000, 1 << 18), fn=lambda x, i: tf.gather(x, i))
case("reduce_join_like_stringjoin", np.array([b"ab%d" % i for i in range(100000)], object), fn=lambda s: R.StringJoin(inputs=[s, s], separator="-"))
case("as_string", f(200000), fn=lambda x: R.AsString(input=x))
case("conv2d_nchw_like_1x1", f(8, 28, 28, 256), f(1, 1, 256, 256), fn=lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"))
case("conv2d_dilated", f(8, 56, 56, 64), f(3, 3, 64, 64), fn=lambda x, w: tf.nn.conv2d(x, w, 1, "SAME", dilations=2))
case("conv2d_transpose", f(8, 28, 28, 64), f(3, 3, 32, 64), fn=lambda x, w: tf.nn.conv2d_transpose(x, w, [8, 56, 56, 32], 2))
case("conv1d_like", f(32, 1, 1024, 32), f(1, 5, 32, 64), fn=lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"))
case("separable", f(8, 56, 56, 32), f(3, 3, 32, 1), f(1, 1, 32, 64), fn=lambda x, d, p: tf.nn.separable_conv2d(x, d, p, [1] * 4, "SAME"))
# Gradients of images and pools, sizes that are odd, and volumes.
g3 = f(16, 112, 112, 3)
case("rgb_to_gray", img3, fn=lambda x: tf.image.rgb_to_grayscale(x))
case("resize_bilinear3_grad", f(16, 320, 320, 3), img3, fn=lambda g, x: R.ResizeBilinearGrad(grads=g, original_image=x, half_pixel_centers=True))
case("resize_bicubic3_grad", g3, img3[:, :64, :64], fn=lambda g, x: R.ResizeBicubicGrad(grads=g, original_image=x, half_pixel_centers=True))
case("resize_nearest_up2", f(8, 64, 64, 32), fn=lambda x: R.ResizeNearestNeighbor(images=x, size=[128, 128]))
case("resize_nearest_grad", img, fn=lambda g: R.ResizeNearestNeighborGrad(grads=g, size=[64, 64]))
case("resize_bilinear_u8", img3[:4] * 255, kind="uint8", fn=lambda x: R.ResizeBilinear(images=x, size=[160, 160]))
case("resize_nearest_u8", img3[:4] * 255, kind="uint8", fn=lambda x: R.ResizeNearestNeighbor(images=x, size=[160, 160]))
boxes = np.sort(f(64, 4))
ind = ii(8, 64)
case("crop_resize_nearest", img, boxes, ind, fn=lambda x, b, i: R.CropAndResize(image=x, boxes=b, box_ind=i, crop_size=[14, 14], method="nearest"))
case("crop_grad_image", f(64, 14, 14, 32), boxes, ind, fn=lambda g, b, i: R.CropAndResizeGradImage(grads=g, boxes=b, box_ind=i, image_size=[8, 128, 128, 32], T=tf.float32))
case("crop_grad_boxes", f(64, 14, 14, 32), img, boxes, ind, fn=lambda g, x, b, i: R.CropAndResizeGradBoxes(grads=g, image=x, boxes=b, box_ind=i))
case("draw_boxes", img3, np.sort(f(16, 20, 4)), fn=lambda x, b: R.DrawBoundingBoxes(images=x, boxes=b))
for n, keep in [(500, 50), (20000, 300)]:
    corner = f(n, 2) * 10
    some = np.concatenate([corner, corner + f(n, 2)], 1)
    case("nms_v4_%d" % n, some, f(n), fn=(lambda k: lambda b, s: R.NonMaxSuppressionV4(boxes=b, scores=s, max_output_size=k, iou_threshold=0.5, score_threshold=0.1)[0])(keep))
case("nms_combined", np.sort(f(4, 1000, 1, 4)), f(4, 1000, 10), fn=lambda b, s: R.CombinedNonMaxSuppression(boxes=b, scores=s, max_output_size_per_class=20, max_total_size=100, iou_threshold=0.5, score_threshold=0.5)[0])
case("total_variation", img3, fn=lambda x: tf.image.total_variation(x))
case("sobel", img3[:4], fn=lambda x: tf.image.sobel_edges(x))
case("ssim", img3[:4], img3[4:8], fn=lambda x, y: tf.image.ssim(x, y, 1.0))
case("per_image_standard", img3[0], fn=lambda x: tf.image.per_image_standardization(x))
case("rot90_flip", img3, fn=lambda x: tf.image.rot90(tf.image.flip_left_right(x)))
case("flip_left_right", img3, fn=lambda x: R.ReverseV2(tensor=x, axis=[2]))
case("image_transform", img3, fn=lambda x: R.ImageProjectiveTransformV2(images=x, transforms=[[0.9, 0.1, 3.0, -0.1, 0.9, 2.0, 0.0, 0.0]], output_shape=[224, 224], interpolation="BILINEAR"))
case("dilation_grad_input", img, f(3, 3, 32), img, fn=lambda x, w, g: R.Dilation2DBackpropInput(input=x, filter=w, out_backprop=g, strides=[1] * 4, rates=[1] * 4, padding="SAME"))
case("dilation_grad_filter", img, f(3, 3, 32), img, fn=lambda x, w, g: R.Dilation2DBackpropFilter(input=x, filter=w, out_backprop=g, strides=[1] * 4, rates=[1] * 4, padding="SAME"))
odd = f(8, 57, 57, 33)
half = f(8, 29, 29, 33)
three = dict(ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME")
case("max_pool_odd", odd, fn=lambda x: R.MaxPool(input=x, **three))
case("avg_pool_odd", odd, fn=lambda x: R.AvgPool(value=x, **three))
case("max_pool_grad_odd", odd, half, half, fn=lambda x, y, g: R.MaxPoolGrad(orig_input=x, orig_output=y, grad=g, **three))
case("max_pool_grad_real", odd, half, fn=lambda x, g: R.MaxPoolGrad(orig_input=x, orig_output=R.MaxPool(input=x, **three), grad=g, **three))
case("avg_pool_grad_odd", half, fn=lambda g: R.AvgPoolGrad(orig_input_shape=[8, 57, 57, 33], grad=g, **three))
case("avg_pool_global", f(32, 7, 7, 512), fn=lambda x: R.AvgPool(value=x, ksize=[1, 7, 7, 1], strides=[1, 1, 1, 1], padding="VALID"))
case("avg_pool_same3", img, fn=lambda x: R.AvgPool(value=x, ksize=[1, 3, 3, 1], strides=[1] * 4, padding="SAME"))
case("max_pool_same5", odd, fn=lambda x: R.MaxPool(input=x, ksize=[1, 5, 5, 1], strides=[1] * 4, padding="SAME"))
case("max_pool_nchw", f(8, 32, 64, 64), fn=lambda x: tf.nn.max_pool2d(tf.transpose(x, [0, 2, 3, 1]), 2, 2, "SAME"))
case("max_pool_argmax_grad", f(8, 64, 64, 32), img, fn=lambda g, x: R.MaxPoolGradWithArgmax(input=x, grad=g, argmax=R.MaxPoolWithArgmax(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")[1], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"))
v2 = dict(ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding="VALID")
case("max_pool3d_grad", vol, f(2, 8, 16, 16, 32), fn=lambda x, g: R.MaxPool3DGrad(orig_input=x, orig_output=R.MaxPool3D(input=x, **v2), grad=g, **v2))
case("avg_pool3d_grad", f(2, 8, 16, 16, 32), fn=lambda g: R.AvgPool3DGrad(orig_input_shape=[2, 16, 32, 32, 32], grad=g, **v2))
case("max_pool3d_same3", vol, fn=lambda x: R.MaxPool3D(input=x, ksize=[1, 3, 3, 3, 1], strides=[1] * 5, padding="SAME"))
case("fractional_avg_pool", f(4, 64, 64, 16), fn=lambda x: R.FractionalAvgPool(value=x, pooling_ratio=[1.0, 1.44, 1.73, 1.0], deterministic=True, seed=1, seed2=2)[0])
case("fractional_max_pool", f(4, 64, 64, 16), fn=lambda x: R.FractionalMaxPool(value=x, pooling_ratio=[1.0, 1.44, 1.73, 1.0], deterministic=True, seed=1, seed2=2)[0])
case("extract_volume_patches", vol, fn=lambda x: R.ExtractVolumePatches(input=x, ksizes=[1, 3, 3, 3, 1], strides=[1, 2, 2, 2, 1], padding="SAME"))
case("mirror_pad_grad", f(64, 272, 272), fn=lambda x: R.MirrorPadGrad(input=x, paddings=[[0, 0], [8, 8], [8, 8]], mode="REFLECT"))
case("mirror_pad_images", img, fn=lambda x: R.MirrorPad(input=x, paddings=[[0, 0], [1, 1], [1, 1], [0, 0]], mode="SYMMETRIC"))
case("pad_v2_images", img, fn=lambda x: R.PadV2(input=x, paddings=[[0, 0], [3, 3], [3, 3], [0, 0]], constant_values=1.0))
case("batch_to_space", f(32, 64, 64, 32), fn=lambda x: R.BatchToSpaceND(input=x, block_shape=[2, 2], crops=[[0, 0], [0, 0]]))
# Convolutions, norms and products of other sizes.
case("conv2d_stem_224", img3[:4], f(7, 7, 3, 64), fn=lambda x, w: tf.nn.conv2d(x, w, 2, "SAME"))
case("conv2d_rgb3_224", img3[:4], f(3, 3, 3, 32), fn=lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"))
case("conv2d_odd", f(4, 29, 31, 17), f(3, 3, 17, 23), fn=lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"))
case("conv2d_5x5", f(4, 28, 28, 32), f(5, 5, 32, 64), fn=lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"))
case("conv2d_stem_bwd_filter", img3[:4], f(4, 112, 112, 64), fn=lambda x, g: R.Conv2DBackpropFilter(input=x, filter_sizes=[7, 7, 3, 64], out_backprop=g, strides=[1, 2, 2, 1], padding="SAME"))
case("conv2d_bwd_input", f(3, 3, 64, 64), f(4, 56, 56, 64), fn=lambda w, g: R.Conv2DBackpropInput(input_sizes=[4, 56, 56, 64], filter=w, out_backprop=g, strides=[1] * 4, padding="SAME"))
case("conv2d_s2_bwd_input", f(3, 3, 64, 64), f(4, 28, 28, 64), fn=lambda w, g: R.Conv2DBackpropInput(input_sizes=[4, 56, 56, 64], filter=w, out_backprop=g, strides=[1, 2, 2, 1], padding="SAME"))
case("conv3d_rgb", f(2, 16, 56, 56, 3), f(3, 3, 3, 3, 32), fn=lambda x, w: R.Conv3D(input=x, filter=w, strides=[1, 1, 2, 2, 1], padding="SAME"))
case("conv3d_1x1", vol, f(1, 1, 1, 32, 64), fn=lambda x, w: R.Conv3D(input=x, filter=w, strides=[1] * 5, padding="SAME"))
case("depthwise_5x5_s2", f(8, 56, 56, 48), f(5, 5, 48, 1), fn=lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"))
case("depthwise_multi2", f(8, 56, 56, 16), f(3, 3, 16, 2), fn=lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"))
case("depthwise_bwd_filter", f(8, 56, 56, 32), f(8, 56, 56, 32), fn=lambda x, g: R.DepthwiseConv2dNativeBackpropFilter(input=x, filter_sizes=[3, 3, 32, 1], out_backprop=g, strides=[1] * 4, padding="SAME"))
case("depthwise_bwd_input", f(3, 3, 32, 1), f(8, 56, 56, 32), fn=lambda w, g: R.DepthwiseConv2dNativeBackpropInput(input_sizes=[8, 56, 56, 32], filter=w, out_backprop=g, strides=[1] * 4, padding="SAME"))
bn = dict(mean=[], variance=[], is_training=True)
case("fused_bn_odd", odd, f(33), fn=lambda x, s: R.FusedBatchNormV3(x=x, scale=s, offset=s, **bn)[0])
case("fused_bn_nchw_odd", f(8, 33, 57, 57), f(33), fn=lambda x, s: R.FusedBatchNormV3(x=x, scale=s, offset=s, data_format="NCHW", **bn)[0])
case("fused_bn_grad_odd", odd, odd, f(33), fn=lambda g, x, s: R.FusedBatchNormGradV3(y_backprop=g, x=x, scale=s, reserve_space_1=s, reserve_space_2=s, reserve_space_3=[])[0])
case("fused_bn_half", odd, kind="half", fn=lambda x: R.FusedBatchNormV3(x=x, scale=tf.ones([33]), offset=tf.ones([33]), **bn)[0])
case("batch_norm_moments", odd, fn=lambda x: tf.nn.moments(x, [0, 1, 2])[1])
case("layer_norm", f(4096, 512), f(512), fn=lambda x, s: tf.nn.batch_normalization(x, *tf.nn.moments(x, [1], keepdims=True), s, s, 1e-3))
case("bmm_odd", f(64, 33, 47), f(64, 47, 29), fn=lambda x, y: R.BatchMatMulV2(x=x, y=y))
case("bmm_adj", f(64, 47, 33), f(64, 29, 47), fn=lambda x, y: R.BatchMatMulV2(x=x, y=y, adj_x=True, adj_y=True))
case("bmm_vec", f(256, 1, 128), f(256, 128, 128), fn=lambda x, y: R.BatchMatMulV2(x=x, y=y))
case("bmm_bcast", f(64, 32, 128), f(1, 128, 128), fn=lambda x, y: R.BatchMatMulV2(x=x, y=y))
# Numbers of 8 bits.
q = dict(min_range=0.0, max_range=1.0)


def q8(x, t=tf.quint8):
    return R.QuantizeV2(input=x, T=t, **q)[0]


case("quantized_matmul", f(256, 512), f(512, 256), fn=lambda x, y: R.QuantizedMatMul(a=q8(x), b=q8(y), min_a=0.0, max_a=1.0, min_b=0.0, max_b=1.0)[0])
case("quantized_conv", f(4, 28, 28, 32), f(3, 3, 32, 32), fn=lambda x, y: R.QuantizedConv2D(input=q8(x), filter=q8(y), min_input=0.0, max_input=1.0, min_filter=0.0, max_filter=1.0, strides=[1] * 4, padding="SAME")[0])
case("quantized_max_pool", f(8, 56, 56, 32), fn=lambda x: R.QuantizedMaxPool(input=q8(x), min_input=0.0, max_input=1.0, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")[0])
case("quantized_avg_pool", f(8, 56, 56, 32), fn=lambda x: R.QuantizedAvgPool(input=q8(x), min_input=0.0, max_input=1.0, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME")[0])
case("quantized_relu", f(1 << 20), fn=lambda x: R.QuantizedRelu(features=q8(x), min_features=0.0, max_features=1.0)[0])
case("quantized_add", f(1 << 20), fn=lambda x: R.QuantizedAdd(x=q8(x), y=q8(x), min_x=0.0, max_x=1.0, min_y=0.0, max_y=1.0)[0])
case("quantized_bias_add", f(1 << 14, 64), f(64), fn=lambda x, b: R.QuantizedBiasAdd(input=q8(x), bias=q8(b), min_input=0.0, max_input=1.0, min_bias=0.0, max_bias=1.0, out_type=tf.qint32)[0])
case("requantize", f(1 << 14, 64), f(64), fn=lambda x, b: R.Requantize(input=R.QuantizedBiasAdd(input=q8(x), bias=q8(b), min_input=0.0, max_input=1.0, min_bias=0.0, max_bias=1.0, out_type=tf.qint32)[0], input_min=-2.0, input_max=2.0, requested_output_min=0.0, requested_output_max=1.0, out_type=tf.quint8)[0])
case("quantized_concat", f(1 << 12, 128), fn=lambda x: R.QuantizedConcat(concat_dim=1, values=[q8(x), q8(x)], input_mins=[0.0, 0.0], input_maxes=[1.0, 1.0])[0])
case("quantize_scaled", f(1 << 21), fn=lambda x: R.QuantizeV2(input=x, min_range=-1.0, max_range=1.0, T=tf.qint8, mode="SCALED")[0])
case("quantize_first", f(1 << 21), fn=lambda x: R.QuantizeV2(input=x, min_range=-1.0, max_range=1.0, T=tf.quint8, mode="MIN_FIRST")[0])
case("dequantize_scaled", f(1 << 21), fn=lambda x: R.Dequantize(input=R.QuantizeV2(input=x, min_range=-1.0, max_range=1.0, T=tf.qint8, mode="SCALED")[0], min_range=-1.0, max_range=1.0, mode="SCALED"))
case("quantize_dequantize", f(1 << 21), fn=lambda x: R.QuantizeAndDequantizeV3(input=x, input_min=-1.0, input_max=1.0, num_bits=8))
case("fake_quant_vars", f(1 << 21), fn=lambda x: R.FakeQuantWithMinMaxVars(inputs=x, min=0.1, max=0.9))
case("fake_quant_grad", f(1 << 21), f(1 << 21), fn=lambda g, x: R.FakeQuantWithMinMaxVarsGradient(gradients=g, inputs=x, min=0.1, max=0.9)[0])
case("fake_quant_args_grad", f(1 << 21), f(1 << 21), fn=lambda g, x: R.FakeQuantWithMinMaxArgsGradient(gradients=g, inputs=x, min=-0.5, max=0.5))
case("fake_quant_pc_grad", f(1 << 14, 64), f(1 << 14, 64), f(64) * -1, f(64), fn=lambda g, x, a, b: R.FakeQuantWithMinMaxVarsPerChannelGradient(gradients=g, inputs=x, min=a, max=b)[0])
# Transforms and signals.
case("rfft2d", f(16, 256, 256), fn=lambda x: R.RFFT2D(input=x, fft_length=[256, 256]))
case("irfft2d", f(16, 256, 129), kind="complex64", fn=lambda x: R.IRFFT2D(input=x, fft_length=[256, 256]))
case("rfft3d", f(4, 32, 64, 64), fn=lambda x: R.RFFT3D(input=x, fft_length=[32, 64, 64]))
case("irfft3d", f(4, 32, 64, 33), kind="complex64", fn=lambda x: R.IRFFT3D(input=x, fft_length=[32, 64, 64]))
case("irfft", f(64, 2049), kind="complex64", fn=lambda x: R.IRFFT(input=x, fft_length=[4096]))
case("ifft2d", c64.reshape(4, 256, 256), fn=lambda x: R.IFFT2D(input=x))
case("fft3d", c64.reshape(8, 32, 32, 32), fn=lambda x: R.FFT3D(input=x))
case("fft_prime", c64[:, :1009], fn=lambda x: R.FFT(input=x))
case("fft_1000", c64[:, :1000], fn=lambda x: R.FFT(input=x))
case("rfft_1500", f(64, 1500), fn=lambda x: R.RFFT(input=x, fft_length=[1500]))
case("fft_c128", c64[:, :2048], kind="complex128", fn=lambda x: R.FFT(input=x))
case("rfft_f64", f(64, 2048, dt="d"), fn=lambda x: R.RFFT(input=x, fft_length=[2048], Tcomplex=tf.complex128))
case("stft", f(8, 16000), fn=lambda x: tf.abs(tf.signal.stft(x, 400, 160)))
case("frame", f(8, 16000), fn=lambda x: tf.signal.frame(x, 400, 160))
case("overlap_add", f(8, 100, 400), fn=lambda x: tf.signal.overlap_and_add(x, 160))
case("dct", f(256, 512), fn=lambda x: tf.signal.dct(x))
case("audio_spectrogram", f(16000, 1), fn=lambda x: R.AudioSpectrogram(input=x, window_size=400, stride=160))
case("mfcc", f(1, 98, 257), fn=lambda x: R.Mfcc(spectrogram=x, sample_rate=16000))
# Random numbers and chains of dropout.
case("random_uniform", f(1), fn=lambda x: R.RandomUniform(shape=[1 << 21], dtype=tf.float32))
case("random_normal", f(1), fn=lambda x: R.RandomStandardNormal(shape=[1 << 21], dtype=tf.float32))
case("random_uniform_f64", f(1), fn=lambda x: R.RandomUniform(shape=[1 << 20], dtype=tf.float64))
case("random_normal_f64", f(1), fn=lambda x: R.RandomStandardNormal(shape=[1 << 20], dtype=tf.float64))
case("random_uniform_int", f(1), fn=lambda x: R.RandomUniformInt(shape=[1 << 21], minval=0, maxval=1000))
case("random_uniform_half", f(1), fn=lambda x: R.RandomUniform(shape=[1 << 20], dtype=tf.half))
case("stateless_int", f(1), fn=lambda x: R.StatelessRandomUniformInt(shape=[1 << 21], seed=[1, 2], minval=0, maxval=1000))
case("stateless_int_full", f(1), fn=lambda x: R.StatelessRandomUniformFullInt(shape=[1 << 21], seed=[1, 2], dtype=tf.int32))
case("stateless_truncated", f(1), fn=lambda x: R.StatelessTruncatedNormal(shape=[1 << 20], seed=[1, 2]))
case("stateless_normal_v2", f(1), fn=lambda x: R.StatelessRandomNormalV2(shape=[1 << 20], key=[1], counter=[1, 2], alg=1))
case("stateless_binomial", f(100), fn=lambda x: R.StatelessRandomBinomial(shape=[1000, 100], seed=[1, 2], counts=tf.fill([100], 20.0), probs=x))
case("stateless_gamma", f(100) + 0.5, fn=lambda x: R.StatelessRandomGammaV2(shape=[1000, 100], seed=[1, 2], alpha=x))
case("stateless_poisson", f(100) * 20, fn=lambda x: R.StatelessRandomPoisson(shape=[1000, 100], seed=[1, 2], lam=x, dtype=tf.float32))
case("stateless_multinomial", f(256, 1000), fn=lambda x: R.StatelessMultinomial(logits=x, num_samples=10, seed=[1, 2]))
case("parameterized_truncated", f(256), fn=lambda x: R.ParameterizedTruncatedNormal(shape=[256, 1000], means=x, stdevs=x + 1, minvals=x - 2, maxvals=x + 2))
case("dropout", f(1 << 20), fn=lambda x: tf.nn.dropout(x, rate=0.3))
case("dropout_stateless", f(1 << 20), fn=lambda x: tf.nn.experimental.stateless_dropout(x, 0.3, [1, 2]))
case("stateless_shuffle", f(1 << 16), fn=lambda x: tf.random.experimental.stateless_shuffle(x, [1, 2]))
BY_CHANCE |= {n for n in ALL if n.startswith(("random_", "stateless_", "parameterized_", "dropout", "fractional_"))}
