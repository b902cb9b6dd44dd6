package core

import (
	"math"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/memory"
)

// What a kernel has borrowed serves the next one, and nothing new is allocated for that.
func TestBorrowedMemoryComesBack(t *testing.T) {
	c := &OpContext{Pool: memory.NewPool(1 << 30)}
	kernel := Compute(func(c *OpContext) error {
		wide, at := Borrow[float64](c, 5000), Borrow[int32](c, 300)
		if len(wide) != 5000 || len(at) != 300 {
			t.Errorf("borrowed %d and %d elements, want 5000 and 300", len(wide), len(at))
		}
		for i := range wide {
			wide[i] = math.NaN()
		}
		for i := range at {
			if at[i] = int32(i); wide[i] == wide[i] {
				t.Error("two loans share memory")
			}
		}
		return nil
	})
	for range 5 {
		if err := kernel.Run(c); err != nil {
			t.Fatal(err)
		}
	}
	if s := c.Pool.Stats(); !invariants.Race && (s.Misses != 2 || s.Idle != 2) {
		t.Errorf("the pool allocated %d times and has %d idle blocks, want 2 and 2", s.Misses, s.Idle)
	}
}

func TestBorrowWithoutAPool(t *testing.T) {
	c := &OpContext{}
	if x := Borrow[int64](c, 10); len(x) != 10 {
		t.Errorf("borrowed %d elements, want 10", len(x))
	}
	if x := Borrow[int64](&OpContext{Pool: memory.NewPool(0)}, 0); len(x) != 0 {
		t.Errorf("borrowed %d elements, want none", len(x))
	}
	c.GiveBack()
}

func TestBorrowTooMuch(t *testing.T) {
	c := &OpContext{Pool: memory.NewPool(1 << 20)}
	for _, n := range []int{math.MaxInt, math.MaxInt / 8, 1 << 50} {
		func() {
			defer func() {
				if err, _ := recover().(error); !Exhausted(err) {
					t.Errorf("Borrow of %d elements panicked with %v, want that memory is exhausted", n, err)
				}
			}()
			Borrow[float64](c, n)
		}()
	}
}
