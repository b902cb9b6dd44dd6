// Package kernel is what all packages of loops below it share: how work is cut for
// threads, which instruction set is used, calls into assembly. The loops themselves are
// functions over slices that know nothing of graphs, tensors or devices and cannot fail:
//
//	elementwise    each element by itself; broadcasting; conversions
//	reduction      sums, extremes and their positions, along axes
//	columns        statistics of columns, for the two below and above
//	normalization  batch normalization, softmax, cross entropy
//	gemm           products of matrices
//	conv           convolutions, depthwise ones, dilation
//	pool           pooling
//	fft            Fourier transforms in single precision
//	layout         copies, transposition, gathering and scattering
//	descent        updates of variables
//	sliding        how windows move over images, for conv and pool
//	tiles          caches, tilings and packing, for gemm, conv and layout
//
// Number formats are in internal/numeric, hashes in internal/hash, random numbers in
// internal/random.
//
// The functions are generic over the element type. float32 (and, for products and
// convolutions, float64) run on AVX-512 or AVX2 assembly where the processor has
// it; everything else, and every other processor, runs the portable Go loop
// that also defines what the assembly has to compute. The noasm build tag
// leaves the assembly out. tools/asmgen writes the assembly.
//
// Callers vouch for their arguments: lengths fit, indices were checked with
// the functions offered for that. A loop that breaks its contract panics with
// Go's own bounds error rather than writing outside a slice.
//
// Work is shared between threads through a [Par] that the caller passes. How a
// loop is cut depends on shapes alone, so that the bits of a result do not
// depend on the number of threads.
package kernel

// Par calls f for disjoint ranges that together cover [0, n), perhaps at the
// same time from several goroutines, and returns when all have returned. No
// range but the last is shorter than grain. The ranges may depend on n and
// grain only. threads.Pool has methods of this type.
type Par func(n, grain int, f func(lo, hi int))

// Serial is the Par that uses the calling goroutine alone.
func Serial(n, _ int, f func(lo, hi int)) {
	if n > 0 {
		f(0, n)
	}
}

const (
	// ElementGrain elements of arithmetic or copying are worth a task: some
	// ten microseconds of memory traffic.
	ElementGrain = 32 << 10
	// MathGrain elements of a transcendental function are worth a task.
	MathGrain = 8 << 10
)
