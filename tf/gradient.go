package tf

import "slices"

// A Gradient is the gradient of something with respect to one tensor: dense,
// or the sparse form that gathering rows gives. The zero Gradient is none:
// nothing depends on the tensor.
type Gradient struct {
	dense  Output
	sparse *IndexedSlices
}

// IndexedSlices is a gradient that is zero but for some rows: row Indices[i]
// has had Values[i] added. An index may come more than once.
type IndexedSlices struct {
	Values, Indices Output
	DenseShape      Output // shape of the whole, as an int32 or int64 vector
}

// Dense returns x as a Gradient.
func Dense(x Output) Gradient { return Gradient{dense: x} }

// Sparse returns s as a Gradient.
func Sparse(s IndexedSlices) Gradient { return Gradient{sparse: &s} }

// Grads returns its arguments as a list of dense gradients; the zero Output
// stands for none.
func Grads(xs ...Output) []Gradient {
	out := make([]Gradient, len(xs))
	for i, x := range xs {
		out[i] = Dense(x)
	}
	return out
}

// IsZero reports whether g is none.
func (g Gradient) IsZero() bool { return g.dense.op == nil && g.sparse == nil }

// IndexedSlices returns the sparse form, and whether g has it.
func (g Gradient) IndexedSlices() (IndexedSlices, bool) {
	if g.sparse == nil {
		return IndexedSlices{}, false
	}
	return *g.sparse, true
}

// Output returns g as a dense tensor, adding what is needed to make it one;
// the zero Output if g is none.
func (g Gradient) Output() Output {
	if g.sparse == nil {
		return g.dense
	}
	s := g.sparse
	rows := sliceFirst(s.DenseShape)
	return Apply(nil, "UnsortedSegmentSum", []Output{s.Values, s.Indices, rows}).Output(0)
}

// sliceFirst returns element 0 of vector x.
func sliceFirst(x Output) Output {
	g := x.Graph()
	zero := constant(g, Scalar(int32(0)))
	return Apply(g, "GatherV2", []Output{x, zero, zero}).Output(0)
}

func constant(g *Graph, t *Tensor) Output {
	return Apply(g, "Const", nil, Attr("value", t), Attr("dtype", t.DType())).Output(0)
}

// GradientOptions says what Differentiate computes.
type GradientOptions struct {
	Ys, Xs []Output
	GradYs []Output // gradient of each y; zero Outputs, or none at all, mean ones
	// Stop holds outputs that count as constants.
	Stop []Output
	// ZeroUnconnected makes gradients of unconnected xs zeros, not none.
	ZeroUnconnected bool
	// Name is the name scope of what is added; "gradients" if empty.
	Name string

	history []*Operation // of a tape
}

// Gradients adds to the graph of y the gradients of sum(y) with respect to
// each x, dense. It is an error if y does not depend on an x.
func Gradients(y Output, xs ...Output) ([]Output, error) {
	o := GradientOptions{Ys: []Output{y}, Xs: xs}
	gs, err := Differentiate(o)
	if err != nil {
		return nil, err
	}
	return denseAll(gs, &o)
}

func denseAll(gs []Gradient, o *GradientOptions) ([]Output, error) {
	out := make([]Output, len(gs))
	for i, g := range gs {
		if g.IsZero() {
			return nil, Errorf(InvalidArgument, "Gradients: %v does not depend on %v by a differentiable path", o.Ys[0], o.Xs[i])
		}
		out[i] = g.Output()
		if err := out[i].Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Differentiate adds what computes the gradients of the sum of all ys with
// respect to each x, by reverse accumulation over the graph.
func Differentiate(o GradientOptions) ([]Gradient, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	g := o.Ys[0].Graph()
	if err := g.Err(); err != nil {
		return nil, err
	}
	if o.Name == "" {
		o.Name = "gradients"
	}
	var out []Gradient
	var err error
	g.Scope(o.Name, func() {
		b := &backprop{g: g, sums: map[Output][]Gradient{}, stop: map[Output]bool{}, history: o.history}
		if !g.IsEager() {
			b.history = g.Operations()
		}
		out, err = b.run(&o)
	})
	if err == nil {
		err = g.Err()
	}
	return out, err
}

func (o *GradientOptions) check() error {
	if len(o.Ys) == 0 {
		return Errorf(InvalidArgument, "gradients need at least one y")
	}
	for _, list := range [][]Output{o.Ys, o.Xs, o.Stop} {
		for _, x := range list {
			if err := x.Err(); err != nil {
				return err
			}
			if x.Graph() != o.Ys[0].Graph() {
				return Errorf(InvalidArgument, "all ys and xs must belong to one graph, %v does not", x)
			}
		}
	}
	if n := len(o.GradYs); n != 0 && n != len(o.Ys) {
		return Errorf(InvalidArgument, "there must be as many grad ys as ys: got %d for %d", n, len(o.Ys))
	}
	return nil
}

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
	return b.results(o)
}

// findBetween marks the operations on paths from xs to ys.
func (b *backprop) findBetween(o *GradientOptions) {
	for _, s := range o.Stop {
		b.stop[s] = true
	}
	reached := b.reachedFrom(o.Xs)
	b.between = map[*Operation]bool{}
	b.pending = map[*Operation]int{}
	var visit func(*Operation)
	visit = func(op *Operation) {
		if b.between[op] || !reached[op] {
			return
		}
		b.between[op] = true
		for _, x := range op.in {
			if b.stop[x] {
				continue
			}
			visit(x.op)
			if b.between[x.op] {
				b.pending[x.op]++
			}
		}
	}
	for _, y := range o.Ys {
		visit(y.op)
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
		if !dy.IsZero() {
			if dy.DType() != y.DType().Base() {
				return Errorf(InvalidArgument, "the gradient of %v must have its type, got %v", y, dy)
			}
		} else if !y.DType().IsFloat() && !y.DType().IsComplex() {
			return Errorf(InvalidArgument, "gradients need ys of a floating-point type, got %v", y)
		} else {
			dy = Apply(nil, "OnesLike", []Output{y}, Name("grad_ys")).Output(0)
		}
		b.sums[y] = append(b.sums[y], Dense(dy))
	}
	return nil
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
		return b.g.Err()
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
	for i, dx := range dxs {
		if !dx.IsZero() {
			b.sums[op.in[i]] = append(b.sums[op.in[i]], dx)
		}
	}
	return b.g.Err()
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
		out[i] = s
	}
	return out, nil
}
