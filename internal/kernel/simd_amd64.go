//go:build !noasm

package kernel

import "golang.org/x/sys/cpu"

// level is an instruction set with everything that was written for it.
type level struct {
	name      string
	available bool
	loops     vectorLoops
	f32       *microKernels[float32]
	f64       *microKernels[float64]
}

// levels lists the instruction sets, the best first; the last needs nothing.
func levels() []level {
	x := cpu.X86
	return []level{
		{"avx512", x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL && x.HasBMI2, avx512Loops(), &microF32AVX512, &microF64AVX512},
		{"avx2", x.HasAVX2 && x.HasFMA && x.HasBMI2, avx2Loops(), &microF32AVX2, &microF64AVX2},
		{name: "portable", available: true},
	}
}

func init() {
	microF32AVX512.pack = packerAVX512
	microF32AVX2.pack = portablePacker[float32]()
	microF64AVX512.pack, microF64AVX2.pack = portablePacker[float64](), portablePacker[float64]()
	for _, l := range levels() {
		if l.available {
			l.use()
			return
		}
	}
}

// use makes all loops run on an instruction set.
func (l level) use() {
	simd = l.loops
	gemm32, gemm64 = nil, nil
	backFilter32, backFilter64 = nil, nil
	convolve32, convolve64 = nil, nil
	backInput32, backInput64 = nil, nil
	if l.f32 != nil {
		b32 := newBlocked(l.f32, blocksFor(dataCaches(), 4, l.f32.tileM, l.f32.panel()))
		b64 := newBlocked(l.f64, blocksFor(dataCaches(), 8, l.f64.tileM, l.f64.panel()))
		gemm32, convolve32, backInput32, backFilter32 = b32.matMul, b32.convolve, b32.backInput, b32.backFilter
		inOneBlock32, inOneBlock64 = b32.inOneBlock, b64.inOneBlock
		gemm64, convolve64, backInput64, backFilter64 = b64.matMul, b64.convolve, b64.backInput, b64.backFilter
	}
}

// unaryOf makes a loop of an assembly function.
func unaryOf(f func(y, x *float32, n int)) unaryLoop {
	return func(y, x []float32) {
		for len(y) > 0 {
			n := min(len(y), vectorChunk)
			f(&y[0], &x[0], n)
			y, x = y[n:], x[n:]
		}
	}
}

// binaryOf makes a loop of an assembly function.
func binaryOf(f func(z, x, y *float32, n int)) binaryLoop {
	return func(z, x, y []float32) {
		for len(z) > 0 {
			n := min(len(z), vectorChunk)
			f(&z[0], &x[0], &y[0], n)
			z, x, y = z[n:], x[n:], y[n:]
		}
	}
}

// scalarOf makes a loop of an assembly function.
func scalarOf(f func(z, x *float32, n int, s float32)) scalarLoop {
	return func(z, x []float32, s float32) {
		for len(z) > 0 {
			n := min(len(z), vectorChunk)
			f(&z[0], &x[0], n, s)
			z, x = z[n:], x[n:]
		}
	}
}

// foldOf makes a fold of an assembly function; the caller bounds the length.
func foldOf(f func(x *float32, n int) float32) func(x []float32) float32 {
	return func(x []float32) float32 { return f(firstF32(x), len(x)) }
}

// firstF32 is the address of the first element, nil if there is none.
func firstF32(x []float32) *float32 {
	if len(x) == 0 {
		return nil
	}
	return &x[0]
}

// expShiftOf makes a loop of an assembly function. The sums of the chunks are
// added in order.
func expShiftOf(f func(y, x *float32, n int, shift float32) float32) func(y, x []float32, shift float32) float32 {
	return func(y, x []float32, shift float32) float32 {
		var s float32
		for len(y) > 0 {
			n := min(len(y), sumF32Chunk)
			s += f(&y[0], &x[0], n, shift)
			y, x = y[n:], x[n:]
		}
		return s
	}
}

func axpyOf(f func(y, x *float32, n int, s float32)) func(y []float32, a float32, x []float32) {
	return func(y []float32, a float32, x []float32) { scalarOf(f)(y, x, a) }
}

func momentumOf(f func(v, m, g *float32, n int, lr, momentum float32)) func(v, m, g []float32, lr, momentum float32) {
	return func(v, m, g []float32, lr, momentum float32) {
		for len(v) > 0 {
			n := min(len(v), vectorChunk)
			f(&v[0], &m[0], &g[0], n, lr, momentum)
			v, m, g = v[n:], m[n:], g[n:]
		}
	}
}

func adamOf(f func(v, m, s, g *float32, n int, alpha, c1, c2, epsilon float32)) func(v, m, s, g []float32, p AdamStep[float32]) {
	return func(v, m, s, g []float32, p AdamStep[float32]) {
		for len(v) > 0 {
			n := min(len(v), vectorChunk)
			f(&v[0], &m[0], &s[0], &g[0], n, p.Alpha, 1-p.Beta1, 1-p.Beta2, p.Epsilon)
			v, m, s, g = v[n:], m[n:], s[n:], g[n:]
		}
	}
}
