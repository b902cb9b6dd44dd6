//go:build !noasm

package descent

import "github.com/gorge-tf/gorge/internal/kernel"

func init() {
	kernel.Dispatch(&simd, vectorLoops{
		axpy: axpyOf(axpyAVX2), momentum: momentumOf(momentumAVX2), adam: adamOf(adamAVX2),
		adagrad: adagradOf(adagradAVX2), adagradV2: adagradV2Of(adagradV2AVX2), rmsProp: rmsPropOf(rmsPropAVX2),
		addScaled: addScaledOf(addScaledAVX2),
		streamAdd: kernel.BinaryOf(streamAddAVX2), streamSub: kernel.BinaryOf(streamSubAVX2),
		streamAxpy: streamAxpyOf(streamAxpyAVX2), streamMomentum: streamMomentumOf(streamMomentumAVX2), streamAdam: streamAdamOf(streamAdamAVX2),
	}, vectorLoops{
		axpy: axpyOf(kernel.ByMemory(axpyAVX2, axpyAVX512)), momentum: momentumOf(kernel.ByMemory(momentumAVX2, momentumAVX512)), adam: adamOf(adamAVX512),
		adagrad: adagradOf(adagradAVX512), adagradV2: adagradV2Of(adagradV2AVX512), rmsProp: rmsPropOf(rmsPropAVX512),
		addScaled: addScaledOf(addScaledAVX512),
		streamAdd: kernel.BinaryOf(streamAddAVX512), streamSub: kernel.BinaryOf(streamSubAVX512),
		streamAxpy: streamAxpyOf(streamAxpyAVX512), streamMomentum: streamMomentumOf(streamMomentumAVX512), streamAdam: streamAdamOf(streamAdamAVX512),
	})
}

func axpyOf(f func(y, x *float32, n int, s float32)) func(y []float32, a float32, x []float32) {
	loop := kernel.ScalarOf(f)
	return func(y []float32, a float32, x []float32) { loop(y, x, a) }
}

func addScaledOf(f func(y, x *float32, n int, s, t float32)) func(y []float32, a, b float32, x []float32) {
	return func(y []float32, a, b float32, x []float32) {
		for len(y) > 0 {
			n := min(len(y), kernel.VectorChunk)
			f(&y[0], &x[0], n, a, b)
			y, x = y[n:], x[n:]
		}
	}
}

func momentumOf(f func(v, m, g *float32, n int, lr, momentum float32)) func(v, m, g []float32, lr, momentum float32) {
	return func(v, m, g []float32, lr, momentum float32) {
		for len(v) > 0 {
			n := min(len(v), kernel.VectorChunk)
			f(&v[0], &m[0], &g[0], n, lr, momentum)
			v, m, g = v[n:], m[n:], g[n:]
		}
	}
}

func adamOf(f func(v, m, s, g *float32, n int, alpha, c1, c2, epsilon float32)) func(v, m, s, g []float32, p AdamStep[float32]) {
	return func(v, m, s, g []float32, p AdamStep[float32]) {
		for len(v) > 0 {
			n := min(len(v), kernel.VectorChunk)
			f(&v[0], &m[0], &s[0], &g[0], n, p.Alpha, 1-p.Beta1, 1-p.Beta2, p.Epsilon)
			v, m, s, g = v[n:], m[n:], s[n:], g[n:]
		}
	}
}

func adagradOf(f func(v, a, g *float32, n int, lr float32)) func(v, acc, g []float32, lr float32) {
	return func(v, acc, g []float32, lr float32) {
		for i := 0; i < len(v); i += kernel.VectorChunk {
			f(&v[i], &acc[i], &g[i], min(len(v)-i, kernel.VectorChunk), lr)
		}
	}
}

func adagradV2Of(f func(v, a, g *float32, n int, lr, epsilon float32)) func(v, acc, g []float32, lr, epsilon float32) {
	return func(v, acc, g []float32, lr, epsilon float32) {
		for i := 0; i < len(v); i += kernel.VectorChunk {
			f(&v[i], &acc[i], &g[i], min(len(v)-i, kernel.VectorChunk), lr, epsilon)
		}
	}
}

func rmsPropOf(f func(v, s, m, g *float32, n int, lr, c, momentum, epsilon float32)) func(v, s, m, g []float32, lr, c, momentum, epsilon float32) {
	return func(v, s, m, g []float32, lr, c, momentum, epsilon float32) {
		for i := 0; i < len(v); i += kernel.VectorChunk {
			f(&v[i], &s[i], &m[i], &g[i], min(len(v)-i, kernel.VectorChunk), lr, c, momentum, epsilon)
		}
	}
}

func streamAxpyOf(f func(z, y, x *float32, n int, s float32)) func(z, y []float32, a float32, x []float32) {
	return func(z, y []float32, a float32, x []float32) {
		for len(z) > 0 {
			n := min(len(z), kernel.VectorChunk)
			f(&z[0], &y[0], &x[0], n, a)
			z, y, x = z[n:], y[n:], x[n:]
		}
	}
}

func streamMomentumOf(f func(zv, zm, v, m, g *float32, n int, lr, momentum float32)) func(zv, zm, v, m, g []float32, lr, momentum float32) {
	return func(zv, zm, v, m, g []float32, lr, momentum float32) {
		for i := 0; i < len(zv); i += kernel.VectorChunk {
			f(&zv[i], &zm[i], &v[i], &m[i], &g[i], min(len(zv)-i, kernel.VectorChunk), lr, momentum)
		}
	}
}

func streamAdamOf(f func(zv, zm, zs, v, m, s, g *float32, n int, alpha, c1, c2, epsilon float32)) func(zv, zm, zs, v, m, s, g []float32, p AdamStep[float32]) {
	return func(zv, zm, zs, v, m, s, g []float32, p AdamStep[float32]) {
		for i := 0; i < len(zv); i += kernel.VectorChunk {
			f(&zv[i], &zm[i], &zs[i], &v[i], &m[i], &s[i], &g[i], min(len(zv)-i, kernel.VectorChunk), p.Alpha, 1-p.Beta1, 1-p.Beta2, p.Epsilon)
		}
	}
}
