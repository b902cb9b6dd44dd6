package ops_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

const oldTile = "TensorFlow has it in graphs before version 3 only"

func init() {
	f := optest.Applied("TileGrad")
	addSamples(
		sample{Op: "TileGrad", In: []*core.Tensor{seq(4, 6), arr[int32](tf.Shape{2}, 2, 3)}, F: f, NoGolden: oldTile},
		sample{Op: "TileGrad", Name: "plain", In: []*core.Tensor{seq(4, 6), arr[int32](tf.Shape{2}, 1, 1)}, F: f, Types: onlyOwn, NoGolden: oldTile})
	for name, m := range map[string]*core.Tensor{"few": arr[int32](tf.Shape{1}, 2), "zero": arr[int32](tf.Shape{2}, 0, 1), "not whole": arr[int32](tf.Shape{2}, 3, 1), "matrix": arr[int32](tf.Shape{1, 2}, 1, 1)} {
		s := optest.Failing("TileGrad", name, f, seq(4, 6), m)
		s.NoGolden = oldTile
		addSamples(s)
	}
}

// TestTileGrad compares it with a sum over the tiles.
func TestTileGrad(t *testing.T) {
	g := eager.New()
	dy, m := ops.ConstValue(g, seq(4, 9, 4)), ops.ConstValue(g, arr[int32](tf.Shape{3}, 2, 3, 1))
	tiles := ops.Reshape(dy, ops.ConstValue(g, arr[int32](tf.Shape{6}, 2, 2, 3, 3, 1, 4)))
	want := ops.Sum(tiles, ops.ConstValue(g, arr[int32](tf.Shape{3}, 0, 2, 4)))
	got, err := tf.Apply(g, "TileGrad", []tf.Output{dy, m}).Output(0).Value()
	if err != nil {
		t.Fatal(err)
	}
	sum, err := want.Value()
	if err != nil {
		t.Fatal(err)
	}
	if diff := optest.Differ((*core.Tensor)(got), (*core.Tensor)(sum), 1e-5); diff != "" {
		t.Error(diff)
	}
}
