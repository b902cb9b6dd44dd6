package data

import (
	"context"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A GraphFunc calls a function of a graph in a session, for elements of datasets:
// its Call is a [Func]. It lives as long as the session.
type GraphFunc struct {
	call   *session.Callable
	types  []tf.DType
	shapes []tf.Shape
}

// NewGraphFunc prepares calls of f in s, a session of the graph that f is of.
// What f uses from around it, variables too, is the session's.
func NewGraphFunc(s *session.Session, f *tf.Function) (*GraphFunc, error) {
	if s == nil || f == nil {
		return nil, author.Called(tf.Errorf(tf.InvalidArgument, "a function of a graph needs a session and the function, got nil"))
	}
	if err := f.Err(); err != nil {
		return nil, err
	}
	g := &GraphFunc{}
	var args []tf.Output
	for _, x := range f.Args() {
		args = append(args, ops.Placeholder(s.Graph(), x.DType(), x.Shape()))
	}
	var fetches []tf.Fetchable
	for _, y := range f.Call(args) {
		if err := y.Err(); err != nil {
			return nil, err
		}
		g.types, g.shapes = append(g.types, y.DType()), append(g.shapes, y.Shape())
		fetches = append(fetches, y)
	}
	var err error
	if g.call, err = s.MakeCallable(args, fetches...); err != nil {
		return nil, author.Called(err)
	}
	return g, nil
}

// Call computes the function of an element.
func (g *GraphFunc) Call(ctx context.Context, in []*tf.Tensor) ([]*tf.Tensor, error) {
	return g.call.Run(ctx, in...)
}

// MapGraph is Map by a function of a graph, with up to calls calls at once, one
// after the other if calls is 1. The elements come in order.
func (d *Dataset) MapGraph(f *GraphFunc, calls int) *Dataset {
	if f == nil {
		return noFunction()
	}
	return d.with(func(in dataset.Dataset) (dataset.Dataset, error) {
		switch calls {
		case 0:
			return nil, tf.Errorf(tf.InvalidArgument, "num_parallel_calls must be greater than zero. Got 0.")
		case 1:
			return dataset.Map(in, called(f.inside), specOf(f.types, f.shapes), true), nil
		}
		return dataset.ParallelMap(in, called(f.inside), specOf(f.types, f.shapes), true, int64(calls), true), nil
	})
}

// inside is Call for tensors of the engine's: no program sees them, so nothing
// has to be copied.
func (g *GraphFunc) inside(ctx context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
	args := make([]*tf.Tensor, len(in))
	for i, t := range in {
		args[i] = (*tf.Tensor)(t.GiveAway())
	}
	got, err := g.call.Run(ctx, args...)
	if err != nil {
		return nil, err
	}
	out := make([]*core.Tensor, len(got))
	for i, t := range got {
		out[i] = (*core.Tensor)(t)
	}
	return out, nil
}

// FilterGraph returns the elements for which a function of a graph returns true.
func (d *Dataset) FilterGraph(f *GraphFunc) *Dataset {
	if f == nil {
		return noFunction()
	}
	if d.Err() == nil && (len(f.types) != 1 || f.types[0] != tf.Bool) {
		return result(nil, tf.Errorf(tf.InvalidArgument, "Filter `predicate` must return a scalar bool, got types %v", f.types))
	}
	return d.Filter(func(ctx context.Context, in []*tf.Tensor) (bool, error) {
		out, err := f.Call(ctx, in)
		if err != nil {
			return false, err
		}
		if out[0].Len() != 1 {
			return false, tf.Errorf(tf.InvalidArgument, "Filter `predicate` must return a scalar bool, got shape %v", out[0].Shape())
		}
		return tf.Data[bool](out[0])[0], nil
	})
}
