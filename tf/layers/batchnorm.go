package layers

import (
	"cmp"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/vars"
)

// UpdateOps is TensorFlow's collection of what has to run beside each step of
// training: see [BatchNormLayer].
const UpdateOps = vars.UpdateOps

// BatchNormOpts are what may be chosen for a BatchNormLayer. What is left zero
// is as the variable scope says, or TensorFlow's default.
type BatchNormOpts struct {
	Axes     []int   // of which each position is normalized for itself; nil stands for the last one, the channels
	Momentum float64 // share of the old average that a step keeps; 0 stands for 0.99
	Epsilon  float64 // added to variances; 0 stands for 0.001
	NoCenter bool    // no Beta
	NoScale  bool    // no Gamma
	// Unfused computes images by single operations. Their averages are those of
	// variances, the fused operation's of unbiased estimates.
	Unfused bool
	// VirtualBatch, if not 0, cuts batches into groups of this size that are
	// normalized for themselves (ghost batches: Hoffer et al., NIPS 2017). It
	// must divide the size of a batch.
	VirtualBatch int
	// Renorm, if given, makes training use averages as well (Ioffe,
	// arXiv:1702.03275).
	Renorm *RenormOpts
	// Adjustment, if given, gets the shape of the input, int32, and returns what
	// training multiplies and adds to what has been normalized, before Gamma and
	// Beta: tensors that broadcast to the input.
	Adjustment func(shape tf.Output) (scale, offset tf.Output)

	BetaInitializer, GammaInitializer                initializers.Initializer // zeros, ones
	MovingMeanInitializer, MovingVarianceInitializer initializers.Initializer // zeros, ones
	BetaRegularizer, GammaRegularizer                vars.Regularizer
	BetaConstraint, GammaConstraint                  vars.Constraint
	NotTrainable                                     bool
	Name                                             string
	Reuse                                            vars.Reuse
}

// RenormOpts limit how far batch renormalization corrects a batch: the factor r
// to [RMin, RMax], the shift d to [-DMax, DMax]. What is 0 sets no limit.
type RenormOpts struct {
	RMin, RMax, DMax float64
	Momentum         float64 // of the averages that correct; 0 stands for 0.99
}

// A BatchNormLayer makes the mean of each channel over a batch 0 and its
// variance 1, then scales and shifts it by Gamma and Beta (Ioffe and Szegedy,
// ICML 2015). Out of training it uses averages over the batches that it has
// seen: MovingMean and MovingVariance.
//
// The updates of the averages join the collection [UpdateOps] of a graph. The
// optimizers of package train run those that a loss or its gradients depend
// on; other training code runs vars.Updates of the loss. An eager graph does
// them at once.
type BatchNormLayer struct {
	layer
	// The variables are nil before the layer is built. Gamma and Beta are nil as
	// well if they are not wanted.
	Gamma, Beta                *tf.Variable
	MovingMean, MovingVariance *tf.Variable

	stddev, renormMean, renormStddev *tf.Variable // of renormalization
	gamma, beta                      weight
	axes                             []int // that are not reduced, of the whole input
	o                                BatchNormOpts
}

// NewBatchNorm returns a layer. Names are TensorFlow's:
// batch_normalization/gamma, beta, moving_mean and moving_variance.
func NewBatchNorm(opts ...BatchNormOpts) *BatchNormLayer {
	l := &BatchNormLayer{}
	if len(opts) > 0 {
		l.o = opts[0]
	}
	l.o.Momentum, l.o.Epsilon = cmp.Or(l.o.Momentum, 0.99), cmp.Or(l.o.Epsilon, 0.001)
	if l.o.Renorm != nil {
		r := *l.o.Renorm
		r.Momentum = cmp.Or(r.Momentum, 0.99)
		l.o.Renorm = &r
	}
	l.self = l
	l.settings = settings{kind: "batch_normalization", name: l.o.Name, reuse: l.o.Reuse, frozen: l.o.NotTrainable}
	return l
}

// BatchNorm adds a layer that normalizes x [n ... channels].
func BatchNorm[M Mode](x tf.Output, training M, o ...BatchNormOpts) tf.Output {
	l := NewBatchNorm(o...)
	l.settings = l.exactly()
	return l.run(x, func() tf.Output { return l.normalize(x, modeOf(training)) })
}

// Apply adds what computes the layer on x [n ... channels].
func (l *BatchNormLayer) Apply(x tf.Output, training bool) tf.Output {
	return l.run(x, func() tf.Output { return l.normalize(x, modeOf(training)) })
}

// ApplyIf is Apply where the step computes whether it trains: training is a
// scalar of type bool.
func (l *BatchNormLayer) ApplyIf(x, training tf.Output) tf.Output {
	return l.run(x, func() tf.Output { return l.normalize(x, modeOf(training)) })
}

func (l *BatchNormLayer) call(x tf.Output) tf.Output { return l.normalize(x, modeOf(false)) }

func (l *BatchNormLayer) accept(in input) error {
	if len(in.shape) < 2 || !in.dtype.IsFloat() {
		return tf.Errorf(tf.InvalidArgument, "batch normalization needs an input [n ... channels] of floating-point numbers, got %v", in)
	}
	if err := l.checkOptions(); err != nil {
		return err
	}
	axes, err := axesOf(l.o.Axes, len(in.shape))
	if err != nil {
		return err
	}
	for _, a := range axes {
		if in.shape[a] < 0 {
			return tf.Errorf(tf.InvalidArgument, "Input has undefined `axis` dimension. Received %v and axis=%v", in, axes)
		}
		if l.o.VirtualBatch > 0 && a == 0 {
			return tf.Errorf(tf.InvalidArgument, "When using `virtual_batch_size`, the batch dimension must be 0 and thus axis cannot include 0. Received axis=%v", axes)
		}
	}
	if want := l.parameters(in, axes); l.built && !want.Equal(l.MovingMean.Shape()) {
		return tf.Errorf(tf.InvalidArgument, "Input of layer %q is incompatible with the layer: it was built for channels %v, but received %v", l.Name(), l.MovingMean.Shape(), in)
	}
	return nil
}

func (l *BatchNormLayer) checkOptions() error {
	o := &l.o
	if o.VirtualBatch < 0 {
		return tf.Errorf(tf.InvalidArgument, "`virtual_batch_size` must be a positive integer that divides the true batch size of the input tensor. Received: virtual_batch_size=%d", o.VirtualBatch)
	}
	if o.Momentum < 0 || o.Momentum > 1 || o.Epsilon < 0 {
		return tf.Errorf(tf.InvalidArgument, "the momentum of batch normalization must be in [0, 1] and epsilon not negative, got %v and %v", o.Momentum, o.Epsilon)
	}
	if o.VirtualBatch > 0 && o.Adjustment != nil {
		return tf.Errorf(tf.InvalidArgument, "When using `virtual_batch_size`, adjustment cannot be specified")
	}
	return nil
}

// axesOf returns axes counted from the front, sorted; nil stands for the last.
func axesOf(axes []int, rank int) ([]int, error) {
	if len(axes) == 0 {
		return []int{rank - 1}, nil
	}
	out := slices.Clone(axes)
	for i, a := range out {
		if a < 0 {
			out[i] = a + rank
		}
		if out[i] < 0 || out[i] >= rank {
			return nil, tf.Errorf(tf.InvalidArgument, "Invalid value for `axis` argument. Expected 0 <= axis < inputs.rank (with inputs.rank=%d). Received: axis=%v", rank, axes)
		}
	}
	slices.Sort(out)
	if len(slices.Compact(slices.Clone(out))) < len(out) {
		return nil, tf.Errorf(tf.InvalidArgument, "Duplicate axis: %v", axes)
	}
	return out, nil
}

// parameters returns the shape of the variables: that of the one axis, or ones
// for all dimensions that are reduced.
func (l *BatchNormLayer) parameters(in input, axes []int) tf.Shape {
	if len(axes) == 1 && l.o.VirtualBatch == 0 {
		return tf.Shape{in.shape[axes[0]]}
	}
	s := tf.Shape(spread(nil, len(in.shape)))
	for _, a := range axes {
		s[a] = in.shape[a]
	}
	if l.o.VirtualBatch > 0 {
		s = slices.Insert(s, 1, 1)
	}
	return s
}

func (l *BatchNormLayer) build(in input) {
	o := &l.o
	l.axes, _ = axesOf(o.Axes, len(in.shape)) // accept has checked them
	s := l.parameters(in, l.axes)
	if in.dtype != tf.Float64 {
		in.dtype = tf.Float32
	}
	if !o.NoScale {
		l.gamma = l.weight(in, "gamma", s, weightOpts{init: or(o.GammaInitializer, initializers.Ones), reg: o.GammaRegularizer, constraint: o.GammaConstraint})
		l.Gamma = l.gamma.variable
	}
	if !o.NoCenter {
		l.beta = l.weight(in, "beta", s, weightOpts{init: or(o.BetaInitializer, initializers.Zeros), reg: o.BetaRegularizer, constraint: o.BetaConstraint})
		l.Beta = l.beta.variable
	}
	l.buildStatistics(in, s)
}

func (l *BatchNormLayer) buildStatistics(in input, s tf.Shape) {
	statistic := func(name string, init initializers.Initializer) *tf.Variable {
		return l.weight(in, name, s, weightOpts{init: init, statistic: true}).variable
	}
	mean, variance := or(l.o.MovingMeanInitializer, initializers.Zeros), or(l.o.MovingVarianceInitializer, initializers.Ones)
	l.MovingMean, l.MovingVariance = statistic("moving_mean", mean), statistic("moving_variance", variance)
	if l.o.Renorm == nil {
		return
	}
	deviation := func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output { return ops.Sqrt(variance(g, d, s)) }
	l.stddev = statistic("moving_stddev", deviation)
	l.renormMean, l.renormStddev = statistic("renorm_mean", mean), statistic("renorm_stddev", deviation)
}

// normalize computes the layer.
func (l *BatchNormLayer) normalize(x tf.Output, m mode) tf.Output {
	if m.may() && x.Operation().ControlFlowContext() != nil {
		return refuse(x, l.kind, tf.Errorf(tf.InvalidArgument, "batch normalization cannot train inside of a loop or a branch, where the updates of its averages would be lost"))
	}
	l.axes, _ = axesOf(l.o.Axes, len(x.Shape())) // of this rank, which may be another one
	if l.fusible(x) {
		return l.fused(x, m)
	}
	return l.plain(x, m)
}

// move brings an average nearer to what a batch has, in steps that train, and
// returns the update.
func (l *BatchNormLayer) move(average *tf.Variable, batch tf.Output, momentum float64, m mode) *tf.Operation {
	step := ops.Sub(average.Read(), batch).Mul(1 - momentum)
	return average.AssignSub(m.pick(step, ops.ZerosLike(step)))
}

// Updates groups what has to run beside each step of training: all of the
// collection [UpdateOps].
func Updates(g *tf.Graph) *tf.Operation {
	if g == nil {
		return tf.Failed(nil, "updates", tf.Errorf(tf.InvalidArgument, "updates are those of a graph, got nil"))
	}
	var all []*tf.Operation
	for _, v := range g.Collection(UpdateOps) {
		if op, ok := v.(*tf.Operation); ok {
			all = append(all, op)
		}
	}
	return tf.Group(g, "updates", all...)
}
