package training

import (
	"math/cmplx"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// The optimizers on complex numbers: squares are squares, not of absolute
// values, and roots are complex.

type complexNumber interface{ complex64 | complex128 }

func complexRoot[T complexNumber](x T) T { return T(cmplx.Sqrt(complex128(x))) }

// and returns s with the steps of complex numbers.
func (s steps) and(c64 rule[complex64], c128 rule[complex128]) steps {
	s[tf.Complex64], s[tf.Complex128] = exactStep(c64), exactStep(c128)
	return s
}

// eachComplex makes a rule of what is done to element i.
func eachComplex[T complexNumber](update func(i int, v [][]T, g T)) func(v [][]T, g []T) {
	return func(v [][]T, g []T) {
		for i := range g {
			update(i, v, g[i])
		}
	}
}

func complexMomentum[T complexNumber](n *core.Node, s []T) func(v [][]T, g []T) {
	lr, m, ahead := s[0], s[1], n.Bool("use_nesterov")
	return eachComplex(func(i int, v [][]T, g T) {
		v[1][i] = v[1][i]*m + g
		if ahead {
			v[0][i] -= g*lr + v[1][i]*m*lr
		} else {
			v[0][i] -= v[1][i] * lr
		}
	})
}

func complexKerasMomentum[T complexNumber](n *core.Node, s []T) func(v [][]T, g []T) {
	lr, m, ahead := s[0], s[1], n.Bool("use_nesterov")
	return eachComplex(func(i int, v [][]T, g T) {
		v[1][i] = v[1][i]*m - g*lr
		if ahead {
			v[0][i] += v[1][i]*m - g*lr
		} else {
			v[0][i] += v[1][i]
		}
	})
}

func complexAdam[T complexNumber](n *core.Node, s []T) func(v [][]T, g []T) {
	beta1, beta2, epsilon, ahead := s[3], s[4], s[5], n.Bool("use_nesterov")
	alpha := s[2] * complexRoot(1-s[1]) / (1 - s[0])
	return eachComplex(func(i int, v [][]T, g T) {
		m, square := &v[1][i], &v[2][i]
		*m += (g - *m) * (1 - beta1)
		*square += (g*g - *square) * (1 - beta2)
		by := *m
		if ahead {
			by = g*(1-beta1) + *m*beta1
		}
		v[0][i] -= by * alpha / (complexRoot(*square) + epsilon)
	})
}

func complexAdagrad[T complexNumber](n *core.Node, s []T) func(v [][]T, g []T) {
	return complexAccumulated(n, s[0], 0)
}

func complexAdagradV2[T complexNumber](n *core.Node, s []T) func(v [][]T, g []T) {
	return complexAccumulated(n, s[0], s[1])
}

func complexAccumulated[T complexNumber](n *core.Node, lr, epsilon T) func(v [][]T, g []T) {
	accumulate := n.Bool("update_slots")
	return eachComplex(func(i int, v [][]T, g T) {
		if accumulate {
			v[1][i] += g * g
		}
		v[0][i] -= g * lr / (complexRoot(v[1][i]) + epsilon)
	})
}

func complexRMSProp[T complexNumber](_ *core.Node, s []T) func(v [][]T, g []T) {
	lr, rho, m, epsilon := s[0], s[1], s[2], s[3]
	return eachComplex(func(i int, v [][]T, g T) {
		v[1][i] += (g*g - v[1][i]) * (1 - rho)
		v[2][i] = v[2][i]*m + g*lr/complexRoot(v[1][i]+epsilon)
		v[0][i] -= v[2][i]
	})
}

func complexCenteredRMSProp[T complexNumber](_ *core.Node, s []T) func(v [][]T, g []T) {
	lr, rho, m, epsilon := s[0], s[1], s[2], s[3]
	return eachComplex(func(i int, v [][]T, g T) {
		mean, square := &v[1][i], &v[2][i]
		*square += (g*g - *square) * (1 - rho)
		*mean += (g - *mean) * (1 - rho)
		v[3][i] = v[3][i]*m + g*lr/complexRoot(*square-*mean**mean+epsilon)
		v[0][i] -= v[3][i]
	})
}

func complexAdadelta[T complexNumber](_ *core.Node, s []T) func(v [][]T, g []T) {
	lr, rho, epsilon := s[0], s[1], s[2]
	return eachComplex(func(i int, v [][]T, g T) {
		v[1][i] = v[1][i]*rho + g*g*(1-rho)
		u := complexRoot(v[2][i]+epsilon) / complexRoot(v[1][i]+epsilon) * g
		v[0][i] -= u * lr
		v[2][i] = v[2][i]*rho + u*u*(1-rho)
	})
}
