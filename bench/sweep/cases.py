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
