//go:build !linux

package memory

import "unsafe"

// vacate does nothing: the block is left to the collector.
func vacate(unsafe.Pointer, int) {}
