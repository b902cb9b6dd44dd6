package tf

import (
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Tape is what an eager graph has recorded: the operations through which
// gradients can be taken. It holds their values until it is dropped.
type Tape struct {
	g   *Graph
	ops []*Operation
}

// record keeps what a tape needs to know of o; without a tape o forgets its
// inputs, so that a long eager computation holds no chain of values.
func (o *Operation) record() {
	if o.g.eager.tapes == 0 {
		o.in = nil
		return
	}
	o.in = slices.Clone(o.in) // the list is the caller's
	if o.grad == nil {
		o.grad = o.override()
	}
	o.g.eager.taped = append(o.g.eager.taped, o)
}

// Record calls f and returns a tape of the operations that f added to an eager
// graph, or to the function of one that is being traced. Recordings may be nested. The tape of a nil graph has nothing; gradients of it,
// and of a graph that is not eager, are refused with INVALID_ARGUMENT.
func (g *Graph) Record(f func()) *Tape {
	if f == nil {
		f = func() {} // nothing is recorded
	}
	if g == nil {
		f()
		return &Tape{}
	}
	if body := g.current(); body.functions.body != nil && body.outermost().IsEager() {
		return body.recordBody(f)
	}
	start := len(g.eager.taped)
	g.eager.tapes++
	defer func() {
		if g.eager.tapes--; g.eager.tapes == 0 {
			g.eager.taped = nil
		}
	}()
	f()
	return &Tape{g: g, ops: g.eager.taped[start:len(g.eager.taped):len(g.eager.taped)]}
}

// recordBody is Record for the body of a function that is being traced.
func (g *Graph) recordBody(f func()) *Tape {
	before := len(g.published.all())
	f()
	return &Tape{g: g, ops: slices.Clone(g.published.all()[before:])}
}

// Gradients returns the gradients of sum(y) with respect to each x, dense,
// through what was recorded. It is an error if y does not depend on an x.
func (t *Tape) Gradients(y Output, xs ...Output) ([]Output, error) {
	return t.dense(GradientOptions{Ys: []Output{y}, Xs: xs})
}

func (t *Tape) dense(o GradientOptions) ([]Output, error) {
	o.tape = t
	gs, err := t.Differentiate(o)
	if err != nil {
		return nil, err
	}
	return denseAll(gs, &o)
}

// Differentiate is the general form of Gradients.
func (t *Tape) Differentiate(o GradientOptions) ([]Gradient, error) {
	switch {
	case t == nil:
		return nil, calling(Errorf(InvalidArgument, "gradients need a tape, got nil: make one by eager.Record"))
	case t.g == nil:
		return nil, calling(Errorf(InvalidArgument, "a tape needs a graph, got nil: make one by eager.New"))
	case !t.g.outermost().IsEager():
		return nil, calling(Errorf(InvalidArgument, "a tape records graphs that compute as operations are added, which eager.New makes, got one for sessions: tf.Gradients differentiates it"))
	}
	if len(o.Ys) > 0 && o.Ys[0].Graph() != t.g {
		return nil, calling(Errorf(InvalidArgument, "gradients on a tape need outputs of its graph, %v is of another", o.Ys[0]))
	}
	o.tape = t
	return Differentiate(o)
}

// StopRecording calls f; what f adds to an eager graph, or to a function of one, is not
// recorded, and counts as constant.
func (g *Graph) StopRecording(f func()) {
	if g == nil {
		f()
		return
	}
	if body := g.current(); body.functions.body != nil && body.outermost().IsEager() {
		for _, op := range body.recordBody(f).ops {
			if body.functions.constant == nil {
				body.functions.constant = map[*Operation]bool{}
			}
			body.functions.constant[op] = true
		}
		return
	}
	during(g, &g.eager.tapes, 0, f)
}

// Jacobian returns, for each x, the gradients of every element of y with
// respect to it, stacked: a tensor whose shape is that of y followed by that
// of x.
func (t *Tape) Jacobian(y Output, xs ...Output) ([]Output, error) {
	if err := y.Err(); err != nil {
		return nil, calling(err)
	}
	rows := make([][]Output, len(xs))
	for i := range y.Shape().NumElements() {
		gs, err := t.dense(GradientOptions{Ys: []Output{y}, Xs: xs, GradYs: []Output{unitLike(y, i)}})
		if err != nil {
			return nil, err
		}
		for k, g := range gs {
			rows[k] = append(rows[k], g)
		}
	}
	out := make([]Output, len(xs))
	for k, x := range xs {
		out[k] = stackRows(rows[k], y.Shape(), x)
		if err := out[k].Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unitLike returns a tensor like y that is one at element i, else zero.
func unitLike(y Output, i int) Output {
	n := y.Shape().NumElements()
	g := y.Graph()
	ints := func(v int) Output { return constant(g, core.Scalar(int32(v))) }
	value := func(v float64) Output {
		t, err := core.ScalarOf(y.DType(), v)
		if err != nil {
			return Failed(g, "Jacobian", err).Output(0)
		}
		return constant(g, t)
	}
	unit := Apply(g, "OneHot", []Output{ints(i), ints(n), value(1), value(0)}).Output(0)
	return Apply(g, "Reshape", []Output{unit, shapeVector(g, y.Shape())}).Output(0)
}

func shapeVector(g *Graph, s Shape) Output {
	return constant(g, core.Wrap(convertInts[int32](s), Shape{len(s)}))
}

// stackRows joins rows, one for each element of a tensor of shape outer. Their own shape
// is that of x or, if x is the handle of a variable, of its value. Without rows there is
// none but zeros like x.
func stackRows(rows []Output, outer Shape, x Output) Output {
	g := x.Graph()
	if len(rows) == 0 {
		row := zerosLike(x)
		if row.Err() != nil {
			return row
		}
		return constant(g, core.NewTensor(row.DType(), append(outer.Clone(), row.Shape()...)))
	}
	all := Apply(g, "Pack", rows).Output(0)
	return Apply(g, "Reshape", []Output{all, shapeVector(g, append(outer.Clone(), rows[0].Shape()...))}).Output(0)
}
