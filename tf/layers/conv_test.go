package layers_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
)

func TestConv2D(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 9, 8, 2})
	h := layers.MaxPool2D(layers.Conv2D(x, 4, 3, layers.ConvOpts{Padding: "SAME", Activation: layers.Relu}), 2, 2, "SAME")
	y := layers.Flatten(layers.Conv2D(h, 6, 2, layers.ConvOpts{Strides: []int{2}}))
	if err := y.Err(); err != nil {
		t.Fatal(err)
	}
	if want := (tf.Shape{-1, 2 * 2 * 6}); !y.Shape().Equal(want) {
		t.Errorf("the output's shape is %v, want %v", y.Shape(), want)
	}
	var names []string
	for _, v := range tf.Variables(g, tf.TrainableVariables) {
		names = append(names, v.Name())
	}
	if got := strings.Join(names, " "); got != "conv2d/kernel conv2d/bias conv2d_1/kernel conv2d_1/bias" {
		t.Errorf("variables are %q", got)
	}
}

// TestConv2DOfOnes sums up the windows of an image of ones: each result is the
// sum of the kernel's taps that lie inside.
func TestConv2DOfOnes(t *testing.T) {
	g := eager.New()
	l := layers.NewConv2D(1, 3, layers.ConvOpts{Padding: "SAME"})
	x := ops.Const(g, []float32{1, 1, 1, 1}, 1, 2, 2, 1)
	y, err := l.Apply(x).Value()
	if err != nil {
		t.Fatal(err)
	}
	k, err := l.Kernel.Value().Value()
	if err != nil {
		t.Fatal(err)
	}
	w := tf.Data[float32](k)
	want := w[4] + w[5] + w[7] + w[8]
	if got := tf.Data[float32](y)[0]; got-want > 1e-6 || want-got > 1e-6 {
		t.Errorf("the first result is %v, want %v", got, want)
	}
}

func TestDropout(t *testing.T) {
	g := eager.New()
	g.SetSeed(3)
	const n = 10000
	x := make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	y, err := layers.Dropout(ops.Const(g, x, n), 0.25).Value()
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i, v := range tf.Data[float32](y) {
		if v != 0 && v != float32(1/0.75) {
			t.Fatalf("element %d is %v", i, v)
		}
		if v != 0 {
			kept++
		}
	}
	if kept < n*73/100 || kept > n*77/100 {
		t.Errorf("%d of %d elements are kept, want three in four", kept, n)
	}
}

func TestLayersRefuse(t *testing.T) {
	for name, f := range map[string]func(g *tf.Graph) tf.Output{
		"rate of 1":     func(g *tf.Graph) tf.Output { return layers.Dropout(ops.Scalar(g, float32(1)), 1) },
		"unknown sizes": func(g *tf.Graph) tf.Output { return layers.Flatten(ops.Placeholder(g, tf.Float32, tf.Shape{-1, -1})) },
		"unknown channels": func(g *tf.Graph) tf.Output {
			return layers.Conv2D(ops.Placeholder(g, tf.Float32, tf.Shape{-1, 3, 3, -1}), 2, 2, layers.ConvOpts{})
		},
		"nothing to flatten": func(g *tf.Graph) tf.Output { return layers.Flatten(ops.Scalar(g, float32(1))) },
	} {
		if f(tf.NewGraph()).Err() == nil {
			t.Errorf("%s is not refused", name)
		}
	}
}
