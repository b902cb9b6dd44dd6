package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A regionScatter is a scatter operation by a region that no op of TensorFlow's scatters
// by. Its operands are updated together.
type regionScatter struct {
	l    *lowering
	op   *stablehlo.Op
	to   []targets
	part size // the number of vectors of indices
}

// scatterByRegion applies the region to elements and their updates. Two updates may be of
// one element, so that the windows take turns, unless the operation says that there are
// no such ones.
func (l *lowering) scatterByRegion(op *stablehlo.Op, all []*scattering, in []tf.Output) ([]tf.Output, error) {
	n := len(all)
	b := region(op, 0)
	if b == nil || len(b.Args) != 2*n {
		return nil, refused(op, "its region must have two arguments for each operand")
	}
	if all[0].isEmpty() {
		return in[:n], nil
	}
	r := &regionScatter{l: l, op: op, to: make([]targets, n), part: product(all[0].batch)}
	for i, s := range all {
		r.to[i] = s.targets(in[i], in[n+1+i])
		r.to[i].at, r.to[i].updates = r.merged(r.to[i].at, s.batch), r.merged(r.to[i].updates, s.batch)
	}
	rd := reading{op: op}
	unique := rd.flag("unique_indices")
	if rd.err != nil {
		return nil, rd.err
	}
	ys, err := r.run(unique || r.part.is(1))
	if err != nil {
		return nil, err
	}
	out := make([]tf.Output, n)
	for i, y := range ys {
		out[i] = r.to[i].result(y)
	}
	return out, nil
}

// merged makes one dimension of those of the vectors of indices.
func (r *regionScatter) merged(x tf.Output, batch []size) tf.Output {
	if len(batch) == 1 {
		return x
	}
	return r.l.reshape(x, append([]size{r.part}, r.l.sizes(x)[len(batch):]...))
}

func (r *regionScatter) run(atOnce bool) ([]tf.Output, error) {
	xs := make([]tf.Output, len(r.to))
	for i, t := range r.to {
		xs[i] = t.x
	}
	if atOnce {
		return r.step(xs, func(x tf.Output) tf.Output { return x })
	}
	return r.loop(xs)
}

// loop updates one window after the other.
func (r *regionScatter) loop(xs []tf.Output) ([]tf.Output, error) {
	g := r.l.g
	end := r.part.in(g)
	shapes := []tf.Shape{{}}
	for _, x := range xs {
		shapes = append(shapes, x.Shape())
	}
	var failed error
	out := tf.While(append([]tf.Output{ops.Scalar(g, int32(0))}, xs...),
		func(v []tf.Output) tf.Output { return ops.Less(v[0], end) },
		func(v []tf.Output) []tf.Output {
			ys, err := r.turn(v[0], v[1:])
			if err != nil {
				failed = err
				return []tf.Output{tf.Failed(g, r.op.Name, err).Output(0)}
			}
			return append([]tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1)))}, ys...)
		},
		tf.WhileOpts{NoBackProp: true, ShapeInvariants: shapes})
	if failed != nil {
		return nil, failed
	}
	return out[1:], nil
}

// turn updates window i.
func (r *regionScatter) turn(i tf.Output, xs []tf.Output) (ys []tf.Output, err error) {
	from := ops.Reshape(i, []int{1})
	err = r.l.within(func() (err error) {
		ys, err = r.step(xs, func(x tf.Output) tf.Output { return ops.Gather(x, from, 0) })
		ys = r.l.awaited(ys)
		return err
	})
	return ys, err
}

// step updates those windows that pick takes.
func (r *regionScatter) step(xs []tf.Output, pick func(tf.Output) tf.Output) ([]tf.Output, error) {
	n := len(xs)
	at, args := make([]tf.Output, n), make([]tf.Output, 2*n)
	for i, t := range r.to {
		at[i] = pick(t.at)
		args[i] = ops.GatherNd(xs[i], at[i], ops.BadIndicesOpts{Policy: "IGNORE"}, open)
		args[n+i] = pick(t.updates)
	}
	new, err := r.l.loosely(r.op, region(r.op, 0), args)
	if err == nil && len(new) != n {
		err = refused(r.op, "its region must return %d values, got %d", n, len(new))
	}
	if err != nil {
		return nil, err
	}
	ys := make([]tf.Output, n)
	for i, y := range new {
		if y.DType() != xs[i].DType() {
			return nil, refused(r.op, "its region must return elements of type %v, got %v", xs[i].DType(), y.DType())
		}
		y = ops.BroadcastTo(y, ops.Shape(args[n+i])) // it may not depend on elements
		ys[i] = ops.TensorScatterUpdate(xs[i], at[i], y, ops.BadIndicesOpts{Policy: "IGNORE"}, open)
	}
	return ys, nil
}
