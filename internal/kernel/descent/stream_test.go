package descent

import (
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestStream compares what is written to other memory with updates in place, bit for
// bit, of all lengths and at any alignment. Operands must stay as they are.
func TestStream(t *testing.T) {
	p := NewAdamStep[float32](0.01, 0.875, 0.9375, 1e-3, 0.5, 0.75)
	nesterov := p
	nesterov.Nesterov = true
	adam := func(p AdamStep[float32]) (func(v [][]float32, g []float32), func(z, v [][]float32, g []float32)) {
		return func(v [][]float32, g []float32) { Adam(v[0], v[1], v[2], g, p) },
			func(z, v [][]float32, g []float32) { StreamAdam(z[0], z[1], z[2], v[0], v[1], v[2], g, p) }
	}
	adamHere, adamThere := adam(p)
	nesterovHere, nesterovThere := adam(nesterov)
	for _, c := range []struct {
		name   string
		vars   int
		here   func(v [][]float32, g []float32)
		stream func(z, v [][]float32, g []float32)
	}{
		{"add", 1, func(v [][]float32, g []float32) { elementwise.Add(v[0], v[0], g) }, func(z, v [][]float32, g []float32) { StreamAdd(z[0], v[0], g) }},
		{"sub", 1, func(v [][]float32, g []float32) { elementwise.Sub(v[0], v[0], g) }, func(z, v [][]float32, g []float32) { StreamSub(z[0], v[0], g) }},
		{"axpy", 1, func(v [][]float32, g []float32) { Axpy(v[0], -0.3, g) }, func(z, v [][]float32, g []float32) { StreamAxpy(z[0], v[0], -0.3, g) }},
		{"momentum", 2, func(v [][]float32, g []float32) { Momentum(v[0], v[1], g, 0.1, 0.9) },
			func(z, v [][]float32, g []float32) { StreamMomentum(z[0], z[1], v[0], v[1], g, 0.1, 0.9) }},
		{"adam", 3, adamHere, adamThere},
		{"nesterov", 3, nesterovHere, nesterovThere},
	} {
		kerneltest.EachLevel(t, func(t *testing.T) {
			for _, n := range append([]int{kernel.VectorChunk, 2*kernel.VectorChunk + 5}, kerneltest.Lengths...) {
				for offset := range 3 {
					checkStream(t, c.name, n, offset, c.vars, c.here, c.stream)
				}
			}
		})
	}
}

func checkStream(t *testing.T, name string, n, offset, vars int, here func(v [][]float32, g []float32), stream func(z, v [][]float32, g []float32)) {
	t.Helper()
	at := func(x []float32) []float32 { // a slice that begins offset elements after an aligned one
		for !aligned(x) {
			x = x[1:]
		}
		return x[offset : offset+n]
	}
	g := at(kerneltest.Random[float32](n+32, 9))
	var want, v, z [][]float32
	for k := range vars {
		x := at(kerneltest.Random[float32](n+32, uint64(k)))
		if k == 2 {
			elementwise.Square(x, x) // a root is taken of it
		}
		want, v, z = append(want, slices.Clone(x)), append(v, x), append(z, at(make([]float32, n+32)))
	}
	before := make([][]float32, vars)
	for k := range v {
		before[k] = slices.Clone(v[k])
	}
	here(want, g)
	stream(z, v, g)
	same := func(x, y []float32) bool {
		return slices.EqualFunc(x, y, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
	}
	for k := range z {
		if after := z[k][:n+1][n]; after != 0 {
			t.Fatalf("%s of %d at %d wrote %v beyond the end", name, n, offset, after)
		}
		if !same(z[k], want[k]) || !same(v[k], before[k]) {
			t.Fatalf("%s of %d at %d: variable %d is %v, want %v; it was %v, now %v", name, n, offset, k, z[k], want[k], before[k], v[k])
		}
	}
}
