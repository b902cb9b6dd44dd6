package layers

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// GlorotUniform returns uniform random numbers in [-l, l), l = sqrt(6 / (in +
// out)), for a kernel whose last two sizes are in and out and whose other ones
// multiply both.
func GlorotUniform(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	in, out := fans(s)
	limit := math.Sqrt(6 / (in + out))
	var y tf.Output
	g.Scope("random_uniform", func() {
		u := ops.RandomUniform(shapeConst(g, s), d, tf.Name("RandomUniform"))
		low, high := scalar(g, d, -limit), scalar(g, d, limit)
		y = ops.Add(ops.Mul(u, ops.Sub(high, low)), low)
	})
	return y
}

// Zeros returns zeros.
func Zeros(g *tf.Graph, d tf.DType, s tf.Shape) tf.Output {
	return ops.Fill(shapeConst(g, s), scalar(g, d, 0), tf.Name("zeros"))
}

// fans returns the numbers of inputs and outputs of one unit.
func fans(s tf.Shape) (in, out float64) {
	switch len(s) {
	case 0:
		return 1, 1
	case 1:
		return float64(s[0]), float64(s[0])
	}
	field := 1.0
	for _, d := range s[:len(s)-2] {
		field *= float64(d)
	}
	return field * float64(s[len(s)-2]), field * float64(s[len(s)-1])
}

func shapeConst(g *tf.Graph, s tf.Shape) tf.Output {
	v := make([]int32, len(s))
	for i, d := range s {
		v[i] = int32(d)
	}
	return ops.Const(g, v, len(v))
}

func scalar(g *tf.Graph, d tf.DType, x float64) tf.Output {
	t, err := tf.ScalarOf(d, x)
	if err != nil {
		return tf.Failed(g, "Const", err).Output(0)
	}
	return ops.ConstTensor(g, t)
}
