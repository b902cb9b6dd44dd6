package kernel_test

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/kernel/layout"
	"github.com/gorge-tf/gorge/internal/kernel/normalization"
	"github.com/gorge-tf/gorge/internal/kernel/reduction"
)

func TestEmptyOperands(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		var none []float32
		normalization.Softmax(kerneltest.Pieces, none, none, 0)
		normalization.Softmax(kerneltest.Pieces, none, none, 5)
		normalization.LogSoftmax(kerneltest.Pieces, none, none, 5)
		reduction.ArgMax(kerneltest.Pieces, []int64(nil), none, 0, 3, 1)
		layout.Gather(kerneltest.Pieces, none, none, []int32(nil), 0, 0, 4)
		layout.SegmentSum([]float32{1, 2}, none, []int32(nil), 2)
		if got := reduction.Sum(none); got != 0 {
			t.Errorf("the sum of nothing is %v", got)
		}
		kernel.Serial(0, 1, func(lo, hi int) { t.Error("Serial calls f for nothing") })
	})
}
