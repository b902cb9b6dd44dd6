// Package initializers has the initial values of variables: TensorFlow's module
// tf.initializers. For equal seeds the numbers are TensorFlow's.
package initializers

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// An Initializer adds a value of the given type and shape, all sizes known.
type Initializer func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output

// Zeros returns zeros, or empty strings.
func Zeros(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	if d.Base() == tf.String {
		return ops.Fill(shapeConst(g, s), ops.ConstValue(g, core.Scalar("")), tf.Name("zeros"))
	}
	return ops.Fill(shapeConst(g, s), scalar(g, d, 0), tf.Name("zeros"))
}

// Ones returns ones.
func Ones(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	return ops.Fill(shapeConst(g, s), scalar(g, d, 1), tf.Name("ones"))
}

// Constant gives all elements the value x; Values those of a slice.
func Constant(x float64) Initializer {
	return func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		return ops.Fill(shapeConst(g, s), scalar(g, d, x), tf.Name("Const"))
	}
}

// RandomUniform gives uniform random numbers in [low, high), of type int32 or int64
// as well. All random initializers take at most one seed.
func RandomUniform(low, high float64, seed ...int64) Initializer {
	return func(g *tf.Graph, d tf.DType, s tf.Shape) (y tf.Output) {
		if g == nil {
			return refuse(nil, errNoGraph)
		}
		if d == tf.Int32 || d == tf.Int64 {
			return ops.RandomUniformInt(nil, shapeConst(g, s), scalar(g, d, low), scalar(g, d, high), seeded(seed, "random_uniform")...)
		}
		g.Scope("random_uniform", func() {
			u := ops.RandomUniform(nil, shapeConst(g, s), d, seeded(seed, "RandomUniform")...)
			lowest, highest := scalar(g, d, low), scalar(g, d, high)
			y = ops.AddV2(ops.Mul(u, ops.Sub(highest, lowest)), lowest)
		})
		return y
	}
}

// RandomNormal gives normal random numbers.
func RandomNormal(mean, deviation float64, seed ...int64) Initializer {
	return normal("random_normal", "RandomStandardNormal", ops.RandomStandardNormal[tf.Output], mean, deviation, seed)
}

// TruncatedNormal gives normal random numbers that are at most two deviations
// from the mean.
func TruncatedNormal(mean, deviation float64, seed ...int64) Initializer {
	return normal("truncated_normal", "TruncatedNormal", ops.TruncatedNormal[tf.Output], mean, deviation, seed)
}

func normal(scope, op string, f func(*tf.Graph, tf.Output, tf.DType, ...tf.Option) tf.Output, mean, deviation float64, seed []int64) Initializer {
	return func(g *tf.Graph, d tf.DType, s tf.Shape) (y tf.Output) {
		if g == nil {
			return refuse(nil, errNoGraph)
		}
		g.Scope(scope, func() {
			z := f(nil, shapeConst(g, s), d, seeded(seed, op)...)
			y = ops.AddV2(ops.Mul(z, scalar(g, d, deviation)), scalar(g, d, mean))
		})
		return y
	}
}

func seeded(seed []int64, name string) []tf.Option {
	opts := []tf.Option{tf.Name(name)}
	if len(seed) > 0 {
		opts = append(opts, ops.Seed(seed[0]))
	}
	return opts
}

// Identity gives the identity matrix times gain; the shape must have rank 2.
func Identity(gain float64) Initializer {
	return func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		if len(s) != 2 {
			return refuse(g, tf.Errorf(tf.InvalidArgument, "The tensor to initialize, specified by argument `shape` must be at least two-dimensional. Received shape=%v", s))
		}
		_, at := within(g, s)
		rows, columns := places(g, at[0], s[0]), places(g, at[1], s[1])
		on := ops.Equal(ops.ExpandDims(rows, 1), ops.ExpandDims(columns, 0))
		return ops.SelectV2(on, scalar(g, d, gain), scalar(g, d, 0)) // computed, not a constant, which the graph would hold
	}
}

// places returns the numbers of n rows or columns, the first of which is from.
func places(g *tf.Graph, from, n int) tf.Output {
	return ops.Range(g, int64(from), int64(from)+int64(n), int64(1))
}

var errNoGraph = tf.Errorf(tf.InvalidArgument, "an initial value needs a graph, got nil: make one by tf.NewGraph")

func refuse(g *tf.Graph, err error) tf.Output { return tf.Failed(g, "initializer", err).Output(0) }

// shapeConst is int32, as TensorFlow's, unless a size needs more.
func shapeConst(g *tf.Graph, s tf.Shape) tf.Output {
	v, wide := make([]int32, len(s)), make([]int64, len(s))
	same := true
	for i, d := range s {
		v[i], wide[i] = int32(d), int64(d)
		same = same && int64(v[i]) == wide[i]
	}
	if !same {
		return ops.Const(g, wide, len(wide))
	}
	return ops.Const(g, v, len(v))
}

func scalar(g *tf.Graph, d tf.DType, x float64) tf.Output {
	if d.Base() == tf.Bool && (x == 0 || x == 1) {
		return ops.ConstValue(g, core.Scalar(x == 1))
	}
	t, err := core.ScalarOf(d, x)
	if err != nil {
		return tf.Failed(g, "Const", err).Output(0)
	}
	return ops.ConstValue(g, t)
}

// UniformUnitScaling gives uniform random numbers that keep the scale of what
// goes through a linear layer, times factor (Sussillo and Abbott 2014).
func UniformUnitScaling(factor float64, seed ...int64) Initializer {
	return func(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
		in := 1
		if whole, _ := within(g, s); len(whole) > 0 {
			in = whole[:len(whole)-1].NumElements()
		}
		limit := math.Sqrt(3/max(float64(in), 1)) * factor
		return RandomUniform(-limit, limit, seed...)(g, d, s)
	}
}
