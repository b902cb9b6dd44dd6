package ops_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestSegmentsInParts compares the folds of many rows, some segments at a time, with loops:
// of short segments, of ones longer than a part, and with gaps.
func TestSegmentsInParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, width := range []int{1, 7} {
		for _, segments := range []int{1, 3, 9000} {
			const rows = 40001
			x, ids := make([]float32, rows*width), make([]int64, rows)
			for i := range x {
				x[i] = 0.5 + rng.Float32()
			}
			for i := range ids {
				ids[i] = rng.Int64N(int64(segments))
			}
			slices.Sort(ids)
			checkFold(t, ops.SegmentMax, x, ids, 0, func(a, b float32) float32 { return max(a, b) })
			checkFold(t, ops.SegmentMin, x, ids, 0, func(a, b float32) float32 { return min(a, b) })
			checkFold(t, ops.SegmentProd, x, ids, 1, func(a, b float32) float32 { return a * b })
		}
	}
}

func checkFold(t *testing.T, op func(x, ids tf.Output, opts ...tf.Option) tf.Output, x []float32, ids []int64, empty float32, f func(a, b float32) float32) {
	t.Helper()
	rows := len(ids)
	width := len(x) / rows
	g := eager.New()
	out, err := op(ops.Const(g, x, rows, width), ops.Const(g, ids, rows)).Value()
	if err != nil {
		t.Fatal(err)
	}
	got := tf.Data[float32](out)
	want := slices.Repeat([]float32{empty}, len(got))
	for i, id := range ids {
		for k, v := range x[i*width : (i+1)*width] {
			to := &want[int(id)*width+k]
			if i > 0 && ids[i-1] == id {
				v = f(*to, v)
			}
			*to = v
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows of %d in %d segments are not those of a loop", width, len(got)/width)
	}
}
