//go:build !noasm

package kernel

func streamAxpyOf(f func(z, y, x *float32, n int, s float32)) func(z, y []float32, a float32, x []float32) {
	return func(z, y []float32, a float32, x []float32) {
		for len(z) > 0 {
			n := min(len(z), vectorChunk)
			f(&z[0], &y[0], &x[0], n, a)
			z, y, x = z[n:], y[n:], x[n:]
		}
	}
}

func streamMomentumOf(f func(zv, zm, v, m, g *float32, n int, lr, momentum float32)) func(zv, zm, v, m, g []float32, lr, momentum float32) {
	return func(zv, zm, v, m, g []float32, lr, momentum float32) {
		for i := 0; i < len(zv); i += vectorChunk {
			f(&zv[i], &zm[i], &v[i], &m[i], &g[i], min(len(zv)-i, vectorChunk), lr, momentum)
		}
	}
}

func streamAdamOf(f func(zv, zm, zs, v, m, s, g *float32, n int, alpha, c1, c2, epsilon float32)) func(zv, zm, zs, v, m, s, g []float32, p AdamStep[float32]) {
	return func(zv, zm, zs, v, m, s, g []float32, p AdamStep[float32]) {
		for i := 0; i < len(zv); i += vectorChunk {
			f(&zv[i], &zm[i], &zs[i], &v[i], &m[i], &s[i], &g[i], min(len(zv)-i, vectorChunk), p.Alpha, 1-p.Beta1, 1-p.Beta2, p.Epsilon)
		}
	}
}
