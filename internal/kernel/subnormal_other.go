//go:build !amd64 || noasm

package kernel

// flushSubnormals does nothing.
func flushSubnormals() uint32 { return 0 }

func computeAs(uint32) {}
