//go:build !linux

package memory

import "unsafe"

// adviseHuge does nothing: other systems choose the size of pages by themselves.
func adviseHuge(unsafe.Pointer, int) {}
