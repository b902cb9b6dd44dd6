package layers_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/layers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// column is a batch of one channel whose mean is 4 and whose variance 8, or,
// without bias, 10.67.
var column = []float32{0, 8, 4, 4}

// normalized is column less its mean by its deviation.
func normalized() []float32 {
	out := make([]float32, len(column))
	for i, v := range column {
		out[i] = float32((float64(v) - 4) / math.Sqrt(8+0.001))
	}
	return out
}

// TestBatchNormInGraph trains for a step, then infers.
func TestBatchNormInGraph(t *testing.T) {
	for _, shape := range []tf.Shape{{4, 1}, {1, 2, 2, 1}, {4, 1, 1, 1}} {
		g := tf.NewGraph(tf.Strict())
		l := layers.NewBatchNorm(layers.BatchNormOpts{Momentum: 0.5})
		x := ops.Const(g, column, shape...)
		train, infer := l.Apply(x, true), l.Apply(x, false)
		updates := layers.Updates(g)
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		run := func(fetches ...tf.Fetchable) []*tf.Tensor {
			t.Helper()
			out, err := s.Run(t.Context(), nil, fetches...)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		run(tf.InitializeAll(g))
		out := run(train, updates)
		tftest.Elements(t, out[0], normalized(), tftest.Within(1e-6, 1e-6))
		if !out[0].Shape().Equal(shape) {
			t.Errorf("shape %v became %v", shape, out[0].Shape())
		}
		averages := run(l.MovingMean.Value(), l.MovingVariance.Value())
		tftest.Elements(t, averages[0], []float32{2}, tftest.Within(1e-6, 0))
		variance := (1 + 32.0/3) / 2 // the fused operation's is without bias
		if len(shape) == 2 {
			variance = (1 + 8.0) / 2
		}
		tftest.Elements(t, averages[1], []float32{float32(variance)}, tftest.Within(1e-6, 0))
		want := make([]float32, len(column))
		for i, v := range column {
			want[i] = float32((float64(v) - 2) / math.Sqrt(variance+0.001))
		}
		tftest.Elements(t, run(infer)[0], want, tftest.Within(1e-6, 1e-6))
	}
}

func TestBatchNormEagerly(t *testing.T) {
	g := eager.New()
	l := layers.NewBatchNorm()
	y, err := l.Apply(ops.Const(g, column, 4, 1), true).Value()
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, y, normalized(), tftest.Within(1e-6, 1e-6))
	mean, err := l.MovingMean.Value().Value()
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, mean, []float32{0.04}, tftest.Within(1e-5, 0))
}

func TestBatchNormNames(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{2, 3})
	layers.BatchNorm(x, true)
	l := layers.NewBatchNorm()
	l.Apply(x, true)
	if got := l.MovingVariance.Name(); got != "batch_normalization_1/moving_variance" {
		t.Error(got)
	}
	if n := len(tf.Variables(g, tf.TrainableVariables)); n != 4 {
		t.Errorf("%d variables are trained, want gamma and beta of both layers", n)
	}
	if err := l.Apply(ops.Placeholder(tf.NewGraph(), tf.Float32, tf.Shape{2, 3}), true).Err(); err == nil {
		t.Error("an input of another graph was taken")
	}
	if err := l.Apply(ops.Placeholder(g, tf.Float32, tf.Shape{2, 4}), true).Err(); err == nil || !strings.Contains(err.Error(), "built for channels [3]") {
		t.Error(err)
	}
}
