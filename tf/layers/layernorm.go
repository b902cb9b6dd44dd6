package layers

import (
	"cmp"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// LayerNormOpts are what may be chosen for a LayerNormLayer.
type LayerNormOpts struct {
	Axes                              []int   // over which each example is normalized; nil stands for the last one
	Epsilon                           float64 // added to variances; 0 stands for 0.001
	NoCenter                          bool    // no Beta
	NoScale                           bool    // no Gamma
	BetaInitializer, GammaInitializer initializers.Initializer
	BetaRegularizer, GammaRegularizer vars.Regularizer
	BetaConstraint, GammaConstraint   vars.Constraint
	NotTrainable                      bool
	Name                              string
	Reuse                             vars.Reuse
}

// A LayerNormLayer makes the mean of each example's features 0 and their
// variance 1, then scales and shifts each of them by Gamma and Beta (Ba, Kiros
// and Hinton, arXiv:1607.06450).
type LayerNormLayer struct {
	layer
	Gamma, Beta *tf.Variable // nil before the layer is built, or if they are not wanted
	gamma, beta weight
	axes        []int
	features    tf.Shape // of Gamma and Beta
	o           LayerNormOpts
}

// NewLayerNorm returns a layer. Its variables are layer_normalization/gamma and
// beta, in the shape of the axes.
func NewLayerNorm(opts ...LayerNormOpts) *LayerNormLayer {
	l := &LayerNormLayer{}
	if len(opts) > 0 {
		l.o = opts[0]
	}
	l.o.Epsilon = cmp.Or(l.o.Epsilon, 0.001)
	l.self = l
	l.settings = settings{kind: "layer_normalization", name: l.o.Name, reuse: l.o.Reuse, frozen: l.o.NotTrainable}
	return l
}

// LayerNorm adds a layer that normalizes each example of x.
func LayerNorm(x tf.Output, o ...LayerNormOpts) tf.Output { return NewLayerNorm(o...).once(x) }

func (l *LayerNormLayer) accept(in input) error {
	if len(in.shape) == 0 || !in.dtype.IsFloat() {
		return tf.Errorf(tf.InvalidArgument, "layer normalization needs an input of floating-point numbers whose rank is known, got %v", in)
	}
	axes, err := axesOf(l.o.Axes, len(in.shape))
	if err != nil {
		return err
	}
	for i, a := range axes {
		if in.shape[a] < 0 {
			return tf.Errorf(tf.InvalidArgument, "layer normalization needs known sizes of the axes %v, got %v", axes, in)
		}
		if l.built && len(l.all) > 0 && l.features[i] != in.shape[a] {
			return tf.Errorf(tf.InvalidArgument, "Input of layer %q is incompatible with the layer: it was built for features %v, but received %v", l.Name(), l.features, in)
		}
	}
	return nil
}

func (l *LayerNormLayer) build(in input) {
	l.axes, _ = axesOf(l.o.Axes, len(in.shape)) // accept has checked them
	s := tf.Shape{}
	for _, a := range l.axes {
		s = append(s, in.shape[a])
	}
	l.features = s
	if !l.o.NoScale {
		l.gamma = l.weight(in, "gamma", s, weightOpts{init: or(l.o.GammaInitializer, initializers.Ones), reg: l.o.GammaRegularizer, constraint: l.o.GammaConstraint})
		l.Gamma = l.gamma.variable
	}
	if !l.o.NoCenter {
		l.beta = l.weight(in, "beta", s, weightOpts{init: or(l.o.BetaInitializer, initializers.Zeros), reg: l.o.BetaRegularizer, constraint: l.o.BetaConstraint})
		l.Beta = l.beta.variable
	}
}

func (l *LayerNormLayer) call(x tf.Output) tf.Output {
	l.axes, _ = axesOf(l.o.Axes, len(x.Shape())) // of this rank, which may be another one
	mean, variance := ops.Moments(x, l.axes, true)
	var scale, offset tf.Output
	if !l.o.NoScale {
		scale = l.broadcast(x, l.gamma.value())
	}
	if !l.o.NoCenter {
		offset = l.broadcast(x, l.beta.value())
	}
	return ops.BatchNormalization(x, mean, variance, offset, scale, l.o.Epsilon)
}

// broadcast gives a parameter the rank of x.
func (l *LayerNormLayer) broadcast(x, v tf.Output) tf.Output {
	rank := len(x.Shape())
	if slices.Equal(l.axes, []int{rank - 1}) {
		return v
	}
	shape := spread(nil, rank)
	for i, a := range l.axes {
		shape[a] = v.Shape()[i]
	}
	return ops.Reshape(v, shape)
}
