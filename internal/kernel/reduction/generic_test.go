package reduction

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestLongOperands crosses the lengths at which work is cut.
func TestLongOperands(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		const n = 3*kernel.ElementGrain + 17
		x, y := kerneltest.Counting[float32](n), kerneltest.Counting[float32](n)
		b, _ := elementwise.NewBroadcast([]int{n}, []int{n})
		z := make([]float32, n)
		elementwise.ZipBroadcast(kerneltest.Pieces, b, z, x, y, elementwise.AddLoops[float32]())
		for i := range z {
			if z[i] != x[i]+y[i] {
				t.Fatalf("sum %d is %v, want %v", i, z[i], x[i]+y[i])
			}
		}
		x[n-3] = 1e9
		if got := MaxOf(x); got != 1e9 {
			t.Errorf("greatest %v, want 1e9", got)
		}
		x[5] = -1e9
		if got := minOf(x); got != -1e9 {
			t.Errorf("least %v, want -1e9", got)
		}
	})
}
