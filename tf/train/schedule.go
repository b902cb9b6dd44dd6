package train

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A Schedule says how the learning rate goes on.
type Schedule interface {
	// At adds what computes the rate of a step, an integer scalar, as a
	// float32 scalar: for the field Rate of optimizers.
	At(step tf.Output) tf.Output
}

// f32 adds a constant beside x.
func f32(x tf.Output, v float64) tf.Output { return ops.Scalar(x.Graph(), float32(v)) }

// periods returns step/steps, rounded down if in stairs.
func periods(step tf.Output, steps int, stairs bool) tf.Output {
	p := step.Cast(tf.Float32).Div(f32(step, float64(steps)))
	if stairs {
		return p.Floor()
	}
	return p
}

// ExponentialDecay is LearningRate · Decay^(step/Steps).
type ExponentialDecay struct {
	LearningRate, Decay float64
	Steps               int
	Staircase           bool // round step/Steps down
}

// At implements [Schedule].
func (s ExponentialDecay) At(step tf.Output) tf.Output {
	if bad := falling(step, "ExponentialDecay", s.LearningRate, s.Steps, need{"Decay", s.Decay}); !bad.IsZero() {
		return bad
	}
	return f32(step, s.LearningRate).Mul(f32(step, s.Decay).Pow(periods(step, s.Steps, s.Staircase)))
}

// NaturalExpDecay is LearningRate · exp(-Decay·step/Steps).
type NaturalExpDecay struct {
	LearningRate, Decay float64
	Steps               int
	Staircase           bool // round step/Steps down
}

// At implements [Schedule].
func (s NaturalExpDecay) At(step tf.Output) tf.Output {
	if bad := falling(step, "NaturalExpDecay", s.LearningRate, s.Steps, need{"Decay", s.Decay}); !bad.IsZero() {
		return bad
	}
	return f32(step, s.LearningRate).Mul(f32(step, -s.Decay).Mul(periods(step, s.Steps, s.Staircase)).Exp())
}

// InverseTimeDecay is LearningRate / (1 + Decay·step/Steps).
type InverseTimeDecay struct {
	LearningRate, Decay float64
	Steps               int
	Staircase           bool // round step/Steps down
}

// At implements [Schedule].
func (s InverseTimeDecay) At(step tf.Output) tf.Output {
	if bad := falling(step, "InverseTimeDecay", s.LearningRate, s.Steps, need{"Decay", s.Decay}); !bad.IsZero() {
		return bad
	}
	return f32(step, s.LearningRate).Div(f32(step, 1).Add(f32(step, s.Decay).Mul(periods(step, s.Steps, s.Staircase))))
}

// PolynomialDecay goes from LearningRate to End in Steps steps: with Power 1
// (or 0, which stands for it; see [Zero]) on a straight line. Unlike other fields, an End
// that is left 0 is 0: the rate falls to nothing. TensorFlow's polynomial_decay has a default
// of 0.0001 there.
type PolynomialDecay struct {
	LearningRate, End float64
	Steps             int
	Power             float64
	Cycle             bool // begin again in a longer period, whenever one is over
}

// At implements [Schedule].
func (s PolynomialDecay) At(step tf.Output) tf.Output {
	if bad := falling(step, "PolynomialDecay", s.LearningRate, s.Steps); !bad.IsZero() {
		return bad
	}
	now, steps, one := step.Cast(tf.Float32), f32(step, float64(s.Steps)), f32(step, 1)
	if s.Cycle {
		begun := now.Div(steps).Ceil()
		steps = steps.Mul(ops.SelectV2(now.Equal(f32(step, 0)), one, begun))
	} else {
		now = now.Minimum(steps)
	}
	left := one.Sub(now.Div(steps)).Pow(f32(step, or(s.Power, 1)))
	return f32(step, s.LearningRate-s.End).Mul(left).Add(f32(step, s.End))
}

// PiecewiseConstant is Values[i] up to step Boundaries[i], and the last of
// Values after all boundaries: there is one value more. Boundaries must not fall.
type PiecewiseConstant struct {
	Boundaries []int64
	Values     []float64
}

// At implements [Schedule].
func (s PiecewiseConstant) At(step tf.Output) tf.Output {
	if len(s.Values) != len(s.Boundaries)+1 {
		return tf.Failed(step.Graph(), "PiecewiseConstant", tf.Errorf(tf.InvalidArgument,
			"The length of boundaries should be 1 less than the length of values: %d and %d", len(s.Boundaries), len(s.Values))).Output(0)
	}
	if !slices.IsSorted(s.Boundaries) { // a step could have two values
		return tf.Failed(step.Graph(), "PiecewiseConstant", tf.Errorf(tf.InvalidArgument, "boundaries must be in ascending order, got %v", s.Boundaries)).Output(0)
	}
	now := step.Cast(tf.Int64)
	y := f32(step, s.Values[len(s.Values)-1])
	for i := len(s.Boundaries) - 1; i >= 0; i-- {
		y = ops.SelectV2(now.LessEqual(ops.Scalar(step.Graph(), s.Boundaries[i])), f32(step, s.Values[i]), y)
	}
	return y
}

// CosineDecay goes from LearningRate to Alpha times it in Steps steps, along
// a cosine (Loshchilov and Hutter, ICLR 2017, arXiv:1608.03983).
type CosineDecay struct {
	LearningRate, Alpha float64
	Steps               int
}

// At implements [Schedule].
func (s CosineDecay) At(step tf.Output) tf.Output {
	if bad := falling(step, "CosineDecay", s.LearningRate, s.Steps); !bad.IsZero() {
		return bad
	}
	fraction := periods(step, s.Steps, false).Minimum(f32(step, 1))
	return f32(step, s.LearningRate).Mul(above(s.Alpha, halfCosine(fraction)))
}

// halfCosine falls from 1 to 0 as x goes from 0 to 1.
func halfCosine(x tf.Output) tf.Output {
	return f32(x, 0.5).Mul(f32(x, 1).Add(f32(x, math.Pi).Mul(x).Cos()))
}

// above maps 0 to alpha and 1 to 1.
func above(alpha float64, x tf.Output) tf.Output {
	return f32(x, 1-alpha).Mul(x).Add(f32(x, alpha))
}

// CosineDecayRestarts is CosineDecay that begins again: each period is
// PeriodFactor times as long as the one before and begins with RateFactor
// times its rate (Loshchilov and Hutter, ICLR 2017, arXiv:1608.03983).
// Factors left 0 are TensorFlow's, 2 and 1; see [Zero].
type CosineDecayRestarts struct {
	LearningRate, Alpha      float64
	Steps                    int // of the first period
	PeriodFactor, RateFactor float64
}

// At implements [Schedule].
func (s CosineDecayRestarts) At(step tf.Output) tf.Output {
	if bad := falling(step, "CosineDecayRestarts", s.LearningRate, s.Steps); !bad.IsZero() {
		return bad
	}
	longer, lower := or(s.PeriodFactor, 2), or(s.RateFactor, 1)
	done := periods(step, s.Steps, false)
	restarts := done.Floor()
	within := done.Sub(restarts)
	if longer != 1 {
		f, one := f32(step, longer), f32(step, 1)
		restarts = one.Sub(done.Mul(one.Sub(f))).Log().Div(f.Log()).Floor()
		grown := f.Pow(restarts)
		within = done.Sub(one.Sub(grown).Div(one.Sub(f))).Div(grown)
	}
	decayed := f32(step, lower).Pow(restarts).Mul(halfCosine(within))
	return f32(step, s.LearningRate).Mul(above(s.Alpha, decayed))
}

// LinearCosineDecay is LearningRate · ((Alpha + line) · wave + Beta). The line falls from
// 1 to 0 in Steps steps. The wave is a cosine between 1 and 0 with Periods whole periods
// in these steps; 0 stands for TensorFlow's 0.5, with which it falls once. A Beta of 0
// stands for 0.001; see [Zero] (Bello et al., ICML 2017).
type LinearCosineDecay struct {
	LearningRate, Alpha, Beta float64
	Steps                     int
	Periods                   float64
}

// At implements [Schedule].
func (s LinearCosineDecay) At(step tf.Output) tf.Output {
	return s.at(step, nil)
}

func (s LinearCosineDecay) at(step tf.Output, noise func(now tf.Output) tf.Output) tf.Output {
	if bad := falling(step, "LinearCosineDecay", s.LearningRate, s.Steps); !bad.IsZero() {
		return bad
	}
	now := step.Cast(tf.Float32).Minimum(f32(step, float64(s.Steps)))
	steps := f32(step, float64(s.Steps))
	line := steps.Sub(now).Div(steps)
	if noise != nil {
		line = line.Add(noise(now))
	}
	wave := halfCosine(now.Div(steps).Mul(f32(step, 2*or(s.Periods, 0.5))))
	decayed := f32(step, s.Alpha).Add(line).Mul(wave).Add(f32(step, or(s.Beta, 0.001)))
	return f32(step, s.LearningRate).Mul(decayed)
}

// NoisyLinearCosineDecay is LinearCosineDecay with normal noise on the line, of
// variance InitialVariance / (1+step)^VarianceDecay. Fields left 0 are
// TensorFlow's, 1 and 0.55; see [Zero].
type NoisyLinearCosineDecay struct {
	LinearCosineDecay
	InitialVariance, VarianceDecay float64
	Seed                           *int64
}

// At implements [Schedule].
func (s NoisyLinearCosineDecay) At(step tf.Output) tf.Output {
	return s.at(step, func(now tf.Output) tf.Output {
		grown := f32(step, 1).Add(now).Pow(f32(step, or(s.VarianceDecay, 0.55)))
		deviation := f32(step, or(s.InitialVariance, 1)).Div(grown).Sqrt()
		return normal(step.Graph(), s.Seed).Mul(deviation)
	})
}

// normal adds one normal number.
func normal(g *tf.Graph, seed *int64) tf.Output {
	var opts []tf.Option
	if seed != nil {
		opts = append(opts, ops.Seed(*seed))
	}
	return ops.RandomStandardNormal(g, tf.Shape{}, tf.Float32, opts...)
}

// WarmUp rises on a straight line, from 0 to what Then begins with, in Steps
// steps; then Then begins.
type WarmUp struct {
	Steps int
	Then  Schedule
}

// At implements [Schedule].
func (s WarmUp) At(step tf.Output) tf.Output {
	if bad := refused(step.Graph(), "WarmUp", need{"Steps", float64(s.Steps)}); !bad.IsZero() {
		return bad
	}
	if s.Then == nil {
		return tf.Failed(step.Graph(), "WarmUp", tf.Errorf(tf.InvalidArgument, "WarmUp needs Then, the schedule that it leads to, got nil")).Output(0)
	}
	now, n := step.Cast(tf.Int64), ops.Scalar(step.Graph(), int64(s.Steps))
	after := s.Then.At(now.Sub(n).Maximum(ops.Scalar(step.Graph(), int64(0))))
	rising := after.Mul(periods(now, s.Steps, false))
	return ops.SelectV2(now.Less(n), rising, after)
}
