package rnn_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/rnn"
	"github.com/gorge-tf/gorge/tf/optest"
)

// What GatherTree of TensorFlow 1.15 returns for these inputs; TensorFlow 2 does not
// have it.
func init() {
	cube := func(v ...int32) *core.Tensor { return optest.Arr(tf.Shape{len(v) / 4, 2, 2}, v...) }
	steps := cube(1, 2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 5, 4, 5, 6, 7)
	parents := cube(0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1)
	orphans := cube(0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 1, 1)
	tree := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{rnn.GatherTree(in[0], in[1], in[2], in[3])}
	}
	addSamples(
		sample{Op: "GatherTree", In: tensors{steps, parents, i32(4, 3), optest.Scalar[int32](2)}, F: tree, Want: tensors{cube(2, 1, 3, 4, 2, 6, 7, 8, 2, 9, 3, 5, 2, 5, 2, 2)}},
		sample{Op: "GatherTree", Name: "too long, and none", In: tensors{steps, parents, i32(9, 0), optest.Scalar[int32](5)}, F: tree, Want: tensors{cube(2, 1, 5, 5, 5, 6, 5, 5, 5, 9, 5, 5, 5, 5, 5, 5)}},
		sample{Op: "GatherTree", Name: "lengths of beams, by TensorFlow 1.4", In: tensors{steps, parents, optest.Arr(tf.Shape{2, 2}, int32(4), 2, 0, 3), optest.Scalar[int32](-1)}, F: tree, Want: tensors{cube(2, 1, -1, 4, 5, 6, -1, 8, 2, -1, -1, 5, 4, -1, -1, -1)}},
		sample{Op: "GatherTree", Name: "no parent", In: tensors{steps, orphans, i32(4, 4), optest.Scalar[int32](99)}, F: tree, Fails: true, Refused: "Saw invalid parent id -1 at (batch, time, beam) == (1, 1, 0)"})
}
