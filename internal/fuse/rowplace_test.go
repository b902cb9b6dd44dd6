package fuse_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestRowsInPlace has rows that a product made computed in its memory: what makes of a row another
// one may read its operand after it has begun to write.
func TestRowsInPlace(t *testing.T) {
	for _, d := range []tf.DType{tf.Float32, tf.Float64} {
		for name, op := range map[string]unary{"Softmax": ops.Softmax, "LogSoftmax": ops.LogSoftmax} {
			g := tf.NewGraph()
			p := &program{Rand: rand.New(rand.NewPCG(1, 2)), dtype: d, plain: true}
			x := ops.Placeholder(g, d, tf.Shape{40, 40})
			y := op(ops.MatMul(x, x))
			a := newAtOnce(t, g, []session.Feeds{{x: p.tensor(tf.Shape{40, 40})}}, []tf.Fetchable{y, ops.Mul(y, y)}, 1)
			got, err := a.s.Run(context.Background(), a.feeds[0], a.fetches...)
			if err != nil {
				t.Fatal(err)
			}
			for k := range got {
				if why := differ(got[k], a.want[0][k]); why != "" {
					t.Errorf("%s of %v, output %d: %s", name, d, k, why)
				}
			}
		}
	}
}
