//go:build !amd64 || noasm

package kernel

// prefetch does nothing: the loads themselves bring the lines.
func prefetch(*byte, int) {}
