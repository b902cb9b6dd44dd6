package gemm

import (
	"math"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/threads"
)

// TestConcurrentRows: goroutines that share rows of one B by one pool get what the definition gives, exactly:
// the operands are small integers, but for one infinity.
func TestConcurrentRows(t *testing.T) {
	p := threads.Acquire(2)
	defer p.Release()
	const n, k = 1003, 1500
	b := make([]float32, n*k)
	for i := range b {
		b[i] = float32(i%17) - 8
	}
	var wg sync.WaitGroup
	for gi := range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			m := 1 + gi%3
			a := make([]float32, m*k)
			for i := range a {
				a[i] = float32((i*7+gi)%5) - 2
			}
			if gi == 3 {
				a[10] = float32(math.Inf(1))
			}
			g := NewGemm(m, n, k, false, false)
			want, c := make([]float32, m*n), make([]float32, m*n)
			gemmNaive(g, want, a, b)
			for range 20 {
				MatMul(p.ParallelFor, g, c, a, b, Epilogue[float32]{})
				for i := range c {
					w := want[i]
					if c[i] != w && !(c[i] != c[i] && w != w) {
						t.Errorf("goroutine %d: element %d is %v, want %v", gi, i, c[i], w)
						return
					}
				}
			}
		}()
	}
	wg.Wait()
}
