package rnn_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/rnn"
)

// TestScheduledSeeds: which class is chosen does not follow from the number by which one is.
// From equal numbers a small share would always have the first of two classes.
func TestScheduledSeeds(t *testing.T) {
	g := tf.NewGraph()
	x, n, share := sine(g, 1, 2, 2), ops.Const(g, []int32{2}), ops.Scalar(g, float32(1./16))
	embed := func(ids tf.Output) tf.Output { return ids.OneHot(2) }
	var all []tf.Output
	for seed := range int64(150) {
		h := rnn.ScheduledHelper(x, n, share, embed, seed+1)
		all = append(all, h.Sample(ops.Scalar(g, int32(0)), ops.Const(g, []float32{0, 0}, 1, 2)))
	}
	out, err := open(t, g).Run(t.Context(), nil, ops.Concat(0, all))
	if err != nil {
		t.Fatal(err)
	}
	count := map[int32]int{}
	for _, id := range tf.Data[int32](out[0]) {
		count[id]++
	}
	if count[0] == 0 || count[1] == 0 || count[0]+count[1]+count[-1] != 150 || count[-1] < 120 {
		t.Errorf("the classes are chosen so often: %v", count)
	}
}
