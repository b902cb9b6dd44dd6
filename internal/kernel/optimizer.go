package kernel

import "math"

// Axpy sets y += a·x. A gradient descent step has a = -learning rate.
func Axpy[T Number](y []T, a T, x []T) {
	if simdUpdate.axpy != nil {
		if yf, ok := asF32(y); ok {
			af, _ := scalarF32(a)
			xf, _ := asF32(x)
			simdUpdate.axpy(yf, af, xf[:len(yf)])
			return
		}
	}
	Zip(y, y, x, func(y, x T) T { return y + a*x })
}

// Momentum sets m = m·momentum + g and v -= lr·m.
func Momentum[T Float](v, m, g []T, lr, momentum T) {
	if simdUpdate.momentum != nil {
		if vf, ok := asF32(v); ok {
			mf, _ := asF32(m)
			gf, _ := asF32(g)
			simdUpdate.momentum(vf, mf[:len(vf)], gf[:len(vf)], float32(lr), float32(momentum))
			return
		}
	}
	m, g = m[:len(v)], g[:len(v)]
	for i := range v {
		m[i] = m[i]*momentum + g[i]
		v[i] -= lr * m[i]
	}
}

// MomentumNesterov is Momentum that moves by the gradient and the momentum
// after this step: v -= lr·(g + momentum·m).
func MomentumNesterov[T Float](v, m, g []T, lr, momentum T) {
	m, g = m[:len(v)], g[:len(v)]
	for i := range v {
		m[i] = m[i]*momentum + g[i]
		v[i] -= lr*g[i] + lr*momentum*m[i]
	}
}

// AdamStep holds the numbers of one step of Adam.
type AdamStep[T Float] struct {
	// Alpha is the learning rate with both bias corrections:
	// lr·√(1-β₂ᵗ)/(1-β₁ᵗ).
	Alpha        T
	Beta1, Beta2 T
	Epsilon      T
	Nesterov     bool
}

// NewAdamStep computes Alpha from the learning rate and the powers of both
// betas.
func NewAdamStep[T Float](lr, beta1, beta2, epsilon, beta1Power, beta2Power T) AdamStep[T] {
	alpha := lr * T(math.Sqrt(float64(1-beta2Power))) / (1 - beta1Power)
	return AdamStep[T]{Alpha: alpha, Beta1: beta1, Beta2: beta2, Epsilon: epsilon}
}

// Adam moves the variable v with first moments m and second moments s by the
// gradient g.
func Adam[T Float](v, m, s, g []T, p AdamStep[T]) {
	if adam32(v, m, s, g, p) {
		return
	}
	m, s, g = m[:len(v)], s[:len(v)], g[:len(v)]
	for i := range v {
		m[i] += (g[i] - m[i]) * (1 - p.Beta1)
		s[i] += (g[i]*g[i] - s[i]) * (1 - p.Beta2)
		d := m[i]
		if p.Nesterov {
			d = g[i]*(1-p.Beta1) + p.Beta1*m[i]
		}
		v[i] -= d * p.Alpha / (T(math.Sqrt(float64(s[i]))) + p.Epsilon)
	}
}

// adam32 runs the vector loop if there is one and the data are float32.
func adam32[T Float](v, m, s, g []T, p AdamStep[T]) bool {
	vf, ok := asF32(v)
	if !ok || simdUpdate.adam == nil || p.Nesterov {
		return false
	}
	mf, _ := asF32(m)
	sf, _ := asF32(s)
	gf, _ := asF32(g)
	n := len(vf)
	simdUpdate.adam(vf, mf[:n], sf[:n], gf[:n], AdamStep[float32]{
		Alpha: float32(p.Alpha), Beta1: float32(p.Beta1), Beta2: float32(p.Beta2), Epsilon: float32(p.Epsilon),
	})
	return true
}
