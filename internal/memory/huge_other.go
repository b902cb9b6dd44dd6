//go:build !linux

package memory

import (
	"math"
	"unsafe"
)

// adviseHuge does nothing: other systems choose the size of pages by themselves.
func adviseHuge(unsafe.Pointer, int) {}

// hugeLeast says that no block is for huge pages.
func hugeLeast() int { return math.MaxInt }
