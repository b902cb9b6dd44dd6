package xla

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() { add(map[string]rule{"reduce_window": widened(2, reduceWindow)}) }

// A windowing moves windows over tensors of one shape.
type windowing struct {
	l     *lowering
	op    *stablehlo.Op
	sizes []size // of the tensors, with what pads them

	window, strides, dilation []int
	pads                      []padding
}

// readWindowing reads the attributes of windows over tensors like operand 0.
func readWindowing(l *lowering, op *stablehlo.Op, x tf.Output) (*windowing, error) {
	t := op.Operands[0].Type
	n := len(t.Shape)
	r := &reading{op: op}
	w := &windowing{l: l, op: op, sizes: sizesOf(x, t),
		window:   r.atLeast("window_dimensions", r.intsOf("window_dimensions", n, 1), 1),
		strides:  r.atLeast("window_strides", r.intsOf("window_strides", n, 1), 1),
		dilation: r.atLeast("window_dilations", r.intsOf("window_dilations", n, 1), 1),
	}
	base := r.atLeast("base_dilations", r.intsOf("base_dilations", n, 1), 1)
	for d, p := range r.pairs("padding", n) {
		w.pads = append(w.pads, padding{known(p[0]), known(p[1]), known(base[d] - 1)})
	}
	return w, r.err
}

func reduceWindow(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	n := len(in) / 2
	if len(in) != 2*n || len(op.Results) != n {
		return nil, refused(op, "it takes an initial value for each tensor and has a result for each, got %d operands and %d results", len(in), len(op.Results))
	}
	if err := scalars(op, n); err != nil {
		return nil, err
	}
	rank := len(op.Operands[0].Type.Shape)
	for i := 1; i < n; i++ {
		if err := rankOf(op, i, rank); err != nil {
			return nil, err
		}
	}
	w, err := readWindowing(l, op, in[0])
	if err != nil {
		return nil, err
	}
	return w.reduceAll(in)
}

// reduceAll reduces the windows of all tensors, behind which their initial values are.
func (w *windowing) reduceAll(in []tf.Output) ([]tf.Output, error) {
	n, op := len(in)/2, w.op
	if len(w.sizes) == 0 {
		return w.general(in[:n], in[n:])
	}
	out := make([]tf.Output, n)
	for i := range out {
		how := combination(region(op, 0), i, n)
		if !w.separates(how, in[i].DType()) {
			return w.general(in[:n], in[n:])
		}
		each := *w
		out[i] = each.reduced(in[i], in[n+i], op.Operands[n+i], how)
	}
	return out, nil
}

// separates reports whether windows may be combined dimension by dimension.
func (w *windowing) separates(how string, d tf.DType) bool {
	if d == tf.Bool {
		return combiners[how].booleans != nil
	}
	return combiners[how].numbers != nil
}

type combiner func(x, y tf.Output, opts ...tf.Option) tf.Output

// combiners has the ops that combine elements, by the name of StableHLO's operation,
// and the number that changes nothing.
var combiners = map[string]struct {
	numbers, booleans combiner
	none              float64
}{
	"add":      {ops.AddV2, ops.LogicalOr, 0},
	"multiply": {ops.Mul, ops.LogicalAnd, 1},
	"maximum":  {ops.Maximum, ops.LogicalOr, negInf},
	"minimum":  {ops.Minimum, ops.LogicalAnd, posInf},
	"and":      {nil, ops.LogicalAnd, 1},
	"or":       {nil, ops.LogicalOr, 0},
}

// reduced combines the elements of each window of x, beginning with init. Elements that
// pad do not count, as in XLA.
func (w *windowing) reduced(x, init tf.Output, initial *stablehlo.Value, how string) tf.Output {
	neutral := changesNothing(constantOf(initial), combiners[how].none)
	pad := init
	if !neutral {
		pad = extreme(x, combiners[how].none)
	}
	y, ok := w.cumulated(x, how, neutral)
	if !ok {
		y, ok = w.pooled(x, pad, how) // if not, y is x, which it may have padded
	}
	f := combiners[how].numbers
	if x.DType() == tf.Bool {
		f = combiners[how].booleans
	}
	if !ok {
		y = w.separately(w.padded(y, pad), f)
	}
	if !neutral {
		y = f(init, y)
	}
	return y
}

// extreme returns a number as a scalar of the type of x, the least or greatest one of
// integers for infinities.
func extreme(x tf.Output, v float64) tf.Output {
	d := x.DType()
	switch {
	case d == tf.Bool:
		return ops.Constant(x.Graph(), v > 0)
	case !isInt(d) || !math.IsInf(v, 0):
		return number(x, v)
	}
	least := 0.0
	if !isUnsigned(d) {
		least = -math.Ldexp(1, bits(d)-1)
	}
	if v < 0 {
		return number(x, least)
	}
	return ops.Invert(number(x, least))
}

// constantOf returns the constant that a scalar repeats.
func constantOf(v *stablehlo.Value) *stablehlo.Value {
	if c := origin(v, "broadcast_in_dim", "reshape"); len(c.Type.Shape) == 0 {
		return c
	}
	return v
}

// padded pads x with a scalar; the sizes become those of the result.
func (w *windowing) padded(x, value tf.Output) tf.Output {
	before, pads := slices.Clone(w.sizes), w.pads
	w.sizes, w.pads = make([]size, len(before)), make([]padding, len(before))
	for d, p := range pads {
		w.sizes[d] = padded(before[d], p)
		w.pads[d] = padding{known(0), known(0), known(0)}
	}
	return padAll(w.l.g, x, before, value, pads)
}

// cumulated computes sums and products of all elements up to each one.
func (w *windowing) cumulated(x tf.Output, how string, neutral bool) (tf.Output, bool) {
	along := -1
	for d, k := range w.window {
		p := w.pads[d]
		switch {
		case w.strides[d] != 1 || !p.interior.is(0):
			return x, false
		case k == 1 && p.low.is(0) && p.high.is(0):
			continue
		case along >= 0 || w.dilation[d] != 1 || !w.sizes[d].is(k):
			return x, false
		}
		along = d
	}
	if along < 0 || !neutral || x.DType() == tf.Bool {
		return x, false
	}
	k, p := w.window[along], w.pads[along]
	o := ops.CumulativeOpts{Reverse: p.low.is(0) && p.high.is(k-1)}
	if !o.Reverse && !(p.low.is(k-1) && p.high.is(0)) {
		return x, false
	}
	switch how {
	case "add":
		return ops.Cumsum(x, along, o), true
	case "multiply":
		return ops.Cumprod(x, along, o), true
	}
	return x, false
}

// separately combines windows dimension by dimension.
func (w *windowing) separately(x tf.Output, f combiner) tf.Output {
	for d := range w.window {
		if w.l.crowded() {
			break
		}
		x = w.along(x, d, f)
	}
	return x
}

// along combines windows along one dimension. Windows that overlap much are put together
// from ones of half their size.
func (w *windowing) along(x tf.Output, d int, f combiner) tf.Output {
	k, stride := w.window[d], w.strides[d]
	if k == 1 && stride == 1 {
		return x
	}
	n := w.sizes[d]
	w.sizes[d] = w.count(d, n)
	if k <= 4 || k <= 2*stride && k <= maxPositions {
		y := w.every(x, d, 0, w.sizes[d], stride)
		for i := 1; i < k; i++ {
			y = f(y, w.every(x, d, i*w.dilation[d], w.sizes[d], stride))
		}
		return y
	}
	y := w.doubled(x, d, n.minus(known((k-1)*w.dilation[d])), f)
	if stride == 1 {
		return y
	}
	return w.every(y, d, 0, w.sizes[d], stride)
}

// doubled combines windows at each of n positions of dimension d, none if n is negative.
func (w *windowing) doubled(x tf.Output, d int, n size, f combiner) tf.Output {
	var y tf.Output
	from, have := 0, false // y has the first from elements of windows
	for m, p := 1, x; ; m *= 2 {
		if w.window[d]&m != 0 {
			z := w.every(p, d, from*w.dilation[d], n, 1)
			if have {
				z = f(y, z)
			}
			y, have, from = z, true, from+m
		}
		if 2*m > w.window[d] {
			return y
		}
		left := n.plus(known((w.window[d] - 2*m) * w.dilation[d])).max(known(0))
		p = f(w.every(p, d, 0, left, 1), w.every(p, d, m*w.dilation[d], left, 1))
	}
}

// count returns the number of windows along a dimension of n elements.
func (w *windowing) count(d int, n size) size {
	reach := (w.window[d]-1)*w.dilation[d] + 1
	return n.minus(known(reach)).over(w.strides[d]).plus(known(1)).max(known(0))
}

// every takes n elements along a dimension, stride apart.
func (w *windowing) every(x tf.Output, d, from int, n size, stride int) tf.Output {
	rank := len(w.sizes)
	begin, step := make([]int, rank), repeat(1, rank)
	end := ones(rank)
	begin[d], step[d] = from, stride
	end[d] = known(from).plus(n.times(known(stride))).minus(known(stride - 1)).max(known(from))
	mask := ops.StridedSliceOpts{BeginMask: 1<<rank - 1 - 1<<d, EndMask: 1<<rank - 1 - 1<<d}
	return ops.StridedSlice(x, int32s(w.l.g, begin), vector(w.l.g, end), int32s(w.l.g, step), mask)
}
