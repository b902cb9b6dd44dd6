package fuse_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/fuse"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestNormOfOutputs splits a normalization by vectors that are not the first outputs of their nodes.
func TestNormOfOutputs(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	g, p := tf.NewGraph(), &program{Rand: rand.New(rand.NewPCG(1, 2)), dtype: tf.Float32, plain: true}
	x, w, v := ops.Placeholder(g, tf.Float32, tf.Shape{1, 4, 4, 3}), ops.Placeholder(g, tf.Float32, tf.Shape{3, 3, 3, 3}), ops.Placeholder(g, tf.Float32, tf.Shape{4, 3})
	of := ops.Unpack(v, 4)
	y := ops.Conv2D(x, w, []int{1, 1, 1, 1}, "SAME")
	z := ops.FusedBatchNormV3(y, of[3], of[2], of[1], ops.Abs(of[0]), ops.BatchNormOpts{Epsilon: 0.01, Inference: true})[0]
	feeds := session.Feeds{x: p.tensor(tf.Shape{1, 4, 4, 3}), w: p.tensor(tf.Shape{3, 3, 3, 3}), v: p.tensor(tf.Shape{4, 3})}
	a := newAtOnce(t, g, []session.Feeds{feeds}, []tf.Fetchable{z}, 1)
	got, err := a.s.Run(context.Background(), feeds, z)
	if err != nil {
		t.Fatal(err)
	}
	if why := differ(got[0], a.want[0][0]); why != "" {
		t.Error(why)
	}
}
