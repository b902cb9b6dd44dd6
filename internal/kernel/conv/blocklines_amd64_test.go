//go:build amd64 && !noasm

package conv

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/sliding"
)

// TestBlockLinesOfWideWindows: windows see as many elements as strides and dilations say,
// which may be more than a number holds.
func TestBlockLinesOfWideWindows(t *testing.T) {
	window := func(stride, kernel, dilation int) *Conv {
		return &Conv{InC: 1, Window: sliding.Window{
			In: [3]int{1, 5, 4}, Out: [3]int{1, 1, 1}, Kernel: [3]int{1, 1, kernel}, Stride: [3]int{1, stride, stride}, Dilation: [3]int{1, 1, dilation},
		}}
	}
	for _, v := range []*Conv{window(1<<30, 131072, 131073), window(1<<31-1, 3, 1<<31-1)} {
		if n := v.blockLines(1 << 16); n != 1 {
			t.Errorf("%v: %d lines", v.Window, n)
		}
	}
	if n := window(2, 3, 1).blockLines(1 << 16); n != 1<<16/(2*4) {
		t.Errorf("%d lines", n)
	}
}
