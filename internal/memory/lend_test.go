package memory

import (
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
)

// TestLend: goroutines that fill loans of all sizes find what they wrote, so no two share memory.
func TestLend(t *testing.T) {
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 500 {
				n := i * (g + 1) % 3000
				small, a := Lend[int16](n)
				large, b := Lend[complex128](n)
				if len(small) != n || len(large) != n {
					t.Errorf("lent %d and %d elements, want %d", len(small), len(large), n)
				}
				for k := range n {
					small[k], large[k] = int16(g*i+k), complex(float64(k), float64(g))
				}
				for k := range n {
					if small[k] != int16(g*i+k) || large[k] != complex(float64(k), float64(g)) {
						t.Errorf("element %d of %d was written by another goroutine", k, n)
						break
					}
				}
				a.Return()
				b.Return()
			}
		})
	}
	all.Wait()
}

// New loans are as dirty as used ones where invariants are checked.
func TestLoansAreDirty(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("loans are overwritten with -tags invariants only")
	}
	for range 2 {
		x, loan := Lend[uint8](5 << 20) // of a class that no other test asks for
		if x[0] == 0 || x[len(x)-1] == 0 {
			t.Error("a loan is zero")
		}
		loan.Return()
	}
}

func TestLendRefuses(t *testing.T) {
	defer func() {
		var e *Exhausted
		if err, _ := recover().(error); !errors.As(err, &e) {
			t.Errorf("Lend of too much panicked with %v, want *Exhausted", err)
		}
	}()
	Lend[float64](math.MaxInt / 4)
}

// Idle loans leave room for what needs more than is left without them.
func TestIdleLoansAreNotCounted(t *testing.T) {
	if testing.Short() {
		t.Skip("allocates 96 MiB")
	}
	runtime.GC()
	runtime.GC()
	used, _ := Usage()
	defer SetLimit(SetLimit(used + 80<<20))
	x, loan := Lend[float64](6 << 20)
	x[0] = 1
	if _, err := TryMake[float64](6 << 20); err == nil {
		t.Fatal("96 MiB fit in 80")
	}
	loan.Return() // after a trim, which did not find it
	for range 3 {
		y, err := TryMake[float64](6 << 20)
		if err != nil {
			t.Fatal(err)
		}
		y[0] = 1
	}
}
