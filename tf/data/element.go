package data

import (
	"context"

	"github.com/gorge-tf/gorge/internal/dataset"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// leave returns copies of the components of an element for a program, which may
// do with them what it likes: datasets share components among elements (a
// cache, rows of one tensor) without counting references.
func leave(e []*core.Tensor) []*tf.Tensor { return each(e, (*core.Tensor).Clone) }

// each returns what f makes of each component.
func each(e []*core.Tensor, f func(*core.Tensor) *core.Tensor) []*tf.Tensor {
	if e == nil {
		return nil
	}
	out := make([]*tf.Tensor, len(e))
	for i, t := range e {
		out[i] = (*tf.Tensor)(f(t))
	}
	return out
}

// enter returns what a dataset keeps of a program's tensors: copies, unless the
// program has given them away.
func enter(ts []*tf.Tensor) ([]*core.Tensor, error) {
	out := make([]*core.Tensor, len(ts))
	for i, t := range ts {
		if t == nil {
			return nil, tf.Errorf(tf.InvalidArgument, "the components of an element must be tensors, component %d is nil", i)
		}
		out[i] = (*core.Tensor)(t).Enter()
	}
	return out, nil
}

// inside makes a function of a program's one of the engine's.
func inside(f Func) dataset.Func {
	return func(ctx context.Context, in []*core.Tensor) ([]*core.Tensor, error) {
		out, err := f(ctx, leave(in))
		if err != nil {
			return nil, err
		}
		return enter(out)
	}
}
