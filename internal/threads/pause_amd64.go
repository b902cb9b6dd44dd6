//go:build !noasm

package threads

// pause waits for n times as long as the processor's PAUSE takes, 40 to 140 cycles, and leaves the
// core to its other hardware thread meanwhile.
//
//go:noescape
func pause(n int)
