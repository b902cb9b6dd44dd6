package layers

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// plain computes the layer by single operations: for any axes, virtual batches
// and renormalization.
func (l *BatchNormLayer) plain(x tf.Output, m mode) tf.Output {
	d, in := x.DType(), x
	x = x.Cast(l.MovingMean.DType())
	axes := l.axes
	if l.o.VirtualBatch > 0 {
		x, axes = l.virtual(x)
	}
	s := statistics{l: l, m: m, rank: len(x.Shape()), axes: axes}
	if !l.o.NoScale {
		s.scale = s.broadcast(l.gamma.value())
	}
	if !l.o.NoCenter {
		s.offset = s.broadcast(l.beta.value())
	}
	mean, variance := l.MovingMean.Value(), l.MovingVariance.Value()
	if m.may() {
		s.adjust(x)
		mean, variance = s.ofBatch(x, mean, variance)
	}
	y := ops.BatchNormalization(x, s.broadcast(mean), s.broadcast(variance), s.offset, s.scale, l.o.Epsilon)
	if l.o.VirtualBatch > 0 {
		y = ops.Reshape(y, ops.Shape(in))
	}
	if y = y.Cast(d); y.Err() == nil {
		y.SetShape(in.Shape())
	}
	return y
}

// virtual returns x as [group groups ...], and which axes are not reduced.
func (l *BatchNormLayer) virtual(x tf.Output) (tf.Output, []int) {
	s := slices.Clone(x.Shape())
	n := -1
	if s[0] >= 0 {
		n = s[0] / l.o.VirtualBatch
	}
	rest := ops.Slice(ops.Shape(x), []int{1}, []int{-1})
	sizes := ops.ConcatV2([]tf.Output{author.AsInts(x, []int{l.o.VirtualBatch, -1}), rest}, ops.Scalar(x.Graph(), int32(0)))
	y := ops.Reshape(x, sizes)
	if y.Err() == nil {
		y.SetShape(append(tf.Shape{l.o.VirtualBatch, n}, s[1:]...))
	}
	axes := []int{}
	for _, a := range l.axes {
		axes = append(axes, a+1)
	}
	return y, axes
}

// statistics computes mean and variance of one application of a layer.
type statistics struct {
	l             *BatchNormLayer
	m             mode
	rank          int
	axes          []int     // of x, that are not reduced
	scale, offset tf.Output // zero Outputs where there is none
}

// broadcast gives a vector, which is for one axis, the rank of x.
func (s *statistics) broadcast(v tf.Output) tf.Output {
	if len(v.Shape()) == s.rank || s.axes[0] == s.rank-1 {
		return v
	}
	shape := spread(nil, s.rank)
	shape[s.axes[0]] = -1
	return ops.Reshape(v, shape)
}

// reduced returns the axes over which means are taken. Virtual batches are not
// reduced: axis 1 stays.
func (s *statistics) reduced() (out []int) {
	for i := range s.rank {
		if !slices.Contains(s.axes, i) && (i != 1 || s.l.o.VirtualBatch == 0) {
			out = append(out, i)
		}
	}
	return out
}

// ofBatch returns mean and variance of the batch, in steps that train, and adds
// the updates of the averages.
func (s *statistics) ofBatch(x, movingMean, movingVariance tf.Output) (mean, variance tf.Output) {
	keep := s.l.o.VirtualBatch > 0 || len(s.axes) > 1
	mean, variance = ops.Moments(x, s.reduced(), keep)
	mean, variance = s.m.either(mean, movingMean), s.m.either(variance, movingVariance)
	from := []*tf.Operation{mean.Operation(), variance.Operation()}
	newMean, newVariance := mean, variance
	if s.l.o.VirtualBatch > 0 {
		across := ops.ReduceOpts{KeepDims: true}
		newMean, newVariance = ops.Mean(mean, []int{1}, across), ops.Mean(variance, []int{1}, across)
	}
	if s.l.o.Renorm != nil {
		newMean, newVariance = s.renorm(newMean, newVariance, from)
	}
	s.update(newMean, newVariance, from)
	return mean, variance
}

// either is choose between tensors, of which one may have another shape.
func (m mode) either(train, infer tf.Output) tf.Output {
	y := m.choose(func() []tf.Output { return []tf.Output{ops.Identity(train)} }, func() []tf.Output { return []tf.Output{ops.Identity(infer)} })
	return y[0]
}

// update adds the updates of the averages.
func (s *statistics) update(mean, variance tf.Output, from []*tf.Operation) {
	l, momentum := s.l, s.l.o.Momentum
	vars.AddUpdate(l.move(l.MovingMean, mean, momentum, s.m), from...)
	if l.stddev == nil {
		vars.AddUpdate(l.move(l.MovingVariance, variance, momentum, s.m), from...)
		return
	}
	// Renormalization averages deviations; the variance follows from theirs.
	moved := l.move(l.stddev, ops.Sqrt(variance.Add(l.o.Epsilon)), momentum, s.m)
	g := l.stddev.Graph()
	g.ControlDependencies([]*tf.Operation{moved}, func() {
		next := ops.Relu(ops.Square(l.stddev.Read()).Sub(l.o.Epsilon))
		vars.AddUpdate(l.MovingVariance.Assign(s.m.pick(next, l.MovingVariance.Read())), from...)
	})
}

// renorm corrects a batch by the averages that come of earlier ones: scale and
// offset become those of the corrected batch. It returns mean and variance once
// the averages it has used are updated.
func (s *statistics) renorm(mean, variance tf.Output, from []*tf.Operation) (tf.Output, tf.Output) {
	l, o := s.l, s.l.o.Renorm
	deviation := ops.Sqrt(variance.Add(l.o.Epsilon))
	average := ops.Maximum(l.renormStddev.Value(), author.AsOperand(variance, l.o.Epsilon).Sqrt())
	r := deviation.Div(average)
	d := mean.Sub(l.renormMean.Value()).Div(average)
	read := []*tf.Operation{r.Operation(), d.Operation()} // before the averages are updated
	r, d = o.limit(r, d)
	r, d = ops.StopGradient(s.m.pick(r, ops.OnesLike(r))), ops.StopGradient(s.m.pick(d, ops.ZerosLike(d)))
	s.compose(s.broadcast(r), s.broadcast(d))
	g := mean.Graph()
	g.ControlDependencies(read, func() { mean, deviation = ops.Identity(mean), ops.Identity(deviation) })
	updates := []*tf.Operation{l.move(l.renormMean, mean, o.Momentum, s.m), l.move(l.renormStddev, deviation, o.Momentum, s.m)}
	for _, u := range updates {
		vars.AddUpdate(u, from...)
	}
	return mean, variance
}

// limit bounds the correction.
func (o *RenormOpts) limit(r, d tf.Output) (tf.Output, tf.Output) {
	if o.RMin != 0 {
		r = r.Maximum(o.RMin)
	}
	if o.RMax != 0 {
		r = r.Minimum(o.RMax)
	}
	if o.DMax != 0 {
		d = d.Maximum(-o.DMax).Minimum(o.DMax)
	}
	return r, d
}

// adjust puts what the program asks for before scale and offset, in steps that
// train.
func (s *statistics) adjust(x tf.Output) {
	if s.l.o.Adjustment == nil {
		return
	}
	r, d := s.l.o.Adjustment(ops.Shape(x))
	s.compose(s.m.pick(r, ops.OnesLike(r)), s.m.pick(d, ops.ZerosLike(d)))
}

// compose puts a correction before scale and offset: (x·r + d)·scale + offset.
func (s *statistics) compose(r, d tf.Output) {
	if !s.scale.IsZero() {
		r, d = r.Mul(s.scale), d.Mul(s.scale)
	}
	if !s.offset.IsZero() {
		d = d.Add(s.offset)
	}
	s.scale, s.offset = r, d
}
