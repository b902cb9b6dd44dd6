package layers

import (
	"cmp"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// DropoutOpts are what may be chosen for Dropout.
type DropoutOpts struct {
	// NoiseShape has 1 for dimensions along which elements are dropped together,
	// and -1 or the size for the others; nil drops each for itself.
	NoiseShape []int
	// If, a scalar of type bool, says in which steps elements are dropped; the
	// zero Output stands for all.
	If   tf.Output
	Seed int64 // 0: the graph's alone
	Name string
}

// Dropout returns x with a random share rate of its elements set to 0 and the
// others multiplied by 1/(1-rate), so that sums stay about the same (Srivastava
// et al., JMLR 2014). It is for training: apply a model without it to predict,
// or set If.
func Dropout(x tf.Output, rate float64, o ...DropoutOpts) (y tf.Output) {
	if err := x.Err(); err != nil {
		return x
	}
	var opt DropoutOpts
	if len(o) > 0 {
		opt = o[0]
	}
	if err := opt.check(x, rate); err != nil {
		return refuse(x, "Dropout", err)
	}
	m := mode{known: true, trains: true}
	if !opt.If.IsZero() {
		m = modeOf(opt.If)
	}
	x.Graph().Scope(cmp.Or(opt.Name, "dropout"), func() {
		y = m.choose(
			func() []tf.Output { return []tf.Output{opt.drop(x, rate)} },
			func() []tf.Output { return []tf.Output{ops.Identity(x)} })[0]
	})
	if y.Err() == nil {
		y.SetShape(x.Shape())
	}
	return y
}

func (o *DropoutOpts) check(x tf.Output, rate float64) error {
	if !(rate >= 0 && rate < 1) {
		return tf.Errorf(tf.InvalidArgument, "rate must be at least 0 and less than 1, got %v", rate)
	}
	if !x.DType().IsFloat() {
		return tf.Errorf(tf.InvalidArgument, "x has to be a floating point tensor since it's going to be scaled. Got a %v tensor instead.", x.DType())
	}
	if o.NoiseShape != nil && x.Shape() != nil && len(o.NoiseShape) != len(x.Shape()) {
		return tf.Errorf(tf.InvalidArgument, "a noise shape must have as many dimensions as the input %v, got %v", x.Shape(), o.NoiseShape)
	}
	return nil
}

// drop is Dropout in training.
func (o *DropoutOpts) drop(x tf.Output, rate float64) tf.Output {
	g := x.Graph()
	opts := []tf.Option{tf.Name("random_uniform/RandomUniform")}
	if o.Seed != 0 {
		opts = append(opts, ops.Seed(o.Seed))
	}
	u := ops.RandomUniform(nil, o.noise(x), x.DType(), opts...)
	keep := ops.GreaterEqual(u, scalar(g, x.DType(), rate))
	return ops.SelectV2(keep, ops.Mul(x, scalar(g, x.DType(), 1/(1-rate))), scalar(g, x.DType(), 0))
}

// noise returns the shape in which random numbers are drawn.
func (o *DropoutOpts) noise(x tf.Output) tf.Output {
	if o.NoiseShape == nil {
		return ops.Shape(x)
	}
	parts := make([]tf.Output, len(o.NoiseShape))
	for i, n := range o.NoiseShape {
		if parts[i] = ops.Scalar(x.Graph(), int32(n)); n < 0 {
			parts[i] = ops.Shape(x).At("?", ops.Scalar(x.Graph(), int32(i)))
		}
	}
	return ops.Stack(parts, 0)
}

func scalar(g *tf.Graph, d tf.DType, x float64) tf.Output {
	t, err := core.ScalarOf(d, x)
	if err != nil {
		return tf.Failed(g, "Const", err).Output(0)
	}
	return ops.ConstValue(g, t)
}
