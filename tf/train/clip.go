package train

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// ClipByNorm scales x down so that its norm is at most limit: along axes, or
// that of the whole if there are none. A negative limit counts as 0.
func ClipByNorm(x tf.Output, limit float64, axes ...int) tf.Output {
	norm := sumKept(x.Mul(x), axes)
	positive := norm.Greater(ops.ZerosLike(norm))
	safe := ops.SelectV2(positive, norm, ops.OnesLike(norm)) // the gradient of a root of 0 is infinite
	norm = ops.SelectV2(positive, safe.Sqrt(), norm)
	bound := like(x, max(limit, 0))
	return x.Mul(bound).Div(norm.Maximum(bound))
}

// sumKept sums x along axes, which stay as dimensions of size 1.
func sumKept(x tf.Output, axes []int) tf.Output {
	along := ops.Range(x.Graph(), 0, ops.Rank(x), 1)
	if len(axes) > 0 {
		list := make([]int32, len(axes))
		for i, a := range axes {
			list[i] = int32(a)
		}
		along = ops.Const(x.Graph(), list)
	}
	return ops.Sum(x, along, ops.ReduceOpts{KeepDims: true})
}

// like adds a scalar in the type of x.
func like(x tf.Output, v float64) tf.Output {
	t, err := core.ScalarOf(x.DType(), v)
	if err != nil {
		return tf.Failed(x.Graph(), "Const", err).Output(0)
	}
	return ops.ConstValue(x.Graph(), t)
}

// ClipByAverageNorm scales x down so that its norm, divided by the number of
// its elements, is at most limit.
func ClipByAverageNorm(x tf.Output, limit float64) tf.Output {
	n := ops.Size(x).Cast(x.DType())
	scale := sumKept(x.Mul(x), nil).Rsqrt().Mul(n).Minimum(like(x, 1/limit))
	return x.Mul(like(x, limit)).Mul(scale)
}

// GlobalNorm returns the norm of all gradients taken together: the rows of
// sparse ones count as they are. Gradients that are none count 0.
func GlobalNorm(gs ...tf.Gradient) tf.Output {
	var halves []tf.Output
	for _, g := range gs {
		if v := valuesOf(g); !v.IsZero() {
			halves = append(halves, ops.L2Loss(v))
		}
	}
	if len(halves) == 0 {
		return tf.Failed(nil, "GlobalNorm", tf.Errorf(tf.InvalidArgument, "the norm of no gradients at all")).Output(0)
	}
	half := ops.AddN(halves)
	return half.Mul(like(half, 2)).Sqrt()
}

// valuesOf returns the elements of a gradient, without those that are zero
// because it is sparse.
func valuesOf(g tf.Gradient) tf.Output {
	if s, ok := g.IndexedSlices(); ok {
		return s.Values
	}
	if g.IsZero() {
		return tf.Output{}
	}
	return g.Output()
}

// ClipByGlobalNorm scales gradients down, all by the same factor, so that their
// norm taken together is at most limit (Pascanu et al., ICML 2013). It returns
// that norm too. If the norm is infinite, the gradients become NaN.
func ClipByGlobalNorm(limit float64, gs ...tf.Gradient) ([]tf.Gradient, tf.Output) {
	norm := GlobalNorm(gs...)
	one := like(norm, 1)
	scale := like(norm, limit).Mul(one.Div(norm).Minimum(one.Div(like(norm, limit))))
	scale = scale.Add(norm.Sub(norm)) // NaN if norm is infinite
	out := make([]tf.Gradient, len(gs))
	for i, g := range gs {
		out[i] = scaled(g, scale)
	}
	return out, norm
}

func scaled(g tf.Gradient, scale tf.Output) tf.Gradient {
	by := func(v tf.Output) tf.Output { return v.Mul(scale.Cast(v.DType())) }
	if s, ok := g.IndexedSlices(); ok {
		s.Values = by(s.Values)
		return tf.Sparse(s)
	}
	if g.IsZero() {
		return g
	}
	return tf.Dense(by(g.Output()))
}
