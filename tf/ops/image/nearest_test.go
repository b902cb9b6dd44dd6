package image_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
)

// TestNearestRows: rows that repeat the one before, and pixels of few and of many channels, are
// those of the old image.
func TestNearestRows(t *testing.T) {
	const h, w = 5, 4
	for _, depth := range []int{1, 3, 8, 9, 40} {
		for _, size := range [][2]int32{{9, 7}, {3, 2}, {5, 4}, {640, 1}} {
			x := make([]int32, 2*h*w*depth)
			for i := range x {
				x[i] = int32(i)
			}
			g := eager.New()
			out, err := image.ResizeNearestNeighbor(ops.Const(g, x, 2, h, w, depth), ops.Const(g, size[:], 2)).Value()
			if err != nil {
				t.Fatal(err)
			}
			rows, columns := int(size[0]), int(size[1])
			for i, got := range tf.Data[int32](out) {
				b, r, c := i/depth/columns/rows, i/depth/columns%rows, i/depth%columns
				at := (b*h+int(float32(r)*(float32(h)/float32(rows))))*w + int(float32(c)*(float32(w)/float32(columns)))
				if want := x[at*depth+i%depth]; got != want {
					t.Fatalf("%d channels to %v: element %d is %d, want %d", depth, size, i, got, want)
				}
			}
		}
	}
}
