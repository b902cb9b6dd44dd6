package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	addCustomCalls(map[string]rule{"stablehlo.dynamic_reduce_window": checked(7, dynamicReduceWindow)})
}

// A dynamicWindow is a reduce_window whose sizes are operands: those of the window, the
// strides, both dilations, and the padding.
type dynamicWindow struct {
	l    *lowering
	op   *stablehlo.Op // with the tensors, their initial values, and the function as its region
	rank int

	window, strides, base, dilation []size
	pads                            []size // before and after each dimension
}

func dynamicReduceWindow(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	n := (len(in) - 5) / 2
	if len(in) != 2*n+5 || len(op.Results) != n {
		return nil, refused(op, "it takes an initial value for each tensor and has a result for each, and five operands that say how, got %d operands and %d results", len(in), len(op.Results))
	}
	w := &dynamicWindow{l: l, rank: len(op.Operands[0].Type.Shape)}
	if err := w.read(op, in, 2*n); err != nil {
		return nil, err
	}
	if along, ok := w.growing(); ok {
		return w.cumulate(in[:2*n], along)
	}
	static, err := w.static(in[0])
	if err != nil {
		return nil, err
	}
	return static.reduceAll(in[:2*n])
}

// read reads the operands from first on, and the function.
func (w *dynamicWindow) read(op *stablehlo.Op, in []tf.Output, first int) error {
	names, _ := op.Attr("called_computations").(stablehlo.Array)
	if len(names) != 1 {
		return refused(op, "it must have one computation, got %d", len(names))
	}
	name, _ := names[0].(stablehlo.Symbol)
	f := w.l.module.Func(string(name))
	if f == nil || f.Body == nil {
		return refused(op, "the module has no function %q", string(name))
	}
	for i := range first {
		rank := w.rank
		if i >= first/2 {
			rank = 0
		}
		if err := rankOf(op, i, rank); err != nil {
			return err
		}
	}
	for i, to := range []*[]size{&w.window, &w.strides, &w.base, &w.dilation} {
		if err := vectorOf(op, first+i, w.rank); err != nil {
			return err
		}
		*to = flatSizes(op.Operands[first+i], in[first+i], w.rank)
	}
	pads := op.Operands[first+4].Type
	if !isInteger(pads.Elem) || len(pads.Shape) != 2 || pads.Shape[0] != int64(w.rank) || pads.Shape[1] != 2 {
		return refused(op, "its padding must be of shape [%d,2], got %v", w.rank, pads.Shape)
	}
	w.pads = flatSizes(op.Operands[first+4], in[first+4], 2*w.rank)
	w.op = &stablehlo.Op{Name: op.Name, Operands: op.Operands[:first], Results: op.Results, Attrs: op.Attrs, Regions: []*stablehlo.Block{f.Body}}
	return nil
}

// static returns the windowing of sizes that are known but for the padding.
func (w *dynamicWindow) static(x tf.Output) (*windowing, error) {
	s := &windowing{l: w.l, op: w.op, sizes: sizesOf(x, w.op.Operands[0].Type)}
	var base []int
	for _, v := range []struct {
		from []size
		to   *[]int
	}{{w.window, &s.window}, {w.strides, &s.strides}, {w.base, &base}, {w.dilation, &s.dilation}} {
		n, ok := allKnown(v.from)
		if !ok {
			return nil, unsupported(w.op, "sizes of windows that are not known must be those of whole dimensions, for cumulative results")
		}
		r := &reading{op: w.op}
		if *v.to = r.atLeast("of windows", n, 1); r.err != nil {
			return nil, r.err
		}
	}
	for d := range w.rank {
		s.pads = append(s.pads, padding{w.pads[2*d], w.pads[2*d+1], known(base[d] - 1)})
	}
	return s, nil
}

// growing returns the dimension along which windows are of a size that is not known, if
// they have all elements up to one, or all from one on.
func (w *dynamicWindow) growing() (along int, ok bool) {
	along = -1
	for d := range w.rank {
		low, high := w.pads[2*d], w.pads[2*d+1]
		switch {
		case !w.strides[d].is(1) || !w.base[d].is(1) || !w.dilation[d].is(1):
			return -1, false
		case w.window[d].is(1) && low.is(0) && high.is(0):
		case along < 0 && !w.window[d].known() && low.is(0) != high.is(0):
			along = d
		default:
			return -1, false
		}
	}
	return along, along >= 0
}

// cumulate combines all elements up to each one, or, if windows are padded behind, from
// each one on.
func (w *dynamicWindow) cumulate(in []tf.Output, along int) ([]tf.Output, error) {
	n := len(in) / 2
	reverse := w.pads[2*along].is(0)
	check := w.checkGrowing(in[0], along)
	xs := make([]tf.Output, n)
	for i := range xs {
		xs[i] = tf.Apply(w.l.g, "Identity", in[i:i+1], tf.After(check)).Output(0)
		xs[i].SetShape(shapeOf(w.op.Operands[i].Type))
	}
	how := combination(w.op.Regions[0], 0, n)
	sum := map[string]func(tf.Output, int, ...tf.Option) tf.Output{"add": ops.Cumsum[int], "multiply": ops.Cumprod[int]}[how]
	if n == 1 && sum != nil && xs[0].DType() != tf.Bool {
		y := sum(xs[0], along, ops.CumulativeOpts{Reverse: reverse})
		if changesNothing(constantOf(w.op.Operands[1]), combiners[how].none) {
			return one(y), nil
		}
		return w.l.loosely(w.op, w.op.Regions[0], []tf.Output{in[1], y})
	}
	s := &sweep{w: w, along: along, reverse: reverse}
	return s.run(xs, in[n:])
}

// checkGrowing adds an assertion that windows are as large as the dimension, and padded
// so that each element has one.
func (w *dynamicWindow) checkGrowing(x tf.Output, along int) *tf.Operation {
	g := w.l.g
	k, n := w.window[along].in(g), element(ops.Shape(x), along)
	// Sums that grow are padded on one side only, so that the sum of both paddings is that one.
	pad := w.pads[2*along].plus(w.pads[2*along+1]).in(g)
	fits := ops.LogicalAnd(ops.Equal(k, n), ops.Equal(ops.AddV2(pad, ops.Scalar(g, int32(1))), n))
	text := ops.Constant(g, "windows of a size that is not known must have all elements of a dimension up to one, got size, padding and dimension")
	return ops.Assert(fits, []tf.Output{text, k, pad, n})
}

// A sweep combines elements along a dimension with those before them, by any function:
// first with one, then with two, and so on in powers of 2.
type sweep struct {
	w       *dynamicWindow
	along   int
	reverse bool
	err     error
}

func (s *sweep) run(xs, init []tf.Output) ([]tf.Output, error) {
	g, op := s.w.l.g, s.w.op
	n := element(ops.Shape(xs[0]), s.along)
	vars, shapes := []tf.Output{ops.Scalar(g, int32(1))}, []tf.Shape{{}}
	for i, x := range xs {
		vars, shapes = append(vars, x), append(shapes, shapeOf(op.Operands[i].Type))
	}
	out := tf.While(vars,
		func(vars []tf.Output) tf.Output { return ops.Less(vars[0], n) },
		func(vars []tf.Output) []tf.Output { return s.double(vars[0], n, vars[1:]) },
		tf.WhileOpts{NoBackProp: true, ShapeInvariants: shapes})
	if s.err != nil {
		return nil, s.err
	}
	return s.w.l.loosely(op, op.Regions[0], append(init, out[1:]...))
}

// double combines each element with the one that is step before, if there is one. The
// step grows to n at most, which int32 holds.
func (s *sweep) double(step, n tf.Output, xs []tf.Output) []tf.Output {
	rest := ops.Sub(n, step)
	next := []tf.Output{ops.AddV2(step, ops.Minimum(step, rest))}
	var before, after, kept []tf.Output
	for _, x := range xs {
		low, high := s.part(x, tf.Output{}, rest), s.part(x, step, tf.Output{})
		before, after = append(before, low), append(after, high)
		if s.reverse {
			kept = append(kept, s.part(x, rest, tf.Output{}))
		} else {
			kept = append(kept, s.part(x, tf.Output{}, step))
		}
	}
	var out []tf.Output
	err := s.w.l.within(func() (err error) {
		out, err = s.w.l.loosely(s.w.op, s.w.op.Regions[0], append(before, after...))
		return err
	})
	if err == nil && len(out) != len(xs) {
		err = refused(s.w.op, "its function must return %d values, got %d", len(xs), len(out))
	}
	if err != nil {
		s.err = err
		return []tf.Output{tf.Failed(s.w.l.g, s.w.op.Name, err).Output(0)}
	}
	for i, y := range out {
		parts := []tf.Output{kept[i], y}
		if s.reverse {
			parts = []tf.Output{y, kept[i]}
		}
		next = append(next, ops.ConcatV2(parts, ops.Scalar(s.w.l.g, int32(s.along))))
	}
	return next
}

// part returns the elements from one to another, of which each may be none.
func (s *sweep) part(x, from, to tf.Output) tf.Output {
	g, rank := s.w.l.g, s.along+1
	mask := ops.StridedSliceOpts{BeginMask: 1<<rank - 1, EndMask: 1<<rank - 1}
	bound := func(at tf.Output, open *int) tf.Output {
		if at.IsZero() {
			return int32s(g, make([]int, rank))
		}
		*open -= 1 << s.along
		v := ops.Fill(int32s(g, []int{rank}), at)
		return v
	}
	begin, end := bound(from, &mask.BeginMask), bound(to, &mask.EndMask)
	return ops.StridedSlice(x, begin, end, int32s(g, repeat(1, rank)), mask)
}
