package conv

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestPanelsOfFilters: transposed convolutions of so many channels that filters are laid
// out by the columns of tiles, whose sums are of one part and of several.
func TestPanelsOfFilters(t *testing.T) {
	two, one := [3]int{1, 2, 2}, [3]int{1, 1, 1}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, c := range []struct{ in, out int }{{64, 7}, {96, 41}, {32, 9}, {65, 5}, {64, 500}} {
			v := convOf(kerneltest.NewImages(1, c.in, c.out, 1, [3]int{1, 6, 9}, [3]int{1, 4, 3}, two, one, [3]int{0, 1, 1}))
			t.Run(fmt.Sprintf("%d channels of %d", c.in, c.out), func(t *testing.T) {
				testConvolution[float32](t, v, kerneltest.Backwards, 1e-3)
				testConvolution[float64](t, v, kerneltest.Backwards, 1e-11)
			})
		}
	})
}
