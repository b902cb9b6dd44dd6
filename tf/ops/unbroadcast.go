package ops

import "github.com/gorge-tf/gorge/tf"

// unbroadcast reduces the gradients of the operands x and y of a broadcasting
// operation, which have the shape of the result, to the operands' own shapes.
// The zero Output is no gradient.
func unbroadcast(x, y, dx, dy tf.Output) []tf.Gradient {
	xAxes, yAxes, ok := broadcastAxes(x.Shape(), y.Shape())
	if ok {
		dx = sumToShape(dx, x, xAxes, len(y.Shape()) > len(x.Shape()))
		dy = sumToShape(dy, y, yAxes, len(x.Shape()) > len(y.Shape()))
		return tf.Grads(dx, dy)
	}
	sx, sy := sizes(x), sizes(y)
	rx, ry := BroadcastGradientArgs(sx, sy)
	return tf.Grads(sumTo(dx, rx, sx), sumTo(dy, ry, sy))
}

// sumToShape reduces the gradient of x over axes that are known, if there are
// any or if x has fewer dimensions than the result.
func sumToShape(dx, x tf.Output, axes []int, lowerRank bool) tf.Output {
	if dx.IsZero() || len(axes) == 0 && !lowerRank {
		return dx
	}
	return sumTo(dx, intVec(dx, tf.Int32, axes...), sizes(x))
}

func sumTo(dx, axes, shape tf.Output) tf.Output {
	if dx.IsZero() {
		return dx
	}
	return Reshape(Sum(dx, axes, ReduceOpts{KeepDims: true}), shape)
}

// broadcastAxes returns the dimensions of the result along which each operand
// is repeated, and whether they can be told from what is known of the shapes.
func broadcastAxes(x, y tf.Shape) (xAxes, yAxes []int, ok bool) {
	if x == nil || y == nil {
		return nil, nil, false
	}
	rank := max(len(x), len(y))
	for axis := range rank {
		m, n := sizeFromEnd(x, rank-axis), sizeFromEnd(y, rank-axis)
		switch {
		case m == 1 && n != 1:
			xAxes = append(xAxes, axis)
		case n == 1 && m != 1:
			yAxes = append(yAxes, axis)
		case m < 0 || n < 0:
			return nil, nil, false
		}
	}
	return xAxes, yAxes, true
}

// sizeFromEnd returns the size of dimension i counted from the end, 1 for
// dimensions that s does not have.
func sizeFromEnd(s tf.Shape, i int) int {
	if i > len(s) {
		return 1
	}
	return s[len(s)-i]
}
