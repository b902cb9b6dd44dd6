package xla

import (
	"math"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() { add(map[string]rule{"sort": widened(1, sort)}) }

func sort(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	t := op.Operands[0].Type
	rank := len(t.Shape)
	r := &reading{op: op}
	dim := r.int("dimension", -1)
	if dim < 0 {
		dim += rank
	}
	if dim < 0 || dim >= rank {
		r.fail("its dimension must be in [%d, %d), got %d", -rank, rank, r.int("dimension", -1))
	}
	for i := range op.Operands {
		if len(op.Operands[i].Type.Shape) != rank {
			r.fail("its operands must be of one shape, got ranks %d and %d", rank, len(op.Operands[i].Type.Shape))
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	keys, ok := comparator(region(op, 0), len(in))
	if !ok {
		return nil, unsupported(op, "its comparator must compare operands by less or greater, one after the other; another one is not recognized")
	}
	return sorted(l.g, in, sizesOf(in[0], t), dim, keys), nil
}

// sorted sorts tensors of one shape along a dimension, by keys of which the first
// counts most. Equal ones keep their order.
func sorted(g *tf.Graph, in []tf.Output, sizes []size, dim int, keys []sortKey) []tf.Output {
	rank := len(sizes)
	order := append(without(rank, dim), dim)
	xs := make([]tf.Output, len(in))
	for i, x := range in {
		xs[i] = transposed(x, order)
	}
	n := sizes[dim].in(g)
	var at tf.Output
	for i := len(keys) - 1; i >= 0; i-- {
		k := ascending(xs[keys[i].operand], keys[i])
		if i < len(keys)-1 {
			k = along(k, at, rank)
		}
		_, next := ops.TopK(k, n)
		if i < len(keys)-1 {
			next = along(at, next, rank)
		}
		at = next
	}
	for i := range xs {
		xs[i] = transposed(along(xs[i], at, rank), inverse(order))
	}
	return xs
}

// along takes elements along the last dimension by their positions.
func along(x, at tf.Output, rank int) tf.Output {
	return ops.Gather(x, at, rank-1, ops.GatherOpts{BatchDims: rank - 1})
}

// ascending returns integers for TopK, which sorts in descending order, so that
// elements come out as the key says.
func ascending(x tf.Output, k sortKey) tf.Output {
	switch has := isComplex(x.DType().Base()); {
	case has && k.part != "":
		x = partOf(k.part, x)
	case k.part == "Imag":
		x = ops.ZerosLike(x)
	}
	x = ordinal(x, k.zeros, k.nans)
	if k.descending {
		return x
	}
	return ops.Invert(x)
}

// ordinal returns integers that have the order of x: for floating-point numbers the
// total order of IEEE 754, where -0 is less than 0 unless zeros is set, and NaN is
// beyond infinity on the side of its sign, or greatest if nans is set.
func ordinal(x tf.Output, zeros, nans bool) tf.Output {
	g := x.Graph()
	var as, width tf.DType
	switch x.DType() {
	case tf.Bool:
		return ops.Cast(x, tf.Uint8)
	case tf.Float32:
		as, width = tf.Int32, 31
	case tf.Float64:
		as, width = tf.Int64, 63
	case tf.Float16, tf.BFloat16:
		as, width = tf.Int16, 15
	default:
		return x
	}
	if zeros {
		x = ops.SelectV2(ops.Equal(x, number(x, 0)), number(x, 0), x)
	}
	bits := ops.Bitcast(x, as)
	var all tf.Output
	if as == tf.Int64 { // a float64 has no such number
		all = ops.Scalar(g, int64(math.MaxInt64))
	} else {
		all = number(bits, float64(uint64(1)<<width-1))
	}
	order := ops.BitwiseXor(bits, ops.BitwiseAnd(ops.RightShift(bits, number(bits, float64(width))), all))
	if nans {
		order = ops.SelectV2(ops.IsNan(x), all, order)
	}
	return order
}

// number returns a scalar of the type of x.
func number(x tf.Output, v float64) tf.Output {
	if d := x.DType(); d == tf.Int8 || d == tf.Int16 || d == tf.Uint8 || d == tf.Uint16 {
		return ops.Cast(ops.Scalar(x.Graph(), int32(v)), d)
	}
	t, err := tf.ScalarOf(x.DType(), v)
	if err != nil {
		return tf.Failed(x.Graph(), "StableHLO", err).Output(0)
	}
	return ops.ConstTensor(x.Graph(), t)
}
