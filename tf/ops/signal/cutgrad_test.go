package signal_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/signal"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// TestGradientsOfCutTransforms: transforms of less than there is have gradients, which are zero
// for what is left out, as have those of more.
func TestGradientsOfCutTransforms(t *testing.T) {
	for _, n := range [][]int32{{1}, {2}, {3}, {4}, {5}, {6}, {7}, {9}, {1, 4}, {2, 4}, {3, 3}, {2, 2}, {4, 4}, {3, 6}, {2, 5}} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			g := eager.New()
			lengths := ops.Const(g, n, len(n))
			shape, forward, inverse := []int{2, 5}, signal.RFFT, signal.IRFFT
			if len(n) == 2 {
				shape, forward, inverse = []int{2, 3, 4}, signal.RFFT2D, signal.IRFFT2D
			}
			re, im := wave(t, 1, shape...), wave(t, 2, shape...)
			tftest.Gradients(t, g, func(x []tf.Output) tf.Output {
				y := forward(x[0], lengths)
				return ops.Concat(0, []tf.Output{ops.Real(y), ops.Imag(y)})
			}, re)
			tftest.Gradients(t, g, func(x []tf.Output) tf.Output { return inverse(ops.Complex(x[0], x[1]), lengths) }, re, im)
		})
	}
}

// wave returns numbers of some shape.
func wave(t *testing.T, seed int, shape ...int) *tf.Tensor {
	t.Helper()
	v := make([]float64, tf.Shape(shape).NumElements())
	for i := range v {
		v[i] = float64((i+seed)*(i+seed)%7) - 2.5
	}
	x, err := tf.FromSlice(v, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
