package layers

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// UpdateOps is TensorFlow's collection of what has to run beside each step of
// training: see [BatchNormLayer].
const UpdateOps = "update_ops"

// A BatchNormLayer makes the mean of each channel over a batch 0 and its
// variance 1, then scales and shifts it by Gamma and Beta (Ioffe and Szegedy,
// ICML 2015). Out of training it uses averages over the batches that it has
// seen: MovingMean and MovingVariance.
type BatchNormLayer struct {
	Gamma, Beta                *tf.Variable
	MovingMean, MovingVariance *tf.Variable
	name                       string
	momentum, epsilon          float64
}

// BatchNormOpts are what may be chosen for a BatchNormLayer.
type BatchNormOpts struct {
	Momentum float64 // share of the old average that a step keeps; 0 stands for 0.99
	Epsilon  float64 // added to variances; 0 stands for 0.001
}

// NewBatchNorm adds the variables of a layer over a number of channels, all
// [channels]. Names are TensorFlow's: batch_normalization/gamma and so on.
func NewBatchNorm(g *tf.Graph, channels int, o BatchNormOpts) *BatchNormLayer {
	l := &BatchNormLayer{momentum: cmp.Or(o.Momentum, 0.99), epsilon: cmp.Or(o.Epsilon, 0.001)}
	g.Scope("batch_normalization", func() {
		l.name = g.CurrentScope()
		l.Gamma = channelVariable(g, "gamma", 1, channels, true)
		l.Beta = channelVariable(g, "beta", 0, channels, true)
		l.MovingMean = channelVariable(g, "moving_mean", 0, channels, false)
		l.MovingVariance = channelVariable(g, "moving_variance", 1, channels, false)
	})
	return l
}

func channelVariable(g *tf.Graph, name string, value float64, channels int, trained bool) *tf.Variable {
	initial := make([]float32, channels)
	for i := range initial {
		initial[i] = float32(value)
	}
	var x tf.Output
	g.Scope(name+"/Initializer", func() { x = ops.Const(g, initial, channels) })
	return tf.NewVariable(x, tf.VariableOptions{Name: name, NotTrainable: !trained})
}

// Apply adds what computes the layer on x, whose last dimension are the
// channels: [n channels] or [n height width channels], of type float32. In
// training the updates of the averages join the collection [UpdateOps] of a
// graph, to be run with each step (see [Updates]); an eager graph does them at
// once.
func (l *BatchNormLayer) Apply(x tf.Output, training bool) (y tf.Output) {
	g := l.Gamma.Graph()
	g.Scope(l.name, func() {
		images := x
		if len(x.Shape()) == 2 { // the fused operation wants images: of one pixel
			images = ops.ExpandDims(ops.ExpandDims(x, ops.Scalar(g, int32(1))), ops.Scalar(g, int32(1)))
		}
		y = l.fused(g, images, training)
		if len(x.Shape()) == 2 {
			y = ops.Squeeze(y, []int{1, 2})
		}
	})
	return y
}

func (l *BatchNormLayer) fused(g *tf.Graph, x tf.Output, training bool) tf.Output {
	mean, variance := l.MovingMean.Value, l.MovingVariance.Value
	if training {
		none := func() tf.Output { return ops.Const(g, []float32{}) }
		mean, variance = none, none
	}
	op := tf.Apply(nil, "FusedBatchNormV3", []tf.Output{x, l.Gamma.Value(), l.Beta.Value(), mean(), variance()},
		tf.Attr("epsilon", l.epsilon), tf.Attr("is_training", training))
	if training {
		l.move(g, l.MovingMean, op.Output(1))
		l.move(g, l.MovingVariance, op.Output(2))
	}
	return op.Output(0)
}

// move brings an average nearer to what a batch has.
func (l *BatchNormLayer) move(g *tf.Graph, average *tf.Variable, batch tf.Output) {
	step := ops.Mul(ops.Sub(average.Read(), batch), ops.Scalar(g, float32(1-l.momentum)))
	update := average.AssignSub(step)
	if !g.IsEager() {
		g.AddToCollection(UpdateOps, update)
	}
}

// Updates groups what has to run beside each step of training.
func Updates(g *tf.Graph) *tf.Operation {
	var all []*tf.Operation
	for _, v := range g.Collection(UpdateOps) {
		if op, ok := v.(*tf.Operation); ok {
			all = append(all, op)
		}
	}
	return tf.Group(g, "updates", all...)
}
