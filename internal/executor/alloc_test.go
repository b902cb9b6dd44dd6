package executor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/executor"
	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/tf/core"
)

// chain is a value and n nodes after it.
func chain(op string, n int) string {
	var b strings.Builder
	b.WriteString("one = Value[v=1]\nn0 = Value\n")
	for i := range n {
		in := fmt.Sprintf("n%d", i)
		if op == "Add" {
			in += ", one"
		}
		fmt.Fprintf(&b, "n%d = %s(%s)\n", i+1, op, in)
	}
	return b.String()
}

// start runs a step as sessions do.
func (m *machine) start(ctx context.Context, done chan error) error {
	step := core.Step{Context: ctx}
	if m.Inline() {
		return m.Run(&step)
	}
	m.Start(&step, executor.Hooks{Fail: func(error) {}, Done: func(err error) { done <- err }})
	return <-done
}

// TestAllocations: what a step allocates does not depend on the number of its
// nodes, whether they are run in order or from the queue.
func TestAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("pools allocate more under the race detector")
	}
	done, ctx := make(chan error, 1), context.Background()
	for name, text := range map[string]string{
		"identities, in order": chain("Identity", 200),
		"sums, in order":       chain("Add", 200),
		"identities, queued":   chain("Identity", 200) + "s = Soon(one)",
		"sums, queued":         chain("Add", 200) + "s = Soon(one)",
		"asynchronous":         chain("Soon", 200),
		"loop":                 values + count("l", "zero", "ten", 10) + "l/next = NextIteration(l/add)",
	} {
		m := prepare(t, text)
		const most = 8
		if got := testing.AllocsPerRun(20, func() { m.start(ctx, done) }); got > most {
			t.Errorf("%s: %v allocations a step, want at most %d", name, got, most)
		}
	}
}

func BenchmarkChain(b *testing.B) {
	const n = 1000
	for _, c := range []struct{ name, text string }{
		{"Identity", chain("Identity", n)}, {"Add", chain("Add", n)},
		{"IdentityQueued", chain("Identity", n) + "s = Soon(one)"}, {"AddQueued", chain("Add", n) + "s = Soon(one)"},
		{"Soon", chain("Soon", n)},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := prepare(b, c.text)
			done, ctx := make(chan error, 1), context.Background()
			for b.Loop() {
				if err := m.start(ctx, done); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/node")
		})
	}
}
