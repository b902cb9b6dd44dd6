package image

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// A mixture is the colors of a gradient's op, by channel, as its function sees
// them: which one is the greatest and which the least, as numbers 1 and 0.
type mixture struct {
	x               [3]tf.Output
	biggest, lowest [3]tf.Output
	saturation      tf.Output
	value           tf.Output
}

// newMixture finds the greatest and least: red comes before green, and green
// before blue, if they are equal.
func newMixture(op *tf.Operation) *mixture {
	m := &mixture{x: [3]tf.Output(channelsOf(op.Input(0)))}
	r, g, b := m.x[0], m.x[1], m.x[2]
	both := func(x, y tf.Output) tf.Output { return ops.Cast(ops.LogicalAnd(x, y), r.DType()) }
	m.biggest = [3]tf.Output{
		both(ops.GreaterEqual(r, b), ops.GreaterEqual(r, g)), both(ops.Greater(g, r), ops.GreaterEqual(g, b)), both(ops.Greater(b, r), ops.Greater(b, g)),
	}
	m.lowest = [3]tf.Output{
		both(ops.Less(r, b), ops.Less(r, g)), both(ops.LessEqual(g, r), ops.Less(g, b)), both(ops.LessEqual(b, r), ops.LessEqual(b, g)),
	}
	hsv := channelsOf(op.Output(0))
	m.saturation, m.value = hsv[1], hsv[2]
	return m
}

func channelsOf(x tf.Output) []tf.Output { return ops.Unpack(x, 3, ops.AxisOpts{Axis: -1}) }

// product multiplies.
func product(x ...tf.Output) tf.Output {
	y := x[0]
	for _, v := range x[1:] {
		y = ops.Mul(y, v)
	}
	return y
}

// per returns 1/x, and 0 for 0.
func per(x tf.Output) tf.Output {
	one := ops.Cast(ops.Scalar(x.Graph(), float32(1)), x.DType())
	return ops.DivNoNan(one, x)
}

// positive returns 1 where x is.
func positive(x tf.Output) tf.Output {
	return ops.Cast(ops.Greater(x, ops.ZerosLike(x)), x.DType())
}

// bySaturation returns the derivative of the saturation by channel c.
func (m *mixture) bySaturation(c int) tf.Output {
	n, p := (c+1)%3, (c+2)%3
	least := ops.Add(ops.Mul(m.lowest[n], m.x[n]), ops.Mul(m.lowest[p], m.x[p]))
	most := ops.Add(ops.Mul(m.biggest[n], m.x[n]), ops.Mul(m.biggest[p], m.x[p]))
	asBiggest := product(m.biggest[c], least, per(ops.Square(m.x[c])))
	return ops.Mul(positive(m.x[c]), ops.Sub(asBiggest, ops.Mul(m.lowest[c], per(most))))
}

// byHue returns the derivative of the hue by channel c, of which n and p are the
// next ones around the circle.
func (m *mixture) byHue(c int) tf.Output {
	n, p := (c+1)%3, (c+2)%3
	step := ops.Sub(m.x[p], m.x[n])
	sum := product(positive(m.x[c]), m.biggest[c], step, per(ops.Square(m.saturation)), per(ops.Square(m.value)))
	for _, k := range []int{n, p} {
		rival := ops.Mul(positive(m.x[k]), m.biggest[k])
		asLowest := product(rival, m.lowest[c], step, per(ops.Square(ops.Sub(m.x[c], m.x[k]))))
		between := product(rival, m.lowest[n+p-k], per(step))
		sum = ops.Add(sum, ops.Add(asLowest, between))
	}
	return ops.RealDiv(sum, ops.Cast(ops.Scalar(sum.Graph(), float32(6)), sum.DType()))
}

// rgbToHSVGrad is TensorFlow's: what is between the colors of a circle in pieces
// has the derivative of one of them.
func rgbToHSVGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	m, g := newMixture(op), channelsOf(dy[0])
	out := make([]tf.Output, 3)
	for c := range out {
		byValue := ops.Mul(g[2], m.biggest[c])
		out[c] = ops.Add(ops.Add(byValue, ops.Mul(g[1], m.bySaturation(c))), ops.Mul(g[0], m.byHue(c)))
	}
	return tf.Grads(ops.Pack(out, ops.AxisOpts{Axis: -1}))
}
