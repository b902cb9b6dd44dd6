package gemm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/threads"
)

// TestThreadsShareRows: threads that take blocks of rows from both ends, and share what is
// packed of B, give each element the bits of one thread, and each comes to Done once.
func TestThreadsShareRows(t *testing.T) {
	pool := threads.Acquire(8)
	defer pool.Release()
	r := rand.New(rand.NewPCG(5, 6))
	shapes := []Gemm{NewGemm(400, 1100, 2050, false, false), NewGemm(400, 2100, 1030, false, true)} // in phases
	for range 40 {
		shapes = append(shapes, NewGemm(30+r.IntN(1200), 1+r.IntN(500), 1+r.IntN(300), r.IntN(2) == 0, r.IntN(2) == 0))
	}
	for _, g := range shapes {
		g.Accumulate = r.IntN(3) == 0
		a, b := kerneltest.RandomSlice[float32](r, g.M*g.K), kerneltest.RandomSlice[float32](r, g.K*g.N)
		want := kerneltest.RandomSlice[float32](r, g.M*g.N)
		got, done := append([]float32{}, want...), make([]int, g.M*g.N)
		MatMul(kernel.Serial, g, want, a, b, Epilogue[float32]{})
		MatMul(pool.ParallelFor, g, got, a, b, Epilogue[float32]{Done: func(lo, hi int) {
			for i := lo; i < hi; i++ {
				done[i]++
			}
		}})
		for i := range want {
			if done[i] != 1 || math.Float32bits(want[i]) != math.Float32bits(got[i]) {
				t.Fatalf("%+v: element %d is %v, want %v; it came %d times", g, i, got[i], want[i], done[i])
			}
		}
	}
}
