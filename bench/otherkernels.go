package main

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/image"
	_ "github.com/gorge-tf/gorge/tf/ops/parsing"
	_ "github.com/gorge-tf/gorge/tf/ops/text"
)

// hundred is how many strings most rows of workload 32 have.
const hundred = 100000

// otherKernels is workload 32: what workload 8 lacks.
func otherKernels(b *bench) {
	for _, list := range []func() []kernelCase{sorting, uniques, segments, stringKernels, splits, regexes, depthwise, indexing, scans, diagonals, mathematics} {
		for _, k := range list() {
			if b.wants(k.name) {
				b.kernel(&k)
			}
		}
	}
	b.norms()
	b.attention()
	b.embeddings()
	b.jpegs()
}

// opCase is a kernelCase of one op, all of whose operands are variables.
func opCase(name, op string, out int, work float64, inputs []*tf.Tensor, attrs ...tf.Option) kernelCase {
	return kernelCase{name, 1, inputs, func(_ *tf.Graph, in []tf.Output) tf.Output {
		return tf.Apply(nil, op, in, attrs...).Output(out)
	}, work, false}
}

func ints(v ...int32) *tf.Tensor { return tensor(v, len(v)) }

func ids(seed uint32, n, limit int) *tf.Tensor { return tensor(labels(seed, n, limit), n) }

// sortedIDs is ids, sorted.
func sortedIDs(seed uint32, n, limit int) *tf.Tensor {
	v := labels(seed, n, limit)
	slices.Sort(v)
	return tensor(v, n)
}

// wideIDs is ids of int64.
func wideIDs(seed uint32, n, limit int) *tf.Tensor {
	out := make([]int64, n)
	for i, v := range labels(seed, n, limit) {
		out[i] = int64(v)
	}
	return tensor(out, n)
}

func sorting() []kernelCase {
	return []kernelCase{
		opCase("sort_1M", "TopKV2", 0, million, []*tf.Tensor{u(1, million), tf.Scalar[int32](million)}),
		opCase("argsort_1M", "TopKV2", 1, million, []*tf.Tensor{u(1, million), tf.Scalar[int32](million)}),
		opCase("argsort_i32_1M", "TopKV2", 1, million, []*tf.Tensor{ids(1, million, 1<<20), tf.Scalar[int32](million)}),
		opCase("sort_rows_1024x1000", "TopKV2", 0, 1024*1000, []*tf.Tensor{u(1, 1024, 1000), tf.Scalar[int32](1000)}),
		opCase("in_top_k_5_1024x1000", "InTopKV2", 0, 1024*1000, []*tf.Tensor{u(1, 1024, 1000), ids(2, 1024, 1000), tf.Scalar[int32](5)}),
	}
}

func uniques() []kernelCase {
	return []kernelCase{
		opCase("unique_i64_1M_of_100000", "Unique", 1, million, []*tf.Tensor{wideIDs(2, million, 100000)}),
		opCase("unique_counts_i64_1M_of_100000", "UniqueWithCounts", 2, million, []*tf.Tensor{wideIDs(2, million, 100000)}),
		opCase("unique_i32_8192_of_1000", "Unique", 1, 8192, []*tf.Tensor{ids(2, 8192, 1000)}),
		opCase("unique_strings_100K_of_20000", "Unique", 1, hundred, []*tf.Tensor{tensor(chosen(manyWords(1, 20000), 2, hundred), hundred)}),
	}
}

func segments() (out []kernelCase) {
	const rows, width, n = 65536, 64, 4096
	x, sorted := u(1, rows, width), sortedIDs(2, rows, n)
	for _, name := range []string{"Sum", "Mean", "Max"} {
		out = append(out, opCase("segment_"+lower(name)+"_65536x64_into_4096", "Segment"+name, 0, rows*width, []*tf.Tensor{x, sorted}))
	}
	for _, name := range []string{"Sum", "Max"} {
		out = append(out, opCase("unsorted_segment_"+lower(name)+"_65536x64_into_4096", "UnsortedSegment"+name, 0, rows*width, []*tf.Tensor{x, ids(2, rows, n), tf.Scalar[int32](n)}))
	}
	table, from := u(1, 100000, width), ids(3, rows, 100000)
	for _, name := range []string{"Sum", "Mean", "SqrtN"} {
		out = append(out, opCase("sparse_segment_"+lower(name)+"_65536x64_into_4096", "SparseSegment"+name, 0, rows*width, []*tf.Tensor{table, from, sorted}))
	}
	return append(out, opCase("sparse_segment_mean_grad_4096x64_into_100000", "SparseSegmentMeanGrad", 0, rows*width, []*tf.Tensor{u(1, n, width), from, sorted, tf.Scalar[int32](100000)}))
}

func depthwise() (out []kernelCase) {
	for _, stride := range []int{1, 2} {
		const n, size, channels = 8, 56, 128
		small := size / stride
		name := fmt.Sprintf("depthwise_3x3s%d_8x56x56x128", stride)
		work := 2 * 9 * float64(n*small*small*channels)
		x, w, dy := u(1, n, size, size, channels), u(2, 3, 3, channels, 1), u(3, n, small, small, channels)
		attrs := []tf.Option{tf.Attr("strides", []int{1, stride, stride, 1}), tf.Attr("padding", "SAME")}
		add := func(suffix, op string, in ...*tf.Tensor) {
			k := opCase(name+suffix, op, 0, work, in, attrs...)
			k.flops = true
			out = append(out, k)
		}
		add(".fwd", "DepthwiseConv2dNative", x, w)
		add(".bwd_filter", "DepthwiseConv2dNativeBackpropFilter", x, ints(3, 3, channels, 1), dy)
		add(".bwd_input", "DepthwiseConv2dNativeBackpropInput", ints(n, size, size, channels), w, dy)
	}
	grouped := opCase("grouped_3x3_8x56x56x128_of_16", "Conv2D", 0, 2*9*8*56*56*128*16, []*tf.Tensor{u(1, 8, 56, 56, 128), u(2, 3, 3, 16, 128)},
		tf.Attr("strides", []int{1, 1, 1, 1}), tf.Attr("padding", "SAME"))
	grouped.flops = true
	return append(out, grouped)
}

func indexing() []kernelCase {
	pairs := tensor(labels(2, 2*65536, 1024), 65536, 2)
	mask := make([]bool, million)
	for i, v := range labels(3, million, 2) {
		mask[i] = v == 1
	}
	return []kernelCase{
		opCase("one_hot_4096x1000", "OneHot", 0, 4096*1000, []*tf.Tensor{ids(1, 4096, 1000), tf.Scalar[int32](1000), tf.Scalar[float32](1), tf.Scalar[float32](0)}),
		opCase("gather_nd_65536_of_1024x1024", "GatherNd", 0, 65536, []*tf.Tensor{u(1, 1024, 1024), pairs}),
		opCase("gather_nd_65536x16_of_1024x1024x16", "GatherNd", 0, 65536*16, []*tf.Tensor{u(1, 1024, 1024, 16), pairs}),
		opCase("scatter_nd_65536_into_1024x1024", "ScatterNd", 0, 65536, []*tf.Tensor{pairs, u(1, 65536), ints(1024, 1024)}),
		opCase("scatter_nd_65536x16_into_1024x1024x16", "ScatterNd", 0, 65536*16, []*tf.Tensor{pairs, u(1, 65536, 16), ints(1024, 1024, 16)}),
		opCase("tensor_scatter_add_65536_into_1024x1024", "TensorScatterAdd", 0, 65536, []*tf.Tensor{u(1, 1024, 1024), pairs, u(3, 65536)}),
		opCase("gather_axis1_1024x256_of_1024x1024", "GatherV2", 0, 1024*256, []*tf.Tensor{u(1, 1024, 1024), ids(2, 256, 1024), tf.Scalar[int32](1)}),
		opCase("gather_batch_1024x256_of_1024x1024", "GatherV2", 0, 1024*256, []*tf.Tensor{u(1, 1024, 1024), tensor(labels(2, 1024*256, 1024), 1024, 256), tf.Scalar[int32](1)}, tf.Attr("batch_dims", 1)),
		opCase("where_1M", "Where", 0, million, []*tf.Tensor{tensor(mask, million)}),
		{"boolean_mask_1M", 1, []*tf.Tensor{u(1, million), tensor(mask, million)}, func(g *tf.Graph, in []tf.Output) tf.Output {
			return ops.GatherV2(in[0], ops.Squeeze(ops.Where(in[1]), []int{1}), ops.Scalar(g, int32(0)))
		}, million, false},
		opCase("dynamic_partition_65536x64_4", "DynamicPartition", 0, 65536*64, []*tf.Tensor{u(1, 65536, 64), ids(2, 65536, 4)}, tf.Attr("num_partitions", 4)),
	}
}

func scans() []kernelCase {
	grid := u(1, 1024, 1024)
	return []kernelCase{
		opCase("cumsum_1M", "Cumsum", 0, million, []*tf.Tensor{u(1, million), tf.Scalar[int32](0)}),
		opCase("cumsum_axis0_1024x1024", "Cumsum", 0, million, []*tf.Tensor{grid, tf.Scalar[int32](0)}),
		opCase("cumsum_axis1_1024x1024", "Cumsum", 0, million, []*tf.Tensor{grid, tf.Scalar[int32](1)}),
		opCase("cumprod_axis1_1024x1024", "Cumprod", 0, million, []*tf.Tensor{grid, tf.Scalar[int32](1)}),
		opCase("bincount_1M_into_1000", "Bincount", 0, million, []*tf.Tensor{ids(1, million, 1000), tf.Scalar[int32](1000), tensor([]float32{}, 0)}),
		opCase("bincount_weighted_1M_into_1000", "Bincount", 0, million, []*tf.Tensor{ids(1, million, 1000), tf.Scalar[int32](1000), u(2, million)}),
		opCase("searchsorted_100K_of_100K", "LowerBound", 0, hundred, []*tf.Tensor{ascending(hundred), u(2, 1, hundred)}, tf.Attr("out_type", tf.Int32)),
		opCase("reverse_axis1_1024x1024", "ReverseV2", 0, million, []*tf.Tensor{grid, ints(1)}),
	}
}

// ascending returns n sorted values of U(1, 1) as a row.
func ascending(n int) *tf.Tensor {
	v := uniform(1, n, 1)
	slices.Sort(v)
	return tensor(v, 1, n)
}

func diagonals() []kernelCase {
	m := u(1, 64, 256, 256)
	return []kernelCase{
		opCase("matrix_diag_64x256", "MatrixDiagV3", 0, 64*256*256, []*tf.Tensor{u(1, 64, 256), tf.Scalar[int32](0), tf.Scalar[int32](-1), tf.Scalar[int32](-1), tf.Scalar[float32](0)}),
		opCase("matrix_diag_part_64x256x256", "MatrixDiagPartV3", 0, 64*256, []*tf.Tensor{m, tf.Scalar[int32](0), tf.Scalar[float32](0)}),
		opCase("matrix_band_part_64x256x256", "MatrixBandPart", 0, 64*256*256, []*tf.Tensor{m, tf.Scalar[int64](-1), tf.Scalar[int64](0)}),
	}
}

func mathematics() (out []kernelCase) {
	p := positive(1, million)
	for i := range p {
		p[i] += 0.5
	}
	x, pos, whole := u(1, million), tensor(p, million), tensor(labels(1, million, 1000), million)
	for _, op := range []string{"Erf", "Sin", "Cos", "Softplus", "Elu", "Expm1", "Atan", "Floor", "Sign"} {
		out = append(out, opCase(lower(op)+"_1M", op, 0, million, []*tf.Tensor{x}))
	}
	return append(out,
		opCase("log1p_1M", "Log1p", 0, million, []*tf.Tensor{pos}),
		opCase("pow_1M", "Pow", 0, million, []*tf.Tensor{pos, u(2, million)}),
		opCase("atan2_1M", "Atan2", 0, million, []*tf.Tensor{x, u(2, million)}),
		opCase("floor_mod_i32_1M", "FloorMod", 0, million, []*tf.Tensor{whole, tf.Scalar[int32](7)}),
		opCase("resize_bilinear_8x56x56x64_by_2", "ResizeBilinear", 0, 8*112*112*64, []*tf.Tensor{u(1, 8, 56, 56, 64), ints(112, 112)}, tf.Attr("half_pixel_centers", true)),
	)
}
