package elementwise

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
)

// NextAfter32 sets z to the numbers next to x in the direction of y.
var NextAfter32 = CompiledZip(Lanes2(nextLanes), func(z, x, y []float32) { kernel.Zip(z, x, y, nextAfter32) })

// NextAfter64 is NextAfter32 for float64.
func NextAfter64(z, x, y []float64) {
	kernel.Zip(z, x, y, func(a, b float64) float64 {
		if a == b {
			return b
		}
		return math.Nextafter(a, b)
	})
}

// nextAfter32 is b where a is equal to that: zeros may have another sign.
func nextAfter32(a, b float32) float32 {
	if a == b {
		return b
	}
	return math.Nextafter32(a, b)
}

// nextLanes adds 1 to the bits of x where its size grows, else -1.
func nextLanes(c *machine.Code, x, y machine.Value) machine.Value {
	zero, one := c.Word(0), c.Word(1)
	grows := c.Xor(c.Greater(y, x), c.Greater(zero, x))
	next := c.IntAdd(x, c.IntSub(c.IntAdd(grows, grows), one))
	next = c.Pick(c.Equal(x, zero), c.Or(c.And(y, c.Word(1<<31)), one), next)
	next = c.Pick(c.Equal(x, y), y, next)
	none := c.Or(c.NotEqual(x, x), c.NotEqual(y, y))
	return c.Pick(none, c.Add(x, y), next)
}
