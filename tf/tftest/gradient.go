package tftest

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// Gradients fails the test if the gradients of f at x, taken on a tape of the
// eager graph g, are not those that finite differences give. Inputs and result
// of f are of type float64 or complex128; others are too coarse for differences.
//
// All elements of f's result count, each with a weight of its own, so that
// gradients that end at the wrong element show.
func Gradients(t testing.TB, g *tf.Graph, f func(x []tf.Output) tf.Output, x ...*tf.Tensor) bool {
	t.Helper()
	n := numeric{g: g, f: f, x: x}
	got, err := n.analytic()
	if err != nil {
		t.Error(err)
		return false
	}
	ok := true
	for i := range x {
		want, err := n.differences(i)
		if err != nil {
			t.Error(err)
			return false
		}
		if diff := Diff(want, got[i], Within(1e-5, 1e-6)); diff != "" {
			t.Errorf("gradient for input %d differs from finite differences (-differences +gradient):\n%s", i, diff)
			ok = false
		}
	}
	return ok
}

// numeric is one comparison.
type numeric struct {
	g *tf.Graph
	f func(x []tf.Output) tf.Output
	x []*tf.Tensor
}

func (n *numeric) inputs() []tf.Output {
	in := make([]tf.Output, len(n.x))
	for i, t := range n.x {
		in[i] = constant(n.g, t)
	}
	return in
}

func constant(g *tf.Graph, t *tf.Tensor) tf.Output {
	return tf.Apply(g, "Const", nil, tf.Attr("value", t), tf.Attr("dtype", t.DType())).Output(0)
}

// analytic returns the gradients that the tape gives.
func (n *numeric) analytic() ([]*tf.Tensor, error) {
	var in []tf.Output
	var y tf.Output
	tape := n.g.Record(func() {
		in = n.inputs()
		y = n.f(in)
	})
	v, err := y.Value()
	if err != nil {
		return nil, err
	}
	gs, err := tape.Differentiate(tf.GradientOptions{
		Ys: []tf.Output{y}, Xs: in, GradYs: []tf.Output{constant(n.g, weights(v))}, ZeroUnconnected: true,
	})
	if err != nil {
		return nil, err
	}
	out := make([]*tf.Tensor, len(gs))
	for i, d := range gs {
		if out[i], err = d.Output().Value(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// weights returns numbers that are all different, of v's type and shape.
func weights(v *tf.Tensor) *tf.Tensor {
	w := v.Clone()
	for i := range w.Len() {
		a, b := math.Sin(float64(3*i+1)), math.Cos(float64(5*i+2))
		if w.DType() == tf.Complex128 {
			tf.Data[complex128](w)[i] = complex(a, b)
		} else {
			tf.Data[float64](w)[i] = a
		}
	}
	return w
}

// differences returns the gradient for input i by central differences.
func (n *numeric) differences(i int) (*tf.Tensor, error) {
	x := n.x[i]
	out := x.Clone()
	for k := range x.Len() {
		re, err := n.slope(i, k, 1)
		if err != nil {
			return nil, err
		}
		if x.DType() != tf.Complex128 {
			tf.Data[float64](out)[k] = re
			continue
		}
		im, err := n.slope(i, k, 1i)
		if err != nil {
			return nil, err
		}
		tf.Data[complex128](out)[k] = complex(re, im)
	}
	return out, nil
}

// slope returns how fast the weighted sum of f's result grows as element k of
// input i moves in direction dir.
func (n *numeric) slope(i, k int, dir complex128) (float64, error) {
	const h = 1e-5
	up, err := n.shifted(i, k, h*dir)
	if err != nil {
		return 0, err
	}
	down, err := n.shifted(i, k, -h*dir)
	return (up - down) / (2 * h), err
}

// shifted returns the weighted sum with element k of input i moved by d.
func (n *numeric) shifted(i, k int, d complex128) (float64, error) {
	old := n.x[i]
	defer func() { n.x[i] = old }()
	n.x[i] = old.Clone()
	if old.DType() == tf.Complex128 {
		tf.Data[complex128](n.x[i])[k] += d
	} else {
		tf.Data[float64](n.x[i])[k] += real(d)
	}
	y, err := n.f(n.inputs()).Value()
	if err != nil {
		return 0, err
	}
	return weigh(y), nil
}

// weigh returns the real part of the product of y with its weights: what a
// gradient with those weights as gradient of y is the gradient of.
func weigh(y *tf.Tensor) (sum float64) {
	w := weights(y)
	for k := range y.Len() {
		if y.DType() == tf.Complex128 {
			a, b := tf.Data[complex128](w)[k], tf.Data[complex128](y)[k]
			sum += real(a)*real(b) + imag(a)*imag(b)
		} else {
			sum += tf.Data[float64](w)[k] * tf.Data[float64](y)[k]
		}
	}
	return sum
}
