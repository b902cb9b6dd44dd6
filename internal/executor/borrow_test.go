package executor_test

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	borrow := func(c *core.OpContext) error {
		core.Borrow[float64](c, 3000)[0] = 1
		return identity(c)
	}
	op("Borrow", "x: float", "y: float", "", sync(borrow))
	op("BorrowSoon", "x: float", "y: float", "", async(func(c *core.OpContext, done func(error)) {
		core.Borrow[float64](c, 3000)[0] = 1
		soon(c, done)
	}))
	op("BorrowFail", "x: float", "y: float", "", sync(func(c *core.OpContext) error {
		core.Borrow[float64](c, 3000)[0] = 1
		return core.Errorf(core.Aborted, "no")
	}))
	core.Register(core.OpDef{Name: "BorrowHeavy", In: "x: float", Out: "y: float", Expensive: true,
		Shape: noShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(sync(borrow))})
}

// TestBorrowed: nodes one after the other borrow the same block, however they are run, and whether
// the step fails.
func TestBorrowed(t *testing.T) {
	if invariants.Race {
		t.Skip("pools keep nothing under the race detector")
	}
	for name, text := range map[string]string{
		"in order":     chain("Borrow", 20),
		"queued":       chain("Borrow", 20) + "s = Soon(one)",
		"asynchronous": chain("BorrowSoon", 20),
		"heavy":        chain("BorrowHeavy", 20),
		"loop":         values + count("l", "zero", "ten", 10) + "l/b = Borrow(l/add)\nl/next = NextIteration(l/b)",
		"error":        chain("Borrow", 20) + "f = BorrowFail(n20)",
		"error, queue": chain("Borrow", 20) + "f = BorrowFail(n20)\ns = Soon(one)",
	} {
		m, done := prepare(t, text), make(chan error, 1)
		for range 3 {
			m.start(context.Background(), done)
		}
		large := m.pool.Stats().Misses
		if m.balanced(t); large > 8 { // one for what is borrowed, and the nodes' own
			t.Errorf("%s: %d blocks were allocated, want a few", name, large)
		}
	}
}
