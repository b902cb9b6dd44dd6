package special

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "Betainc", In: "a: T; b: T; x: T", Out: "z: T", Attrs: "T: {float, double}", Shape: betaShape, Grad: tf.GradFunc(betaGrad),
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{tf.Float32: betaKernel[float32], tf.Float64: betaKernel[float64]}),
	})
}

// Betainc returns the regularized incomplete beta function of a, b and x.
// Those that are no scalars have the same shape. The result has that shape.
// Continued fractions are evaluated by the method of Lentz (1976). The types
// are float32 and float64. Different shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. It is NaN where a or b is not positive or x lies outside of 0 to 1.
// There is a gradient for x only.
func Betainc(a, b, x tf.Output, opts ...tf.Option) tf.Output {
	return apply("Betainc", opts, a, b, x)
}

func betaShape(c *core.Infer) error {
	out := tf.Shape{}
	for i := range 3 {
		s := c.In(i)
		switch {
		case s == nil:
			return nil
		case len(s) == 0:
			continue
		case len(out) == 0:
			out = s
			continue
		}
		merged, ok := out.Merge(s)
		if !ok {
			return tf.Errorf(tf.InvalidArgument, "Shapes must be equal, but are %v and %v", out, s)
		}
		out = merged
	}
	c.Set(0, out)
	return nil
}

// betaArgs returns the shape of the result.
func betaArgs(c *core.OpContext) (tf.Shape, error) {
	names := [...]string{"a", "b", "x"}
	first, out := -1, tf.Shape{}
	for i, name := range names {
		s := c.Input(i).Shape()
		switch {
		case len(s) == 0:
		case first < 0:
			first, out = i, s
		case !s.Equal(out):
			return nil, tf.Errorf(tf.InvalidArgument, "Shapes of %s and %s are inconsistent: %s vs. %s", names[first], name, out.String(), s.String())
		}
	}
	return out, nil
}

func betaKernel[T interface {
	numeric.Float
	tf.Elem
}](*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		s, err := betaArgs(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, c.Input(0).DType(), s)
		if err != nil {
			return err
		}
		var in [3][]T
		var step [3]int
		for i := range in {
			in[i] = core.Data[T](c.Input(i))
			step[i] = min(1, c.Input(i).Rank())
		}
		z := core.Data[T](out)
		f := betainc
		if c.Input(0).DType() == tf.Float32 {
			f = betaincSingle
		}
		c.ParallelFor(len(z), grain/4, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				z[i] = T(f(float64(in[0][i*step[0]]), float64(in[1][i*step[1]]), float64(in[2][i*step[2]])))
			}
		})
		return nil
	}), nil
}

func betainc(a, b, x float64) float64 { return betaOf(a, b, x, betaFactor, epsilon) }

// betaincSingle is betainc for results in single precision.
func betaincSingle(a, b, x float64) float64 { return betaOf(a, b, x, betaFactorSingle, singleEnd) }

// betaOf computes the function by a factor and a fraction that ends where a step changes less than
// that.
func betaOf(a, b, x float64, factor func(a, b, x, y float64) float64, end float64) float64 {
	switch {
	case a <= 0 || b <= 0:
		return math.NaN()
	case x == 0 || x == 1: // whatever a and b are, even NaN
		return x
	case !(x > 0 && x < 1) || !(a < math.Inf(1)) || !(b < math.Inf(1)):
		return math.NaN()
	case x > (a+1)/(a+b+2): // the fraction converges fast on the other side
		return 1 - factor(b, a, 1-x, x)*betaFraction(b, a, 1-x, end)/b
	}
	return factor(a, b, x, 1-x) * betaFraction(a, b, x, end) / a
}

// betaFactor is Γ(a+b)/(Γ(a)·Γ(b))·x^a·y^b.
func betaFactor(a, b, x, y float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return math.Exp(lab - la - lb + a*elementwise.LogOf(x) + b*elementwise.LogOf(y))
}

// betaFraction evaluates the continued fraction in Lentz' way.
func betaFraction(a, b, x, end float64) float64 {
	const tiny = 1e-300
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	h := d
	for m := 1.0; m < mostSteps; m++ {
		n := a + 2*m
		even := m * (b - m) * x / ((n - 1) * n)
		d = 1 / away(1+even*d)
		c = away(1 + even/c)
		h *= d * c
		odd := -(a + m) * (a + b + m) * x / (n * (n + 1))
		d = 1 / away(1+odd*d)
		c = away(1 + odd/c)
		h *= d * c
		if math.Abs(d*c-1) < end {
			break
		}
	}
	return h
}

// betaGrad: TensorFlow has the gradient for x only.
func betaGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	a, b, x := op.Input(0), op.Input(1), op.Input(2)
	sx := ops.Shape(x)
	_, rx := ops.BroadcastGradientArgs(ops.Shape(a), sx)
	one := number(a, 1)
	log := ops.Sub(ops.AddV2(ops.Lgamma(a), ops.Lgamma(b)), ops.Lgamma(ops.AddV2(a, b)))
	powers := ops.AddV2(ops.Xlog1py(ops.Sub(b, one), ops.Neg(x)), ops.Xlogy(ops.Sub(a, one), x))
	dx := ops.Sum(ops.Mul(ops.Exp(ops.Sub(powers, log)), dy[0]), rx)
	return tf.Grads(tf.Output{}, tf.Output{}, ops.Reshape(dx, sx))
}
