package training

import (
	"math"

	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const adaptive = "lr beta1 beta2 epsilon grad"
	for _, o := range []optimizer{
		{name: "AddSign", vars: "var m", in: "lr alpha sign_decay beta grad", steps: floatSteps(addSign[float32], addSign[float64])},
		{name: "PowerSign", vars: "var m", in: "lr logbase sign_decay beta grad", steps: floatSteps(powerSign[float32], powerSign[float64])},
		{name: "AdaMax", vars: "var m v", in: "beta1_power " + adaptive, steps: withoutBFloat16(floatSteps(adaMax[float32], adaMax[float64]))},
		{name: "AdamWithAmsgrad", vars: "var m v vhat", in: "beta1_power beta2_power " + adaptive, only: true, steps: floatSteps(amsgrad[float32], amsgrad[float64])},
	} {
		o.register()
	}
}

// withoutBFloat16 leaves out the type that TensorFlow has no kernel for.
func withoutBFloat16(s steps) steps {
	delete(s, tf.BFloat16)
	return s
}

// signOf returns -1, 0 or 1.
func signOf[T numeric.Float](x T) T {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return x
}

func absOf[T numeric.Float](x T) T { return T(math.Abs(float64(x))) }

// addSign goes further where the gradient agrees in sign with its average.
func addSign[T numeric.Float](_ *core.Node, s []T) func(v [][]T, g []T) {
	lr, alpha, decay, beta := s[0], s[1], s[2], s[3]
	return func(v [][]T, g []T) {
		x, m := v[0], v[1]
		for i := range x {
			m[i] = m[i]*beta + g[i]*(1-beta)
			x[i] -= lr * (alpha + decay*signOf(g[i])*signOf(m[i])) * g[i]
		}
	}
}

// powerSign is addSign with a factor where that has a summand.
func powerSign[T numeric.Float](_ *core.Node, s []T) func(v [][]T, g []T) {
	lr, logBase, decay, beta := s[0], s[1], s[2], s[3]
	return func(v [][]T, g []T) {
		x, m := v[0], v[1]
		for i := range x {
			m[i] = m[i]*beta + g[i]*(1-beta)
			scale := T(math.Exp(float64(logBase * decay * signOf(g[i]) * signOf(m[i]))))
			x[i] -= lr * scale * g[i]
		}
	}
}

// adaMax is Adam with the greatest of the gradients, which fades, for their
// second moment.
func adaMax[T numeric.Float](_ *core.Node, s []T) func(v [][]T, g []T) {
	beta1Power, lr, beta1, beta2, epsilon := s[0], s[1], s[2], s[3], s[4]
	rate := lr / (1 - beta1Power)
	return func(v [][]T, g []T) {
		x, m, u := v[0], v[1], v[2]
		for i := range x {
			m[i] += (g[i] - m[i]) * (1 - beta1)
			u[i] = max(beta2*u[i], absOf(g[i]))
			x[i] -= rate * (m[i] / (u[i] + epsilon))
		}
	}
}

// amsgrad is Adam that divides by the greatest second moment so far.
func amsgrad[T numeric.Float](_ *core.Node, s []T) func(v [][]T, g []T) {
	beta1Power, beta2Power, lr, beta1, beta2, epsilon := s[0], s[1], s[2], s[3], s[4], s[5]
	rate := lr * sqrtOf(1-beta2Power) / (1 - beta1Power)
	return func(v [][]T, g []T) {
		x, m, second, greatest := v[0], v[1], v[2], v[3]
		for i := range x {
			m[i] += (g[i] - m[i]) * (1 - beta1)
			second[i] += (g[i]*g[i] - second[i]) * (1 - beta2)
			greatest[i] = max(greatest[i], second[i])
			x[i] -= m[i] * rate / (sqrtOf(greatest[i]) + epsilon)
		}
	}
}
