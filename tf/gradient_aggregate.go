package tf

import (
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// An Aggregation says how gradients that come by several ways are added.
type Aggregation int

const (
	// AddN adds all of them at once.
	AddN Aggregation = iota
	// ExperimentalTree adds two at a time, so that memory can be freed.
	ExperimentalTree
	// ExperimentalAccumulateN is another name of ExperimentalTree.
	ExperimentalAccumulateN
)

// seed returns the gradient that y, number i, starts with: the given one, or
// ones.
func seed(y, dy Output, i int) (Output, error) {
	name := Name(fmt.Sprintf("grad_ys_%d", i))
	d := y.DType().Base()
	switch {
	case dy.IsZero() && d.IsComplex():
		return dy, Errorf(InvalidArgument, "Gradients of complex tensors must set grad_ys, got none for %v", y)
	case dy.IsZero() && !d.IsFloat():
		return dy, Errorf(InvalidArgument, "gradients need ys of a floating-point type, got %v", y)
	case dy.IsZero():
		dy = Apply(nil, "OnesLike", []Output{y}, name).Output(0)
		return dy, dy.Err()
	}
	if dy.DType() != d && d != Resource || d != Resource && !dy.Shape().Compatible(y.Shape()) {
		return dy, Errorf(InvalidArgument, "the gradient of %v must have its type and shape, got %v", y, dy)
	}
	dy = identity(dy, name)
	return dy, dy.Err()
}

// gradientOf calls the gradient function of op, making sparse gradients dense
// if it does not take them as they are.
func (b *backprop) gradientOf(op *Operation, dy []Gradient) []Gradient {
	if f := op.flowGradient(); f != nil {
		return f(b.flow(), op, dy)
	}
	if f := b.ownGradient(op); f != nil {
		return f(op, denseOutputs(dy))
	}
	if op.Def.SparseGrad != nil && slices.ContainsFunc(dy, func(g Gradient) bool { return g.sparse != nil }) {
		return op.Def.SparseGrad.(SparseGradFunc)(op, dy)
	}
	return gradFunc(op.Def)(op, denseOutputs(dy))
}

func denseOutputs(gs []Gradient) []Output {
	out := make([]Output, len(gs))
	for i, g := range gs {
		out[i] = g.Output()
	}
	return out
}

// total adds up what has arrived for x.
func (b *backprop) total(x Output) Gradient {
	s := b.sums[x]
	if s == nil {
		return Gradient{}
	}
	if len(s.parts) > 1 {
		s.parts = []Gradient{b.aggregate(x, s.parts)}
	}
	s.added = true
	return s.parts[0]
}

// aggregate adds gradients: sparse ones among themselves by joining their
// rows, others densely.
func (b *backprop) aggregate(x Output, gs []Gradient) Gradient {
	if !slices.ContainsFunc(gs, func(g Gradient) bool { return g.sparse == nil }) {
		return joinSlices(gs)
	}
	xs := denseOutputs(gs)
	if b.o.Aggregation == AddN {
		return Dense(addAll(xs))
	}
	sum := xs[0]
	b.g.Scope(x.op.Name+"_gradient_sum", func() {
		for _, x := range xs[1:] {
			sum = Apply(nil, "AddN", []Output{sum, x}).Output(0)
		}
	})
	return Dense(sum)
}

// addAll adds xs: those of one device there first, then the sums.
func addAll(xs []Output) Output {
	byDevice := map[string][]Output{}
	for _, x := range xs {
		byDevice[x.op.Device] = append(byDevice[x.op.Device], x)
	}
	if len(byDevice) == 1 {
		return Apply(nil, "AddN", xs, colocatedSum(xs)).Output(0)
	}
	var sums []Output
	for _, dev := range sortedKeys(byDevice) {
		sum := byDevice[dev][0]
		if part := byDevice[dev]; len(part) > 1 {
			sum = Apply(nil, "AddN", part, ColocateWith(part[0].op)).Output(0)
		}
		sums = append(sums, sum)
	}
	return Apply(nil, "AddN", sums).Output(0)
}

// colocatedSum puts a sum where its first term is, but not in an eager graph,
// where that is all one.
func colocatedSum(xs []Output) Option {
	if xs[0].Graph().IsEager() {
		return nil
	}
	return colocatedWith(xs[0])
}

func joinSlices(gs []Gradient) Gradient {
	var values, indices []Output
	for _, g := range gs {
		values, indices = append(values, g.sparse.Values), append(indices, g.sparse.Indices)
	}
	indices = ofOneType(indices...)
	axis := constant(values[0].Graph(), core.Scalar(int32(0)))
	join := func(xs []Output) Output { return Apply(nil, "ConcatV2", append(xs, axis)).Output(0) }
	return Sparse(IndexedSlices{Values: join(values), Indices: join(indices), DenseShape: gs[0].sparse.DenseShape})
}

// ofOneType returns integers, int32 or int64, as int64 if they are not of one type.
func ofOneType(xs ...Output) []Output {
	if !slices.ContainsFunc(xs, func(x Output) bool { return x.DType() != xs[0].DType() }) {
		return xs
	}
	out := make([]Output, len(xs))
	for i, x := range xs {
		out[i] = castTo(x, Int64)
	}
	return out
}

// gate makes each gradient wait for all of them, by the values where they are sparse.
func gate(gs []Gradient) []Gradient {
	var all []*Operation
	for _, g := range gs {
		if x := g.values(); x.op != nil && x.Err() == nil {
			all = append(all, x.op)
		}
	}
	if len(all) < 2 {
		return gs
	}
	g, out := all[0].g, slices.Clone(gs)
	g.Scope("tuple", func() {
		done := Group(g, "group_deps", all...)
		wait := func(x Output) Output {
			return identity(x, Name("control_dependency"), After(done), ColocateWith(x.op))
		}
		for i, dx := range gs {
			if s, ok := dx.IndexedSlices(); ok {
				s.Values = wait(s.Values)
				out[i] = Sparse(s)
			} else if !dx.IsZero() {
				out[i] = Dense(wait(dx.dense))
			}
		}
	})
	return out
}

// values returns the elements that g has, the zero Output if g is none.
func (g Gradient) values() Output {
	if g.sparse != nil {
		return g.sparse.Values
	}
	return g.dense
}
