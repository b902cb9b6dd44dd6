package ops_test

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestRowsOfSixteenBits compares rows of 16-bit floats with those of the same numbers as float32:
// rows that are computed some at a time, alone and as a whole.
func TestRowsOfSixteenBits(t *testing.T) {
	g := eager.New()
	last := ops.Constant(g, int32(-1))
	for _, d := range []tf.DType{tf.Float16, tf.BFloat16} {
		for _, n := range []int{1, 3, 100, 2000, 4096, 5000} {
			x := ops.Cast(ops.Reshape(ops.Constant(g, kerneltest.Random[float32](41*n, 3)), ops.Constant(g, []int32{41, int32(n)})), d)
			for name, f := range map[string]func(x tf.Output) tf.Output{
				"Softmax":    func(x tf.Output) tf.Output { return ops.Softmax(x) },
				"LogSoftmax": func(x tf.Output) tf.Output { return ops.LogSoftmax(x) },
				"Sum":        func(x tf.Output) tf.Output { return ops.Sum(x, last) },
				"Max":        func(x tf.Output) tf.Output { return ops.Max(x, last) },
				"Mean":       func(x tf.Output) tf.Output { return ops.Mean(x, last) },
			} {
				got, err := f(x).Value()
				want, wantErr := ops.Cast(f(ops.Cast(x, tf.Float32)), d).Value()
				if err != nil || wantErr != nil || got.String() != want.String() {
					t.Errorf("%s of %v in rows of %d: %v, %v (%v, %v)", name, d, n, got, want, err, wantErr)
				}
			}
		}
	}
}
