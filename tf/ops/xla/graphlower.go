package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

type attrs = map[string]stablehlo.Attr

func intAttr(n int) stablehlo.Int { return stablehlo.Int{Elem: "i64", Value: int64(n)} }

// dotOf multiplies: XlaDot and XlaDotV2.
func dotOf(c *graphCall) []tf.Output {
	a := c.numbers(dotFields)
	n := len(protoInts(a, "lhs_batching_dimensions")) + len(protoInts(a, "lhs_contracting_dimensions"))
	m := len(protoInts(a, "rhs_contracting_dimensions"))
	return c.apply("dot_general", a, c.values, nil, c.tensorType(c.n.OutTypes[0], c.rank(0)+c.rank(1)-n-m))
}

// convOf convolves: XlaConv and XlaConvV2.
func convOf(c *graphCall) []tf.Output {
	a := c.numbers(convFields)
	n := c.rank(0) - 2
	if n < 0 {
		c.fail("its input must have a dimension of batches and one of features, got rank %d", c.rank(0))
		return nil
	}
	a["window_strides"], a["padding"] = intsAttr(c.vector(2, n)), intsAttr(c.pairs(3, n))
	a["lhs_dilation"], a["rhs_dilation"] = intsAttr(c.vector(4, n)), intsAttr(c.vector(5, n))
	a["feature_group_count"], a["batch_group_count"] = intAttr(c.scalar(6)), intAttr(1)
	if g, ok := c.n.Attr("batch_group_count").(int64); ok {
		a["batch_group_count"] = stablehlo.Int{Elem: "i64", Value: g}
	}
	return c.apply("convolution", a, c.values[:2], nil, c.tensorType(c.n.OutTypes[0], c.rank(0)))
}

func gatherOf(c *graphCall) []tf.Output {
	a := c.numbers(gatherFields)
	a["slice_sizes"] = intsAttr(c.vector(2, c.rank(0)))
	rank := c.rank(1) + len(protoInts(a, "offset_dims"))
	if v, ok := a["index_vector_dim"].(stablehlo.Int); ok && v.Value < int64(c.rank(1)) {
		rank--
	}
	return c.apply("gather", a, c.values[:2], nil, c.tensorType(c.n.OutTypes[0], rank))
}

func scatterOf(c *graphCall) []tf.Output {
	a := c.numbers(scatterFields)
	b := c.region("update_computation")
	return c.apply("scatter", a, c.values, []*stablehlo.Block{b}, c.values[0].Type)
}

func padOf(c *graphCall) []tf.Output {
	n := c.rank(0)
	a := attrs{"edge_padding_low": intsAttr(c.vector(2, n)), "edge_padding_high": intsAttr(c.vector(3, n)), "interior_padding": intsAttr(c.vector(4, n))}
	return c.apply("pad", a, c.values[:2], nil, c.tensorType(c.n.OutTypes[0], n))
}

// reduceOf reduces: XlaReduce, and XlaVariadicReduce of several tensors.
func reduceOf(c *graphCall) []tf.Output {
	n := len(c.in) / 2
	dims := c.n.Ints("dimensions_to_reduce")
	b := c.region("reducer")
	return c.apply("reduce", attrs{"dimensions": intsAttr(dims)}, c.values, []*stablehlo.Block{b}, c.typesOf(c.values[:n], c.rank(0)-len(dims))...)
}

func reduceWindowOf(c *graphCall) []tf.Output {
	n := c.rank(0)
	a := attrs{
		"window_dimensions": intsAttr(c.vector(2, n)), "window_strides": intsAttr(c.vector(3, n)), "base_dilations": intsAttr(c.vector(4, n)),
		"window_dilations": intsAttr(c.vector(5, n)), "padding": intsAttr(c.pairs(6, n)),
	}
	b := c.region("computation")
	return c.apply("reduce_window", a, c.values[:2], []*stablehlo.Block{b}, c.tensorType(c.n.OutTypes[0], n))
}

func selectAndScatterOf(c *graphCall) []tf.Output {
	n := c.rank(0)
	a := attrs{"window_dimensions": intsAttr(c.vector(1, n)), "window_strides": intsAttr(c.vector(2, n)), "padding": intsAttr(c.pairs(3, n))}
	regions := []*stablehlo.Block{c.region("select"), c.region("scatter")}
	operands := []*stablehlo.Value{c.values[0], c.values[4], c.values[5]}
	return c.apply("select_and_scatter", a, operands, regions, c.values[0].Type)
}

// sortOf sorts by the first tensor, in ascending order along the last dimension.
func sortOf(c *graphCall) []tf.Output {
	rank := c.rank(0)
	for i := range c.in {
		if c.rank(i) != rank || rank == 0 || !fits(c.in[i].Shape(), c.values[0].Type.Shape) {
			c.fail("its inputs must be of one shape that has a dimension, got %v and %v", c.in[0].Shape(), c.in[i].Shape())
			return nil
		}
	}
	if d := c.in[0].DType(); isComplex(d) || elems[d] == "" {
		c.fail("elements of type %v have no order", d)
		return nil
	}
	return sorted(c.g, c.in, c.sizes(c.in[0]), rank-1, []sortKey{{}})
}

func variadicSortOf(c *graphCall) []tf.Output {
	n := len(c.in) - 1
	dim := c.scalar(n)
	for i, v := range c.values[:n] {
		if !fits(c.in[i].Shape(), c.values[0].Type.Shape) || len(v.Type.Shape) != c.rank(0) {
			c.fail("its inputs must be of one shape, got %v and %v", c.in[0].Shape(), c.in[i].Shape())
		}
	}
	b := c.region("comparator")
	return c.apply("sort", attrs{"dimension": intAttr(dim)}, c.values[:n], []*stablehlo.Block{b}, c.typesOf(c.values[:n], c.rank(0))...)
}

// broadcastHelper gives both inputs one rank, by dimensions of size 1.
func broadcastHelper(c *graphCall) []tf.Output {
	small, large := 0, 1
	if c.rank(0) > c.rank(1) {
		small, large = 1, 0
	}
	dims := c.ints(2, -1)
	switch n := c.rank(small); {
	case n == c.rank(large) || n == 0 && len(dims) == 0:
		return c.in[:2]
	case len(dims) != n || !dimsOf(make(tf.Shape, c.rank(large)), dims) || !slices.IsSorted(dims):
		c.fail("broadcast_dims must have a dimension of the input of rank %d for each of the one of rank %d, in order, got %v", c.rank(large), n, dims)
		return nil
	}
	sizes := ones(c.rank(large))
	for i, s := range c.sizes(c.in[small]) {
		sizes[dims[i]] = s
	}
	out := slices.Clone(c.in[:2])
	out[small] = c.reshape(c.in[small], sizes)
	return out
}

// algorithms are the random number generators by their numbers in TensorFlow.
var algorithms = map[int]stablehlo.Enum{1: "PHILOX", 2: "THREE_FRY", 3: "DEFAULT"}

func bitGeneratorOf(c *graphCall) []tf.Output {
	algorithm, ok := algorithms[c.scalar(0)]
	shape := c.ints(2, -1)
	if !ok {
		c.fail("its algorithm must be 1, 2 or 3, got %d", c.scalar(0))
	}
	t := c.tensorType(c.n.OutTypes[1], len(shape))
	for i, n := range shape {
		t.Shape[i] = int64(n)
	}
	if _, ok := count(t.Shape); !ok {
		c.fail("its shape must have at most %d elements, got %v", most, shape)
	}
	return c.apply("rng_bit_generator", attrs{"rng_algorithm": algorithm}, c.values[1:2], nil, c.values[1].Type, t)
}

func reducePrecisionOf(c *graphCall) []tf.Output {
	a := attrs{"exponent_bits": intAttr(c.n.Int("exponent_bits")), "mantissa_bits": intAttr(c.n.Int("mantissa_bits"))}
	return c.apply("reduce_precision", a, c.values, nil, c.values[0].Type)
}

// setDimensionSize leaves the first elements along a dimension, which XLA counts.
func setDimensionSize(c *graphCall) []tf.Output {
	dim := c.scalar(1)
	if dim < 0 || dim >= c.rank(0) || c.rank(2) != 0 {
		c.fail("dim_index must be in [0, %d) and size a scalar, got %d and rank %d", c.rank(0), dim, c.rank(2))
		return nil
	}
	sizes := c.sizes(c.in[0])
	sizes[dim] = size{x: c.in[2]}
	return one(ops.Slice(c.in[0], vector(c.g, knowns(make([]int, len(sizes)))), vector(c.g, sizes)))
}
