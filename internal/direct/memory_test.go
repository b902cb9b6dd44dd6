package direct

import (
	"runtime/metrics"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// pooled are tests of what pools keep, which is nothing under the race detector.
func pooled(t *testing.T) {
	t.Helper()
	if invariants.Race {
		t.Skip("under the race detector pools keep nothing")
	}
}

// TestSessionClosesItsPool: what comes back to the pool of a closed session is not kept.
func TestSessionClosesItsPool(t *testing.T) {
	pooled(t)
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, core.Shape{-1})
	y := ops.Sum(ops.Exp(ops.Neg(ops.Exp(x))), []int{0})
	s := open(t, g, 1)
	if _, err := fetch(t.Context(), s, map[tf.Output]*core.Tensor{x: core.NewTensor(core.Float32, core.Shape{100_000})}, y); err != nil {
		t.Fatal(err)
	}
	p := s.rt.Pool
	if n := p.Stats().IdleBytes; n < 400_000 {
		t.Errorf("a step leaves %d bytes in the pool of its session, want an array at least", n)
	}
	s.Close()
	p.Get(1000).Unref()
	if st := p.Stats(); st.Idle != 0 {
		t.Errorf("the pool of a closed session keeps %+v", st)
	}
}

// frozenSession returns a session of a model with weights, and a step of it that freezes them.
func frozenSession(t *testing.T) (*Session, *Prepared) {
	t.Helper()
	g := tf.NewGraph()
	shape := core.Shape{40_000}
	v := tf.Apply(g, "VarHandleOp", nil, tf.Attr("dtype", core.Float32), tf.Attr("shape", shape)).Output(0)
	set := tf.Apply(g, "AssignVariableOp", []tf.Output{v, ops.ConstValue(g, core.NewTensor(core.Float32, shape))})
	x := ops.Placeholder(g, core.Float32, shape, tf.Name("x"))
	ops.Mul(x, tf.Apply(g, "ReadVariableOp", []tf.Output{v}, tf.Attr("dtype", core.Float32)).Output(0), tf.Name("y"))
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	s := New(g, Config{Threads: 1, FreezeVariables: true})
	t.Cleanup(func() { s.Close() })
	if _, err := s.Run(t.Context(), pass.Signature{Targets: []string{set.Name}}, nil); err != nil {
		t.Fatal(err)
	}
	return s, s.Prepare(pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"y:0"}})
}

// saves reports whether a pool gives blocks that are larger than what is asked for.
func saves(p *memory.Pool) bool {
	p.Get(300_000).Unref()
	before := p.Stats().Misses
	p.Get(150_000).Unref()
	return p.Stats().Misses == before
}

// collections returns how often the program has asked for a collection.
func collections() uint64 {
	s := []metrics.Sample{{Name: "/gc/cycles/forced:gc-cycles"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestLargeWeightsSaveMemory: a session that freezes large weights trims its pool, which saves from then on, and its steps
// are asked whether garbage is to be collected. One with small weights does neither.
func TestLargeWeightsSaveMemory(t *testing.T) {
	pooled(t)
	for _, large := range []bool{false, true} {
		much := 1 << 30
		if large {
			much = 1
		}
		before := memory.SetMuch(much)
		t.Cleanup(func() { memory.SetMuch(before) })
		s, step := frozenSession(t)
		s.rt.Pool.Get(5000).Unref()
		idle := s.rt.Pool.Stats().Idle
		if err := step.Plan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := s.rt.Pool.Stats().Idle; (n < idle) != large || large && n != 0 {
			t.Errorf("large %v: freezing leaves %d of %d idle blocks", large, n, idle)
		}
		if got := saves(s.rt.Pool); got != large {
			t.Errorf("large %v: the pool saves: %v", large, got)
		}
		checkSwept(t, s, step, large)
	}
}

// checkSwept runs a step beside more garbage than any.
func checkSwept(t *testing.T, s *Session, step *Prepared, want bool) {
	t.Helper()
	if got := s.graphs.sweeper.Load() != nil; got != want {
		t.Fatalf("the session has a sweeper: %v, want %v", got, want)
	}
	if want {
		s.graphs.sweeper.Store(memory.NewSweeper(-1)) // it is always more
	}
	n := collections()
	out, err := step.Run(t.Context(), []*core.Tensor{core.NewTensor(core.Float32, core.Shape{40_000})})
	if err != nil || out[0].At(0) != float32(0) {
		t.Fatalf("%v, %v", out, err)
	}
	s.steps.Wait()
	if got := collections() > n; got != want {
		t.Errorf("a step beside much garbage has it collected: %v, want %v", got, want)
	}
}
