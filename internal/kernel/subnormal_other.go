//go:build !amd64 || noasm

package kernel

// They do nothing.
func flushSubnormals() uint32 { return 0 }
func keepSubnormals() uint32  { return 0 }
func computeAs(uint32)        {}
