package layers

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// fusible reports whether one operation computes the layer: on images whose
// channels come last or second.
func (l *BatchNormLayer) fusible(x tf.Output) bool {
	o, rank := &l.o, len(x.Shape())
	if o.Unfused || o.Renorm != nil || o.Adjustment != nil || o.VirtualBatch > 0 || len(l.axes) != 1 || l.MovingMean.DType() != tf.Float32 {
		return false
	}
	return (rank == 4 || rank == 5) && (l.axes[0] == rank-1 || l.axes[0] == 1)
}

// fused computes the layer by one operation, which gives the statistics of the
// batch as well.
func (l *BatchNormLayer) fused(x tf.Output, m mode) tf.Output {
	var of []*tf.Operation
	compute := func(training bool, mean, variance tf.Output) []tf.Output {
		op := tf.Apply(nil, "FusedBatchNormV3", []tf.Output{x, l.scale(), l.offset(), mean, variance},
			tf.Attr("epsilon", l.o.Epsilon), tf.Attr("is_training", training), tf.Attr("data_format", l.format(x)))
		of = append(of, op)
		return []tf.Output{op.Output(0), op.Output(1), op.Output(2)}
	}
	none := func() tf.Output { return ops.Const(x.Graph(), []float32{}) }
	out := m.choose(
		func() []tf.Output { return compute(true, none(), none()) },
		func() []tf.Output { return compute(false, l.MovingMean.Value(), l.MovingVariance.Value()) })
	if out[0].Err() != nil || !m.may() {
		return out[0]
	}
	of = append(of, out[0].Operation())
	for _, u := range []*tf.Operation{l.move(l.MovingMean, out[1], l.o.Momentum, m), l.move(l.MovingVariance, out[2], l.o.Momentum, m)} {
		vars.AddUpdate(u, of...)
	}
	return out[0]
}

// format says where the channels of x are.
func (l *BatchNormLayer) format(x tf.Output) string {
	a := area{rank: len(x.Shape()) - 2, channelsFirst: l.axes[0] == 1}
	return a.format()
}

// scale returns Gamma, or ones.
func (l *BatchNormLayer) scale() tf.Output {
	if l.o.NoScale {
		return ops.OnesLike(l.MovingMean.Value())
	}
	return l.gamma.value()
}

// offset returns Beta, or zeros.
func (l *BatchNormLayer) offset() tf.Output {
	if l.o.NoCenter {
		return ops.ZerosLike(l.MovingMean.Value())
	}
	return l.beta.value()
}
