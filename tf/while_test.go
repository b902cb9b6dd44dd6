package tf_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func apply(op string, in ...tf.Output) tf.Output { return tf.Apply(nil, op, in).Output(0) }

// repeat returns x after n times body.
func repeat(n int, x tf.Output, body func(x tf.Output) tf.Output, opts ...tf.Option) tf.Output {
	g := x.Graph()
	limit := constant(g, tf.Scalar(int32(n)))
	out := tf.While([]tf.Output{constant(g, tf.Scalar(int32(0))), x},
		func(v []tf.Output) tf.Output { return apply("Less", v[0], limit) },
		func(v []tf.Output) []tf.Output {
			return []tf.Output{apply("AddV2", v[0], constant(g, tf.Scalar(int32(1)))), body(v[1])}
		}, opts...)
	return out[1]
}

func TestWhileGradient(t *testing.T) {
	g := tf.NewGraph()
	x, w := vec(g, 1, 2), vec(g, 3, 4)
	y := repeat(4, x, func(x tf.Output) tf.Output { return mul(x, w) }) // x w⁴
	gs, err := tf.Gradients(y, x, w)
	if err != nil {
		t.Fatal(err)
	}
	got := run(t, g, y, gs[0], gs[1])
	tftest.Elements(t, got[0], []float64{81, 512})
	tftest.Elements(t, got[1], []float64{81, 256})
	tftest.Elements(t, got[2], []float64{4 * 27, 2 * 4 * 64})
}

func TestCondGradient(t *testing.T) {
	g := tf.NewGraph()
	x, w := vec(g, 1, 2), vec(g, 3, 4)
	for want, pred := range map[float64]bool{3: true, 1: false} {
		p := constant(g, tf.Scalar(pred))
		y := tf.Cond(p, func() []tf.Output { return []tf.Output{mul(x, w)} }, func() []tf.Output { return []tf.Output{mul(x, x)} })
		gs, err := tf.Gradients(y[0], x)
		if err != nil {
			t.Fatal(err)
		}
		got := run(t, g, y[0], gs[0])
		if v := tf.Data[float64](got[0])[0]; v != want {
			t.Errorf("got %v, want %v", v, want)
		}
	}
}
