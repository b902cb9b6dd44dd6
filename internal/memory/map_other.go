//go:build !unix

package memory

import "unsafe"

// mapMemory returns Go memory where there is no mapping to be had; no
// transport registers memory on such systems.
func mapMemory(size int) ([]byte, error) {
	return unsafe.Slice((*byte)(allocate(size)), size), nil
}

func unmapMemory([]byte) error { return nil }
