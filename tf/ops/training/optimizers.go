package training

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/descent"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const nesterov, updateSlots = "use_nesterov: bool = false", "update_slots: bool = true"
	for _, o := range []optimizer{
		{name: "GradientDescent", vars: "var", in: "alpha delta", steps: descentSteps()},
		{name: "Momentum", vars: "var accum", in: "lr grad momentum", attrs: nesterov, sparse: true, steps: floatSteps(momentum[float32], momentum[float64]).and(complexMomentum[complex64], complexMomentum[complex128]).streaming(streamMomentum)},
		{name: "KerasMomentum", vars: "var accum", in: "lr grad momentum", attrs: nesterov, only: true, sparse: true, steps: floatSteps(kerasMomentum[float32], kerasMomentum[float64]).and(complexKerasMomentum[complex64], complexKerasMomentum[complex128])},
		{name: "Adam", vars: "var m v", in: "beta1_power beta2_power lr beta1 beta2 epsilon grad", attrs: nesterov, steps: floatSteps(adam[float32], adam[float64]).and(complexAdam[complex64], complexAdam[complex128]).streaming(streamAdam)},
		{name: "Adagrad", vars: "var accum", in: "lr grad", attrs: updateSlots, sparse: true, steps: floatSteps(adagrad[float32], adagrad[float64]).and(complexAdagrad[complex64], complexAdagrad[complex128])},
		{name: "AdagradV2", vars: "var accum", in: "lr epsilon grad", attrs: updateSlots, sparse: true, steps: floatSteps(adagradV2[float32], adagradV2[float64]).and(complexAdagradV2[complex64], complexAdagradV2[complex128])},
		{name: "RMSProp", vars: "var ms mom", in: "lr rho momentum epsilon grad", sparse: true, steps: floatSteps(rmsProp[float32], rmsProp[float64]).and(complexRMSProp[complex64], complexRMSProp[complex128])},
		{name: "CenteredRMSProp", vars: "var mg ms mom", in: "lr rho momentum epsilon grad", sparse: true, steps: floatSteps(centeredRMSProp[float32], centeredRMSProp[float64]).and(complexCenteredRMSProp[complex64], complexCenteredRMSProp[complex128])},
		{name: "Adadelta", vars: "var accum accum_update", in: "lr rho epsilon grad", sparse: true, steps: floatSteps(adadelta[float32], adadelta[float64]).and(complexAdadelta[complex64], complexAdadelta[complex128])},
		{name: "Ftrl", vars: "var accum linear", in: "grad lr l1 l2 lr_power", attrs: "multiply_linear_by_lr: bool = false", sparse: true, steps: floatSteps(ftrl[float32], ftrl[float64])},
	} {
		o.register()
	}
}

// descentSteps has complex numbers, too, which need no root.
func descentSteps() steps {
	return floatSteps(descend[float32], descend[float64]).and(descend[complex64], descend[complex128]).streaming(streamDescent)
}

func streamDescent(_ *core.Node, s []float32) func(z, v [][]float32, g []float32) {
	return func(z, v [][]float32, g []float32) { descent.StreamAxpy(z[0], v[0], -s[0], g) }
}

func descend[T interface {
	numeric.Number
	tf.Elem
}](_ *core.Node, s []T) func(v [][]T, g []T) {
	return func(v [][]T, g []T) { descent.Axpy(v[0], -s[0], g) }
}

func momentum[T numeric.Float](n *core.Node, s []T) func(v [][]T, g []T) {
	lr, m := s[0], s[1]
	if n.Bool("use_nesterov") {
		return func(v [][]T, g []T) { descent.MomentumNesterov(v[0], v[1], g, lr, m) }
	}
	return func(v [][]T, g []T) { descent.Momentum(v[0], v[1], g, lr, m) }
}

// streamMomentum has no loop for Nesterov's.
func streamMomentum(n *core.Node, s []float32) func(z, v [][]float32, g []float32) {
	if n.Bool("use_nesterov") {
		return nil
	}
	return func(z, v [][]float32, g []float32) { descent.StreamMomentum(z[0], z[1], v[0], v[1], g, s[0], s[1]) }
}

// kerasMomentum keeps the learning rate inside the accumulated step.
func kerasMomentum[T numeric.Float](n *core.Node, s []T) func(v [][]T, g []T) {
	lr, m, ahead := s[0], s[1], n.Bool("use_nesterov")
	return func(v [][]T, g []T) {
		x, acc := v[0], v[1]
		for i := range x {
			acc[i] = descent.Flushed(acc[i]*m - g[i]*lr)
			if ahead {
				x[i] += acc[i]*m - g[i]*lr
			} else {
				x[i] += acc[i]
			}
		}
	}
}

func adamStep[T numeric.Float](n *core.Node, s []T) descent.AdamStep[T] {
	beta1Power, beta2Power, lr, beta1, beta2, epsilon := s[0], s[1], s[2], s[3], s[4], s[5]
	p := descent.NewAdamStep(lr, beta1, beta2, epsilon, beta1Power, beta2Power)
	p.Nesterov = n.Bool("use_nesterov")
	return p
}

// streamAdam has no loop for Nesterov's.
func streamAdam(n *core.Node, s []float32) func(z, v [][]float32, g []float32) {
	p := adamStep(n, s)
	if p.Nesterov {
		return nil
	}
	return func(z, v [][]float32, g []float32) { descent.StreamAdam(z[0], z[1], z[2], v[0], v[1], v[2], g, p) }
}

func adam[T numeric.Float](n *core.Node, s []T) func(v [][]T, g []T) {
	p := adamStep(n, s)
	return func(v [][]T, g []T) { descent.Adam(v[0], v[1], v[2], g, p) }
}

func sqrtOf[T numeric.Float](x T) T { return T(math.Sqrt(float64(x))) }

func adagrad[T numeric.Float](n *core.Node, s []T) func(v [][]T, g []T) {
	lr := s[0]
	if n.Bool("update_slots") {
		return func(v [][]T, g []T) { descent.Adagrad(v[0], v[1], g, lr) }
	}
	return func(v [][]T, g []T) {
		for i, acc := range v[1] {
			v[0][i] -= g[i] * lr * (1 / sqrtOf(acc))
		}
	}
}

func adagradV2[T numeric.Float](n *core.Node, s []T) func(v [][]T, g []T) {
	lr, epsilon := s[0], s[1]
	if n.Bool("update_slots") {
		return func(v [][]T, g []T) { descent.AdagradV2(v[0], v[1], g, lr, epsilon) }
	}
	return func(v [][]T, g []T) {
		for i, acc := range v[1] {
			v[0][i] -= g[i] * lr / (sqrtOf(acc) + epsilon)
		}
	}
}

func rmsProp[T numeric.Float](_ *core.Node, s []T) func(v [][]T, g []T) {
	lr, rho, m, epsilon := s[0], s[1], s[2], s[3]
	return func(v [][]T, g []T) { descent.RMSProp(v[0], v[1], v[2], g, lr, rho, m, epsilon) }
}

// centeredRMSProp divides by the variance of the gradient, not by its square.
func centeredRMSProp[T numeric.Float](_ *core.Node, s []T) func(v [][]T, g []T) {
	lr, rho, m, epsilon := s[0], s[1], s[2], s[3]
	return func(v [][]T, g []T) {
		x, mg, ms, mom := v[0], v[1], v[2], v[3]
		for i := range x {
			ms[i] = descent.Flushed(ms[i] + (g[i]*g[i]-ms[i])*(1-rho))
			mg[i] = descent.Flushed(mg[i] + (g[i]-mg[i])*(1-rho))
			mom[i] = descent.Flushed(mom[i]*m + g[i]*lr/sqrtOf(ms[i]-mg[i]*mg[i]+epsilon))
			x[i] -= mom[i]
		}
	}
}

func adadelta[T numeric.Float](_ *core.Node, s []T) func(v [][]T, g []T) {
	lr, rho, epsilon := s[0], s[1], s[2]
	return func(v [][]T, g []T) {
		x, acc, accUpdate := v[0], v[1], v[2]
		for i := range x {
			acc[i] = descent.Flushed(acc[i]*rho + g[i]*g[i]*(1-rho))
			u := sqrtOf(accUpdate[i]+epsilon) * (1 / sqrtOf(acc[i]+epsilon)) * g[i]
			x[i] -= u * lr
			accUpdate[i] = descent.Flushed(accUpdate[i]*rho + u*u*(1-rho))
		}
	}
}

// ftrl follows the regularized leader: what l1 outweighs becomes exactly zero.
func ftrl[T numeric.Float](n *core.Node, s []T) func(v [][]T, g []T) {
	p := ftrlStep[T]{lr: s[0], l1: s[1], l2: s[2], power: s[3]}
	if n.Bool("multiply_linear_by_lr") {
		p.scaled = true
	}
	return func(v [][]T, g []T) {
		x, acc, linear := v[0], v[1], v[2]
		for i := range x {
			p.update(&x[i], &acc[i], &linear[i], g[i])
		}
	}
}

// ftrlStep holds the numbers of one step of FTRL. scaled keeps the linear term
// times the learning rate.
type ftrlStep[T numeric.Float] struct {
	lr, l1, l2, power T
	shrinkage         T // l2 that acts through the gradient
	scaled            bool
}

func (p *ftrlStep[T]) update(x, acc, linear *T, g T) {
	now := *acc + g*g
	rootNow, rootOld := p.root(now), p.root(*acc)
	lr, one := p.lr, T(1)
	if p.scaled {
		lr, one = 1, p.lr
	}
	*linear += (g+2*p.shrinkage**x)*one - (rootNow-rootOld)/lr**x
	*x = 0
	if l1 := p.l1 * one; *linear > l1 {
		*x = (l1 - *linear) / (rootNow/lr + 2*p.l2*one)
	} else if *linear < -l1 {
		*x = (-l1 - *linear) / (rootNow/lr + 2*p.l2*one)
	}
	*acc = now
}

// root returns v to the power of -lr_power, by a square root where it is one.
func (p *ftrlStep[T]) root(v T) T {
	if p.power == -0.5 {
		return sqrtOf(v)
	}
	return T(math.Pow(float64(v), float64(-p.power)))
}
