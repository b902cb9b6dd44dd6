package core_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf/core"
)

// sumOf adds up numbers of any plain type that can be added.
func sumOf[T interface {
	core.Plain
	~int32 | ~float32
}](x []T) (sum T) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// lent returns numbers of any value, to be returned.
func lent(n int) ([]float32, *core.Loan) { return core.Lend[float32](n) }

// A kernel borrows memory that only it reads: it comes from the session's pool and goes back there
// when the kernel has ended. Pieces of work that run at once are lent their own.
func ExampleBorrow() {
	kernel := core.Compute(func(c *core.OpContext) error {
		squares := core.Borrow[float32](c, 4) // of any value
		c.ParallelFor(len(squares), 2, func(lo, hi int) {
			half, done := lent(hi - lo)
			defer done.Return()
			for i := range half {
				half[i] = float32(lo+i) / 2
			}
			for i, v := range half {
				squares[lo+i] = v * v
			}
		})
		fmt.Println(squares, sumOf(squares))
		return nil
	})
	if err := kernel.Run(&core.OpContext{}); err != nil {
		fmt.Println(err)
	}
	// Output: [0 0.25 1 2.25] 3.5
}
