package train_test

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// valueOf returns the elements of an eager output.
func valueOf(t *testing.T, x tf.Output) []float64 {
	t.Helper()
	v, err := x.Cast(tf.Float64).Value()
	if err != nil {
		t.Fatal(err)
	}
	return tf.Data[float64](v)
}

func TestClip(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float64{3, 0, 0, 4, 0.3, 0.4}, 3, 2)
	norm := math.Sqrt(9 + 16 + 0.25)
	scaled := func(by float64) []float64 { return []float64{3 * by, 0, 0, 4 * by, 0.3 * by, 0.4 * by} }
	for _, c := range []struct {
		name string
		got  tf.Output
		want []float64
	}{
		{"the whole", train.ClipByNorm(x, 2), scaled(2 / norm)},
		{"below the limit", train.ClipByNorm(x, 20), scaled(1)},
		{"by row", train.ClipByNorm(x, 2, 1), []float64{2, 0, 0, 2, 0.3, 0.4}},
		{"a negative limit", train.ClipByNorm(x, -1), scaled(0)},
		{"zeros", train.ClipByNorm(x.Mul(ops.Scalar(g, 0.0)), 2), scaled(0)},
		{"average", train.ClipByAverageNorm(x, 0.5), scaled(0.5 * 6 / norm)},
		{"average below the limit", train.ClipByAverageNorm(x, 2), scaled(1)},
	} {
		near(t, c.name, valueOf(t, c.got), c.want)
	}
}

// TestClipByNormGradient: where the norm is zero the gradient is the factor 1.
func TestClipByNormGradient(t *testing.T) {
	g := eager.New()
	x := ops.Const(g, []float64{0, 0})
	var y tf.Output
	tape := eager.Record(g, func() { y = train.ClipByNorm(x, 2).Sum() })
	dx, err := tape.Gradients(y, x)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "gradient at 0", valueOf(t, dx[0]), []float64{1, 1})
}

func TestClipByGlobalNorm(t *testing.T) {
	g := eager.New()
	dense := tf.Dense(ops.Const(g, []float64{3, 0}))
	sparse := tf.Sparse(tf.IndexedSlices{Values: ops.Const(g, []float64{4}, 1, 1), Indices: ops.Const(g, []int32{7}), DenseShape: ops.Const(g, []int32{9, 1})})
	for _, c := range []struct{ limit, by float64 }{{1, 0.2}, {10, 1}} {
		out, norm := train.ClipByGlobalNorm(c.limit, dense, tf.Gradient{}, sparse)
		near(t, "norm", valueOf(t, norm), []float64{5})
		near(t, "dense", valueOf(t, out[0].Output()), []float64{3 * c.by, 0})
		s, ok := out[2].IndexedSlices()
		if !ok || !out[1].IsZero() {
			t.Fatalf("gradients become %v", out)
		}
		near(t, "sparse", valueOf(t, s.Values), []float64{4 * c.by})
	}
	out, _ := train.ClipByGlobalNorm(1, tf.Dense(ops.Const(g, []float64{math.Inf(1), 1})))
	if v := valueOf(t, out[0].Output()); !math.IsNaN(v[1]) {
		t.Errorf("with an infinite norm the gradients are %v, want NaN", v)
	}
	if train.GlobalNorm().Err() == nil {
		t.Error("the norm of nothing is no error")
	}
}
