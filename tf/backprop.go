package tf

import "slices"

// backprop walks a graph backwards.
type backprop struct {
	g       *Graph
	sums    map[Output][]Gradient // what has arrived for each output
	pending map[*Operation]int    // consumers whose gradients are still to come
	between map[*Operation]bool   // on a path from xs to ys
	stop    map[Output]bool       // outputs that count as constants
	history []*Operation          // through which gradients can flow, in order
}

func (b *backprop) run(o *GradientOptions) ([]Gradient, error) {
	b.findBetween(o)
	if err := b.start(o); err != nil {
		return nil, err
	}
	ready := b.roots(o)
	for len(ready) > 0 {
		op := ready[0]
		ready = ready[1:]
		if err := b.through(op); err != nil {
			return nil, err
		}
		for _, x := range op.in {
			if b.stop[x] || !b.between[x.op] {
				continue
			}
			if b.pending[x.op]--; b.pending[x.op] == 0 {
				ready = append(ready, x.op)
			}
		}
	}
	for op, n := range b.pending {
		if n > 0 {
			return nil, Errorf(Unimplemented, "gradients through a loop need the loop's gradient functions: %v waits for a gradient that depends on it", op)
		}
	}
	return b.results(o)
}

// findBetween marks the operations on paths from xs to ys.
func (b *backprop) findBetween(o *GradientOptions) {
	for _, s := range o.Stop {
		b.stop[s] = true
	}
	reached := b.reachedFrom(o.Xs)
	b.between, b.pending = map[*Operation]bool{}, map[*Operation]int{}
	var found []*Operation
	visit := func(op *Operation) bool {
		if reached[op] && !b.between[op] {
			b.between[op] = true
			found = append(found, op)
		}
		return reached[op]
	}
	for _, y := range o.Ys {
		visit(y.op)
	}
	for i := 0; i < len(found); i++ {
		for _, x := range found[i].in {
			if !b.stop[x] && visit(x.op) {
				b.pending[x.op]++
			}
		}
	}
}

// reachedFrom returns the operations that depend on xs.
func (b *backprop) reachedFrom(xs []Output) map[*Operation]bool {
	reached := map[*Operation]bool{}
	for _, x := range xs {
		reached[x.op] = true
	}
	// Operations stand in the graph after their inputs, but for the back
	// edges of loops, which carry no dependence that is not there already.
	for _, op := range b.history {
		for _, in := range op.in {
			if reached[in.op] && !b.stop[in] && differentiable(in.DType()) {
				reached[op] = true
			}
		}
	}
	return reached
}

func differentiable(d DType) bool {
	return d.IsFloat() || d.IsComplex() || d.Base() == Resource || d.Base() == Variant
}

// start seeds the gradients of the ys.
func (b *backprop) start(o *GradientOptions) error {
	for i, y := range o.Ys {
		dy := Output{}
		if i < len(o.GradYs) {
			dy = o.GradYs[i]
		}
		dy, err := seed(y, dy)
		if err != nil {
			return err
		}
		b.sums[y] = append(b.sums[y], Dense(dy))
	}
	return nil
}

// seed returns the gradient that y starts with: the given one, or ones.
func seed(y, dy Output) (Output, error) {
	d := y.DType().Base()
	switch {
	case dy.IsZero() && d.IsComplex():
		return dy, Errorf(InvalidArgument, "Gradients of complex tensors must set grad_ys, got none for %v", y)
	case dy.IsZero() && !d.IsFloat():
		return dy, Errorf(InvalidArgument, "gradients need ys of a floating-point type, got %v", y)
	case dy.IsZero():
		dy = Apply(nil, "OnesLike", []Output{y}, Name("grad_ys")).Output(0)
		return dy, dy.Err()
	}
	if dy.DType() != d || !dy.Shape().Compatible(y.Shape()) {
		return dy, Errorf(InvalidArgument, "the gradient of %v must have its type and shape, got %v", y, dy)
	}
	return dy, nil
}

// roots returns the operations of ys that wait for no other gradient.
func (b *backprop) roots(o *GradientOptions) (ready []*Operation) {
	seen := map[*Operation]bool{}
	for _, y := range o.Ys {
		if b.between[y.op] && b.pending[y.op] == 0 && !seen[y.op] {
			seen[y.op] = true
			ready = append(ready, y.op)
		}
	}
	return ready
}

// through carries the gradients of op's outputs to its inputs.
func (b *backprop) through(op *Operation) error {
	dy := make([]Gradient, len(op.OutTypes))
	some := false
	for k := range dy {
		dy[k] = b.total(Output{op, k})
		some = some || !dy[k].IsZero()
	}
	if !some || !b.inputsMatter(op) || op.Def.NoGrad == NotDifferentiable {
		return nil
	}
	if op.Def.NoGrad == NoGradientDefined {
		return Errorf(NotFound, "No gradient defined for operation '%s' (op type: %s)", op.Name, op.OpName())
	}
	var dxs []Gradient
	b.g.Scope(op.Name+"_grad", func() { dxs = gradientOf(op, dy) })
	if err := b.g.Err(); err != nil {
		return err
	}
	if len(dxs) != len(op.in) {
		return Errorf(Internal, "gradient of %v must give %d gradients, gave %d", op, len(op.in), len(dxs))
	}
	return b.arrive(op, dxs)
}

// arrive keeps the gradients of op's inputs.
func (b *backprop) arrive(op *Operation, dxs []Gradient) error {
	for i, dx := range dxs {
		if dx.IsZero() {
			continue
		}
		if err := dx.err(); err != nil {
			return err
		}
		b.sums[op.in[i]] = append(b.sums[op.in[i]], dx)
	}
	return nil
}

// inputsMatter reports whether an input of op leads to one of the xs.
func (b *backprop) inputsMatter(op *Operation) bool {
	for _, x := range op.in {
		if b.between[x.op] && differentiable(x.DType()) {
			return true
		}
	}
	return false
}

// gradientOf calls the gradient function of op, making sparse gradients dense
// if it does not take them as they are.
func gradientOf(op *Operation, dy []Gradient) []Gradient {
	if op.Def.SparseGrad != nil && slices.ContainsFunc(dy, func(g Gradient) bool { return g.sparse != nil }) {
		return op.Def.SparseGrad(op, dy)
	}
	dense := make([]Output, len(dy))
	for i, g := range dy {
		dense[i] = g.Output()
	}
	return op.Def.Grad(op, dense)
}

// total adds up what has arrived for x.
func (b *backprop) total(x Output) Gradient {
	switch gs := b.sums[x]; len(gs) {
	case 0:
		return Gradient{}
	case 1:
		return gs[0]
	default:
		sum := aggregate(gs)
		b.sums[x] = []Gradient{sum}
		return sum
	}
}

// aggregate adds gradients: sparse ones among themselves by joining their
// rows, others densely.
func aggregate(gs []Gradient) Gradient {
	if allSparse(gs) {
		return joinSlices(gs)
	}
	xs := make([]Output, len(gs))
	for i, g := range gs {
		xs[i] = g.Output()
	}
	return Dense(Apply(nil, "AddN", xs).Output(0))
}

func allSparse(gs []Gradient) bool {
	for _, g := range gs {
		if g.sparse == nil {
			return false
		}
	}
	return true
}

func joinSlices(gs []Gradient) Gradient {
	var values, indices []Output
	for _, g := range gs {
		values, indices = append(values, g.sparse.Values), append(indices, g.sparse.Indices)
	}
	axis := constant(values[0].Graph(), Scalar(int32(0)))
	join := func(xs []Output) Output { return Apply(nil, "ConcatV2", append(xs, axis)).Output(0) }
	return Sparse(IndexedSlices{Values: join(values), Indices: join(indices), DenseShape: gs[0].sparse.DenseShape})
}

// results collects the gradients of the xs.
func (b *backprop) results(o *GradientOptions) ([]Gradient, error) {
	out := make([]Gradient, len(o.Xs))
	for i, x := range o.Xs {
		s := b.total(x)
		if s.IsZero() && o.ZeroUnconnected {
			s = Dense(Apply(nil, "ZerosLike", []Output{x}).Output(0))
		}
		if err := s.err(); err != nil {
			return nil, err
		}
		out[i] = s
	}
	return out, nil
}
