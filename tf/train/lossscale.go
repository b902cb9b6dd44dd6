package train

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// LossScaling says by what a loss is multiplied while gradients are computed in half
// precision, so that small gradients do not become 0.
type LossScaling struct {
	// Fixed, if it is not 0, is the factor in all steps. Otherwise the factor is
	// halved (divided by Growth) after a step whose gradients are not finite, and
	// doubled after GrowthSteps steps in a row whose gradients are.
	Fixed       float64
	Initial     float64 // 0: 32768
	GrowthSteps int     // 0: 2000
	Growth      float64 // 0: 2
}

func (s LossScaling) withDefaults() (LossScaling, error) {
	if s.Fixed < 0 || s.Initial < 0 || s.GrowthSteps < 0 || s.Growth < 0 || s.Growth > 0 && s.Growth <= 1 {
		return s, tf.Errorf(tf.InvalidArgument, "factors and steps must be positive, and growth greater than 1, got %+v", s)
	}
	if s.Initial == 0 {
		s.Initial = 1 << 15
	}
	if s.Growth == 0 {
		s.Growth = 2
	}
	s.GrowthSteps = orDefault(s.GrowthSteps, 2000)
	return s, nil
}

// A LossScaleOptimizer trains models in half precision: it multiplies the loss by a
// factor, divides the gradients by it, and leaves out steps whose gradients
// are not finite. The method is that of Micikevicius et al. (ICLR 2018,
// arXiv:1710.03740). It is TensorFlow's MixedPrecisionLossScaleOptimizer.
type LossScaleOptimizer struct {
	optimizer   Optimizer
	s           LossScaling
	scale, good *tf.Variable
}

// NewLossScaleOptimizer adds the variables of the scaling to g: the factor, and how
// many steps in a row were good.
func NewLossScaleOptimizer(g *tf.Graph, o Optimizer, s LossScaling) (*LossScaleOptimizer, error) {
	s, err := s.withDefaults()
	if err == nil && g == nil {
		err = noGraph("a LossScaleOptimizer")
	}
	if err == nil && o == nil {
		err = noOptimizer("a LossScaleOptimizer")
	}
	if err != nil {
		return nil, err
	}
	l := &LossScaleOptimizer{optimizer: o, s: s}
	initial := s.Initial
	if s.Fixed > 0 {
		initial = s.Fixed
	}
	g.InitScope(func() {
		l.scale = tf.NewVariable(ops.Scalar(g, float32(initial)), tf.VariableOptions{Name: "current_loss_scale", NotTrainable: true})
		l.good = tf.NewVariable(ops.Scalar[int64](g, 0), tf.VariableOptions{Name: "good_steps", NotTrainable: true})
	})
	return l, g.Err()
}

// Scale returns the factor that counts in this step, a float32 scalar.
func (o *LossScaleOptimizer) Scale() tf.Output { return o.scale.Value() }

// Minimize adds a step of training, that of the optimizer with a scaled loss. It is for
// graphs of sessions.
func (o *LossScaleOptimizer) Minimize(loss tf.Output, vars ...*tf.Variable) *tf.Operation {
	g := o.scale.Graph()
	if err := checkLoss(loss); err != nil {
		return tf.Failed(g, "Minimize", err)
	}
	gvs, err := ComputeGradients(loss.Mul(o.Scale().Cast(loss.DType())), vars...)
	if err != nil {
		return tf.Failed(g, "Minimize", err)
	}
	op, err := o.apply(gvs)
	if err != nil {
		return tf.Failed(g, "Minimize", err)
	}
	return op
}

// apply adds the step for gradients of the scaled loss.
func (o *LossScaleOptimizer) apply(gvs []GradVar) (op *tf.Operation, err error) {
	g := o.scale.Graph()
	part := o.Scale().Reciprocal()
	finite := ops.Scalar(g, true)
	small := make([]GradVar, len(gvs))
	for i, gv := range gvs {
		small[i] = gv
		d, ok := gv.Grad.IndexedSlices()
		if ok {
			d.Values = d.Values.Mul(part.Cast(d.Values.DType()))
			small[i].Grad = tf.Sparse(d)
			finite = finite.And(ops.All(d.Values.IsFinite(), ops.AllAxes))
			continue
		}
		x := gv.Grad.Output()
		x = x.Mul(part.Cast(x.DType()))
		small[i].Grad = tf.Dense(x)
		finite = finite.And(ops.All(x.IsFinite(), ops.AllAxes))
	}
	done := tf.Cond(finite, func() []tf.Output {
		step, e := o.optimizer.ApplyGradients(small)
		if e != nil {
			err = e
			return []tf.Output{ops.Scalar(g, false)}
		}
		return []tf.Output{ops.Identity(ops.Scalar(g, true), tf.After(step))}
	}, func() []tf.Output { return []tf.Output{ops.Identity(ops.Scalar(g, false))} })
	if err != nil {
		return nil, err
	}
	return tf.Group(g, "train", o.updated(done[0])), nil
}

// updated changes the factor after a step that was good or not.
func (o *LossScaleOptimizer) updated(good tf.Output) *tf.Operation {
	if o.s.Fixed > 0 {
		return good.Operation()
	}
	g := good.Graph()
	scale, n := o.scale.Read(), o.good.Read().Add(1)
	one := ops.Scalar[float32](g, 1)
	grown := scale.Mul(o.s.Growth)
	grown = ops.SelectV2(grown.Less(math.MaxFloat32), grown, scale)
	full := n.GreaterEqual(ops.Scalar(g, int64(o.s.GrowthSteps)))
	next := ops.SelectV2(good, ops.SelectV2(full, grown, scale), scale.Div(o.s.Growth).Maximum(one))
	count := ops.SelectV2(good.And(full.Not()), n, n.ZerosLike())
	return tf.Group(g, "update_loss_scale", o.scale.Assign(next), o.good.Assign(count))
}
