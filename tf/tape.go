package tf

import "slices"

// A Tape is what an eager graph has recorded: the operations through which
// gradients can be taken. It holds their values until it is dropped.
type Tape struct {
	g   *Graph
	ops []*Operation
}

// record keeps what a tape needs to know of o; without a tape o forgets its
// inputs, so that a long eager computation holds no chain of values.
func (o *Operation) record() {
	if o.g.tapes == 0 {
		o.in = nil
		return
	}
	o.in = slices.Clone(o.in) // the list is the caller's
	o.g.taped = append(o.g.taped, o)
}

// Record calls f and returns a tape of the operations that f added to an eager
// graph. Recordings may be nested.
func (g *Graph) Record(f func()) *Tape {
	start := len(g.taped)
	g.tapes++
	defer func() {
		if g.tapes--; g.tapes == 0 {
			g.taped = nil
		}
	}()
	f()
	return &Tape{g: g, ops: g.taped[start:len(g.taped):len(g.taped)]}
}

// Gradients returns the gradients of sum(y) with respect to each x, dense,
// through what was recorded. It is an error if y does not depend on an x.
func (t *Tape) Gradients(y Output, xs ...Output) ([]Output, error) {
	return t.dense(GradientOptions{Ys: []Output{y}, Xs: xs})
}

func (t *Tape) dense(o GradientOptions) ([]Output, error) {
	gs, err := t.Differentiate(o)
	if err != nil {
		return nil, err
	}
	return denseAll(gs, &o)
}

// Differentiate is the general form of Gradients.
func (t *Tape) Differentiate(o GradientOptions) ([]Gradient, error) {
	if len(o.Ys) > 0 && o.Ys[0].Graph() != t.g {
		return nil, Errorf(InvalidArgument, "gradients on a tape need outputs of its graph, %v is of another", o.Ys[0])
	}
	o.tape = t
	return Differentiate(o)
}
