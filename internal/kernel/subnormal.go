package kernel

import "runtime"

// Subnormals is how a thread computed before FlushSubnormals or KeepSubnormals.
type Subnormals uint32

// FlushSubnormals has the calling goroutine take subnormal operands for 0, and make 0 of subnormal
// results, until Restore. TensorFlow's threads do so. A multiplication with such a number takes an
// Intel core some 150 cycles, by which a product of gradients that have nearly vanished took 400
// times as long as any other.
//
// The mode belongs to the thread: until Restore the goroutine keeps its thread, and no other
// goroutine gets it. So it must not wait for others meanwhile. Without vector instructions, numbers
// stay as they are.
func FlushSubnormals() Subnormals {
	runtime.LockOSThread()
	return Subnormals(flushSubnormals())
}

// KeepSubnormals undoes FlushSubnormals, until Restore: for what is done to results meanwhile, whose
// bits are those of an operation by itself.
func KeepSubnormals() Subnormals {
	runtime.LockOSThread()
	return Subnormals(keepSubnormals())
}

// Restore has the goroutine compute as it did before.
func (s Subnormals) Restore() {
	computeAs(uint32(s))
	runtime.UnlockOSThread()
}

// Flushing is par whose ranges take subnormal numbers for 0.
func Flushing(par Par) Par {
	return func(n, grain int, f func(lo, hi int)) {
		par(n, grain, func(lo, hi int) {
			defer FlushSubnormals().Restore()
			f(lo, hi)
		})
	}
}

// FlushLeast additions and multiplications take a hundred times as long as FlushSubnormals and
// Restore.
const FlushLeast = 1 << 17
