package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
)

// Jacobian adds, for each x, the gradients of every element of y with respect
// to it: a tensor whose shape is that of y followed by that of x. A loop
// computes them one element of y after the other. It fails as tf.Gradients
// does: with INVALID_ARGUMENT if y does not depend on an x. An error that y
// carries is returned.
func Jacobian(y tf.Output, xs ...tf.Output) ([]tf.Output, error) {
	g := y.Graph()
	if err := y.Err(); err != nil {
		return nil, err
	}
	var out []tf.Output
	var err error
	g.Scope("gradients_jacobian", func() {
		var like []tf.Output
		if like, err = gradientsLike(y, xs); err != nil {
			return
		}
		flat := Reshape(y, intVec(y, tf.Int32, -1))
		rows := rowsByLoop(Size(y), types(like), func(i tf.Output) ([]tf.Output, error) {
			return tf.Gradients(rowsOf(flat, i), xs...)
		}, &err)
		if err == nil && len(rows) < len(xs) {
			err = rows[0].Err()
		}
		for k, x := range like {
			if err == nil {
				out = append(out, shaped(rows[k], y, x))
			}
		}
	})
	return out, firstError(err, out)
}

// Hessians adds, for each x, the second derivatives of y, a scalar, with
// respect to it: a tensor whose shape is that of x twice. It fails as
// tf.Gradients does, with INVALID_ARGUMENT if y, or its gradient, does not
// depend on an x.
func Hessians(y tf.Output, xs ...tf.Output) ([]tf.Output, error) {
	gs, err := tf.Gradients(y, xs...)
	if err != nil {
		return nil, err
	}
	out := make([]tf.Output, len(xs))
	for k, x := range xs {
		j, err := Jacobian(gs[k], x)
		if err != nil {
			return nil, err
		}
		out[k] = j[0]
	}
	return out, nil
}

// gradientsLike returns values of the types and shapes of the gradients by xs: that by the handle
// of a variable is like the variable's value.
func gradientsLike(y tf.Output, xs []tf.Output) ([]tf.Output, error) {
	like := slices.Clone(xs)
	for i, x := range xs {
		if x.DType() != tf.Resource {
			continue
		}
		g, err := tf.Gradients(y, x)
		if err != nil {
			return nil, err
		}
		like[i] = g[0]
	}
	return like, nil
}

func types(xs []tf.Output) []tf.DType {
	out := make([]tf.DType, len(xs))
	for i, x := range xs {
		out[i] = x.DType().Base()
	}
	return out
}

// rowsByLoop returns what row returns for 0 to n, stacked.
func rowsByLoop(n tf.Output, types []tf.DType, row func(i tf.Output) ([]tf.Output, error), failed *error) []tf.Output {
	m := &rowLoop{name: "loop", n: n, static: -1}
	results := m.arrays(types)
	m.loop(flows(results), func(i tf.Output, flow []tf.Output) []tf.Output {
		ys, err := row(i)
		if err != nil {
			*failed = err
			return flow
		}
		return m.write(results, flow, i, ys)
	})
	return m.stack(results)
}

// shaped gives rows, which has a row for each element of y, its final shape.
func shaped(rows, y, x tf.Output) tf.Output {
	if s, t := y.Shape(), x.Shape(); s.Known() && t.Known() {
		return Reshape(rows, intVec(y, tf.Int32, append(s.Clone(), t...)...))
	}
	return Reshape(rows, ConcatV2([]tf.Output{Shape(y), Shape(x)}, intScalar(y, tf.Int32, 0)))
}

func firstError(err error, xs []tf.Output) error {
	for _, x := range xs {
		if err == nil {
			err = x.Err()
		}
	}
	return err
}
