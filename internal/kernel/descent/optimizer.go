package descent

import (
	"math"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Axpy sets y += a·x. A gradient descent step has a = -learning rate.
func Axpy[T numeric.Number](y []T, a T, x []T) {
	if simd.axpy != nil {
		if yf, ok := kernel.AsFloat32(y); ok {
			af, _ := kernel.ScalarFloat32(a)
			xf, _ := kernel.AsFloat32(x)
			simd.axpy(yf, af, xf[:len(yf)])
			return
		}
	}
	kernel.Zip(y, y, x, func(y, x T) T { return y + a*x })
}

// AddScaled sets y += b·(a·x), with each product and the sum rounded: no multiplication
// is fused with an addition.
func AddScaled(y []float32, a, b float32, x []float32) {
	if simd.addScaled != nil {
		simd.addScaled(y, a, b, x[:len(y)])
		return
	}
	for i, x := range x[:len(y)] {
		y[i] += float32(b * float32(a*x))
	}
}

// Flushed is x, or 0 for a subnormal number, as TensorFlow's threads have it. What decays where no
// gradient comes would else stay at the least of these, whose ten-fold time every later step would
// take.
func Flushed[T numeric.Float](x T) T {
	least := 0x1p-1022
	if unsafe.Sizeof(x) == 4 {
		least = 0x1p-126
	}
	if math.Abs(float64(x)) < least {
		return 0
	}
	return x
}

// Momentum sets m = m·momentum + g and v -= lr·m.
func Momentum[T numeric.Float](v, m, g []T, lr, momentum T) {
	if simd.momentum != nil {
		if vf, ok := kernel.AsFloat32(v); ok {
			mf, _ := kernel.AsFloat32(m)
			gf, _ := kernel.AsFloat32(g)
			simd.momentum(vf, mf[:len(vf)], gf[:len(vf)], float32(lr), float32(momentum))
			return
		}
	}
	m, g = m[:len(v)], g[:len(v)]
	for i := range v {
		m[i] = Flushed(m[i]*momentum + g[i])
		v[i] -= lr * m[i]
	}
}

// MomentumNesterov is Momentum that moves by the gradient and the momentum
// after this step: v -= lr·(g + momentum·m).
func MomentumNesterov[T numeric.Float](v, m, g []T, lr, momentum T) {
	m, g = m[:len(v)], g[:len(v)]
	for i := range v {
		m[i] = Flushed(m[i]*momentum + g[i])
		v[i] -= lr*g[i] + lr*momentum*m[i]
	}
}

// AdamStep holds the numbers of one step of Adam.
type AdamStep[T numeric.Float] struct {
	// Alpha is the learning rate with both bias corrections:
	// lr·√(1-β₂ᵗ)/(1-β₁ᵗ).
	Alpha        T
	Beta1, Beta2 T
	Epsilon      T
	Nesterov     bool
}

// NewAdamStep computes Alpha from the learning rate and the powers of both
// betas.
func NewAdamStep[T numeric.Float](lr, beta1, beta2, epsilon, beta1Power, beta2Power T) AdamStep[T] {
	alpha := lr * T(math.Sqrt(float64(1-beta2Power))) / (1 - beta1Power)
	return AdamStep[T]{Alpha: alpha, Beta1: beta1, Beta2: beta2, Epsilon: epsilon}
}

// Adam moves the variable v with first moments m and second moments s by the
// gradient g.
func Adam[T numeric.Float](v, m, s, g []T, p AdamStep[T]) {
	if adam32(v, m, s, g, p) {
		return
	}
	m, s, g = m[:len(v)], s[:len(v)], g[:len(v)]
	for i := range v {
		m[i] = Flushed(m[i] + (g[i]-m[i])*(1-p.Beta1))
		s[i] = Flushed(s[i] + (g[i]*g[i]-s[i])*(1-p.Beta2))
		d := m[i]
		if p.Nesterov {
			d = g[i]*(1-p.Beta1) + p.Beta1*m[i]
		}
		v[i] -= d * p.Alpha / (T(math.Sqrt(float64(s[i]))) + p.Epsilon)
	}
}

// adam32 runs the vector loop if there is one and the data are float32.
func adam32[T numeric.Float](v, m, s, g []T, p AdamStep[T]) bool {
	vf, ok := kernel.AsFloat32(v)
	if !ok || simd.adam == nil || p.Nesterov {
		return false
	}
	mf, _ := kernel.AsFloat32(m)
	sf, _ := kernel.AsFloat32(s)
	gf, _ := kernel.AsFloat32(g)
	n := len(vf)
	simd.adam(vf, mf[:n], sf[:n], gf[:n], AdamStep[float32]{
		Alpha: float32(p.Alpha), Beta1: float32(p.Beta1), Beta2: float32(p.Beta2), Epsilon: float32(p.Epsilon),
	})
	return true
}
