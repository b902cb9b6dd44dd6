package tf

import (
	"cmp"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

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

// err returns why g could not be computed, if so.
func (g Gradient) err() error {
	switch {
	case g.IsZero():
		return nil
	case g.sparse == nil:
		return g.dense.Err()
	}
	return cmp.Or(g.sparse.Values.Err(), g.sparse.Indices.Err(), g.sparse.DenseShape.Err())
}

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
	zero := constant(g, core.Scalar(int32(0)))
	return Apply(g, "GatherV2", []Output{x, zero, zero}).Output(0)
}

func constant(g *Graph, t *core.Tensor) Output {
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
	// Colocate puts what computes the gradients of an operation where that is.
	Colocate bool
	// Gate makes gradients of one operation wait for all of its gradients.
	Gate bool
	// Aggregation says how gradients that come by several ways are added.
	Aggregation Aggregation

	tape *Tape // through which gradients flow, in an eager graph
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

// aboutNone says why no gradient may come to x: it is one of several reads of a
// variable, as Value of an eager graph's makes them, or the tape lacks something.
func (o *GradientOptions) aboutNone(x Output) string {
	switch {
	case x.Err() == nil && x.op.Def.Has(core.ReadsVariable):
		return "; gradients by all that was read of a variable are those by its Handle"
	case o.tape != nil:
		return " that was recorded: what is computed outside of the function of eager.Record counts as constant"
	}
	return ""
}

func denseAll(gs []Gradient, o *GradientOptions) ([]Output, error) {
	out := make([]Output, len(gs))
	for i, g := range gs {
		if g.IsZero() {
			return nil, Errorf(InvalidArgument, "Gradients: %v does not depend on %v by a differentiable path%s", o.Ys[0], o.Xs[i], o.aboutNone(o.Xs[i]))
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
//
// In the body of a function an x may be of a graph around, such as the handle of a variable:
// gradients come to what stands for it, none if the body does not use it.
func Differentiate(o GradientOptions) ([]Gradient, error) {
	if which := o.captured(); which != nil {
		return o.ofCaptured(which)
	}
	if err := o.check(); err != nil {
		return nil, calling(err)
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
	g.held(func() {
		g.reaching(func() { g.Scope(o.Name, func() { out, err = newBackprop(g, &o).run() }) })
	})
	if err == nil {
		err = g.Err()
	}
	return out, err
}

// captured returns, for each x of a graph around that of ys, what stands for it there, the
// zero Output if nothing does; nil if all xs are of the graph of ys.
func (o *GradientOptions) captured() map[Output]Output {
	if len(o.Ys) == 0 || o.Ys[0].Graph() == nil {
		return nil
	}
	var out map[Output]Output
	for _, x := range o.Xs {
		if g := x.Graph(); x.Err() != nil || !g.encloses(o.Ys[0].Graph()) {
			continue
		}
		if out == nil {
			out = map[Output]Output{}
		}
		out[x] = o.Ys[0].Graph().standsFor(x)
	}
	return out
}

// ofCaptured is Differentiate where some xs are of graphs around.
func (o GradientOptions) ofCaptured(stands map[Output]Output) ([]Gradient, error) {
	var xs []Output
	var at []int
	for i, x := range o.Xs {
		y, captured := stands[x]
		if !captured {
			y = x
		}
		if !y.IsZero() {
			xs, at = append(xs, y), append(at, i)
		}
	}
	out := make([]Gradient, len(o.Xs))
	for i, x := range o.Xs {
		if y, captured := stands[x]; captured && y.IsZero() && o.ZeroUnconnected {
			out[i] = Dense(zerosLike(x))
		}
	}
	o.Xs = xs
	gs, err := Differentiate(o)
	for k, g := range gs {
		out[at[k]] = g
	}
	return out, err
}

// standsFor returns what stands in g for x of a graph around, the zero Output if nothing
// does.
func (g *Graph) standsFor(x Output) Output {
	if g == x.op.g {
		return x
	}
	f := g.functions.body
	if y := f.outer.standsFor(x); !y.IsZero() {
		return f.inside[y]
	}
	return Output{}
}

func newBackprop(g *Graph, o *GradientOptions) *backprop {
	return &backprop{
		g: g, o: o, sums: map[Output]*gradientSum{}, stop: map[*Operation]bool{}, history: o.history(),
		pending: map[*Operation]int{}, between: map[*Operation]bool{},
	}
}

// history returns the operations through which gradients can flow, in order.
func (o *GradientOptions) history() []*Operation {
	g := o.Ys[0].Graph()
	ops := g.published.all()
	if o.tape != nil {
		ops = o.tape.ops
	}
	if constant := g.functions.constant; len(constant) > 0 {
		ops = slices.DeleteFunc(slices.Clone(ops), func(op *Operation) bool { return constant[op] })
	}
	return ops
}

func (o *GradientOptions) check() error {
	if len(o.Ys) == 0 {
		return Errorf(InvalidArgument, "gradients need at least one y")
	}
	if g := o.Ys[0].Graph(); g != nil && g.IsEager() && o.tape == nil {
		return Errorf(FailedPrecondition, "gradients in an eager graph need a tape: eager.Record returns one")
	}
	for _, list := range [][]Output{o.Ys, o.Xs, o.Stop} {
		for _, x := range list {
			if err := x.Err(); err != nil {
				return err
			}
			if err := x.Graph().scope.flow.reach(x.op, cmp.Or(o.Name, "gradients"), "input"); err != nil && o.tape == nil {
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
