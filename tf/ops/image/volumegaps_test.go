package image_test

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// TestVolumeGaps: windows between which elements are left out, as in TensorFlow 2.21.
func TestVolumeGaps(t *testing.T) {
	g := eager.New()
	for _, c := range []struct {
		in, size, stride int
		want             string
	}{
		{5, 1, 5, "[3]"},
		{6, 1, 3, "[2 5]"},
		{7, 2, 7, "[3 4]"},
		{9, 1, 5, "[2 7]"},
		{10, 3, 5, "[2 3 4 7 8 9]"},
		{4, 3, 3, "[0 1 2 3 4 0]"},
	} {
		x := make([]int32, c.in)
		for i := range x {
			x[i] = int32(i + 1)
		}
		for axis := 1; axis < 4; axis++ {
			shape, sizes, strides := []int{1, 1, 1, 1, 1}, []int{1, 1, 1, 1, 1}, []int{1, 1, 1, 1, 1}
			shape[axis], sizes[axis], strides[axis] = c.in, c.size, c.stride
			v, err := image.ExtractVolumePatches(ops.Const(g, x, shape...), sizes, strides, "SAME").Value()
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(tf.Data[int32](v)); got != c.want {
				t.Errorf("%+v, dimension %d: got %s", c, axis, got)
			}
		}
	}
}
