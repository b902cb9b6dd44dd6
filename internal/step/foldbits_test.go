package step_test

import (
	"bytes"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestFoldedConvolutions: a convolution of constants has the same bits whether it is computed before
// the first step or in each, and so has one whose images are fed.
func TestFoldedConvolutions(t *testing.T) {
	for _, s := range []tf.Shape{{1, 6, 6, 128}, {1, 10, 10, 64}} {
		filters := tf.Shape{3, 3, s[3], 64}
		g := tf.NewGraph()
		images, w := ops.Placeholder(g, tf.Float32, s), ops.ConstTensor(g, waves(s[3]*9*64, filters))
		conv := func(x tf.Output) tf.Output { return ops.Conv2D(x, w, []int{1, 1, 1, 1}, "SAME") }
		x := waves(s.NumElements(), s)
		folded, fed := conv(ops.ConstTensor(g, x)), conv(images)
		var all []*tf.Tensor
		for _, disabled := range [][]string{nil, {"constant_folding"}} {
			ss, err := session.New(g, session.With(session.Config{DisabledPasses: disabled}))
			if err != nil {
				t.Fatal(err)
			}
			defer ss.Close()
			out, err := ss.Run(t.Context(), session.Feeds{images: x}, folded, fed)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, out...)
		}
		for i, y := range all {
			if !bytes.Equal((*core.Tensor)(y).Buffer().Bytes(), (*core.Tensor)(all[3]).Buffer().Bytes()) {
				t.Errorf("%v: result %d begins with %v, want %v", s, i, y.At(0), all[3].At(0))
			}
		}
	}
}

// waves returns a tensor of n numbers that are not simple.
func waves(n int, s tf.Shape) *tf.Tensor {
	t := core.NewTensor(tf.Float32, s)
	for i := range n {
		core.Data[float32](t)[i] = float32(i*i%377)/377.3 - 0.5
	}
	return (*tf.Tensor)(t)
}
