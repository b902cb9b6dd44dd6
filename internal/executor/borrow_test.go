package executor_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/executor"
	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/memory"
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
	op("BorrowPanic", "x: float", "y: float", "", sync(func(c *core.OpContext) error {
		core.Borrow[float64](c, 3000)[0] = 1
		panic("boom")
	}))
	op("BorrowMuch", "x: float", "y: float", "", sync(func(c *core.OpContext) error {
		core.Borrow[byte](c, much)[0] = 1
		return identity(c)
	}))
	core.Register(core.OpDef{Name: "BorrowHeavy", In: "x: float", Out: "y: float", Expensive: true,
		Shape: noShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(sync(borrow))})
}

// much is so large that it counts by itself.
const much = 1 << 20

// passing notes how much more a step has held, after each node.
type passing struct{}

func (passing) Ran(c *core.OpContext, _ string, _ core.NodeTimes) {
	if c.Node.OpName() == "BorrowMuch" {
		passed = append(passed, c.Pool.Passing(c.ID))
	}
}

var passed []int64

// TestTracedBorrowing: what a kernel has borrowed is what it needed for a while, however nodes are run.
func TestTracedBorrowing(t *testing.T) {
	for _, text := range []string{chain("BorrowMuch", 3), chain("BorrowMuch", 3) + "s = Soon(one)"} {
		m, err := tryParams(t, text, executor.Params{Workers: 1, Short: 1, Pool: memory.NewSessionPool(1<<24, "s")})
		if err != nil {
			t.Fatal(err)
		}
		m.step.Tracer, m.step.ID, passed = passing{}, 1, nil
		if _, err := m.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := []int64{much, much, much}; !slices.Equal(passed, want) {
			t.Errorf("needed for a while: %d, want %d", passed, want)
		}
	}
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
		"panic":        chain("Borrow", 20) + "f = BorrowPanic(n20)",
		"panic, queue": chain("Borrow", 20) + "f = BorrowPanic(n20)\ns = Soon(one)",
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
