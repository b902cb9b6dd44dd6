package layers_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

func TestDense(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 3})
	h := layers.Dense(x, 4, layers.Relu)
	y := layers.Dense(h, 2)
	if !y.Shape().Equal(tf.Shape{-1, 2}) {
		t.Errorf("the output's shape is %v", y.Shape())
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var names []string
	vars := tf.Variables(g, tf.TrainableVariables)
	fetches := []tf.Fetchable{h}
	for _, v := range vars {
		names = append(names, v.Name())
		fetches = append(fetches, v.Value())
	}
	if got := strings.Join(names, " "); got != "dense/kernel dense/bias dense_1/kernel dense_1/bias" {
		t.Errorf("variables are %q", got)
	}
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	in, err := tf.FromSlice([]float32{1, 2, 3}, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Run(t.Context(), session.Feeds{x: in}, fetches...)
	if err != nil {
		t.Fatal(err)
	}
	checkDense(t, tf.Data[float32](out[0]), tf.Data[float32](out[1]))
}

// checkDense compares with relu(x·w) by hand: the bias is zero.
func checkDense(t *testing.T, got, w []float32) {
	t.Helper()
	for j := range got {
		want := float32(0)
		for i, x := range []float32{1, 2, 3} {
			want += x * w[i*4+j]
		}
		if math.Abs(float64(got[j]-max(want, 0))) > 1e-6 {
			t.Errorf("unit %d is %v, want %v", j, got[j], max(want, 0))
		}
	}
}

func TestDenseRefuses(t *testing.T) {
	for name, build := range map[string]func(g *tf.Graph) tf.Output{
		"unknown inputs": func(g *tf.Graph) tf.Output { return layers.Dense(ops.Placeholder(g, tf.Float32, nil), 3) },
		"a vector":       func(g *tf.Graph) tf.Output { return layers.Dense(ops.Const(g, []float32{1}), 3) },
		"no units":       func(g *tf.Graph) tf.Output { return layers.Dense(ops.Const(g, []float32{1}, 1, 1), 0) },
	} {
		g := tf.NewGraph()
		y := build(g)
		if tf.CodeOf(y.Err()) != tf.InvalidArgument || g.Err() == nil || !strings.Contains(g.Err().Error(), "layers_test.go:") {
			t.Errorf("%s: %v, graph %v", name, y.Err(), g.Err())
		}
	}
	bad := ops.MatMul(ops.Const(tf.NewGraph(), []float32{1}), tf.Output{})
	if y := layers.Dense(bad, 3); y.Err() == nil {
		t.Error("a mistake made before is lost")
	}
}
