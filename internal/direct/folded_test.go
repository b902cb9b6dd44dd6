package direct

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// foldedSize is what foldingSession's step computes of a variable, in bytes.
const foldedSize = 4 * 40_000

// foldingSession returns a session of a model that uses the absolute values of its
// weights, the signature of its step, and one that writes the weights.
func foldingSession(t *testing.T) (s *Session, sig, write pass.Signature) {
	t.Helper()
	g := tf.NewGraph()
	shape := core.Shape{foldedSize / 4}
	v := tf.Apply(g, "VarHandleOp", nil, tf.Attr("dtype", core.Float32), tf.Attr("shape", shape)).Output(0)
	set := tf.Apply(g, "AssignVariableOp", []tf.Output{v, ops.ConstValue(g, core.NewTensor(core.Float32, shape))})
	add := tf.Apply(g, "AssignAddVariableOp", []tf.Output{v, ops.ConstValue(g, core.NewTensor(core.Float32, shape))})
	x := ops.Placeholder(g, core.Float32, shape, tf.Name("x"))
	ops.Mul(x, ops.Abs(tf.Apply(g, "ReadVariableOp", []tf.Output{v}, tf.Attr("dtype", core.Float32)).Output(0)), tf.Name("y"))
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	s = New(g, Config{Threads: 1, FreezeVariables: true})
	t.Cleanup(func() { s.Close() })
	if _, err := s.Run(t.Context(), pass.Signature{Targets: []string{set.Name}}, nil); err != nil {
		t.Fatal(err)
	}
	return s, pass.Signature{Feeds: []string{"x:0"}, Fetches: []string{"y:0"}}, pass.Signature{Targets: []string{add.Name}}
}

func wantFolded(t *testing.T, s *Session, want int64, when string) {
	t.Helper()
	if got := s.graphs.folded.Load(); got != want {
		t.Errorf("%s: constants are said to take %d bytes, want %d", when, got, want)
	}
}

// TestFoldedOfRewritten: a step whose variables are written again and again has no
// constants in the end.
func TestFoldedOfRewritten(t *testing.T) {
	s, sig, write := foldingSession(t)
	p := s.Prepare(sig)
	x := []*core.Tensor{core.NewTensor(core.Float32, core.Shape{foldedSize / 4})}
	for i := range maxRemade + 2 {
		if _, err := p.Run(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		if i == maxRemade {
			wantFolded(t, s, foldedSize, "before it is given up")
		}
		if _, err := s.Run(t.Context(), write, nil); err != nil {
			t.Fatal(err)
		}
	}
	if !p.live.Load() {
		t.Error("the step still has constants")
	}
	wantFolded(t, s, 0, "a step that reads its variables")
}

// TestFoldedOfDropped: the constants of a step that the program has dropped count no more.
func TestFoldedOfDropped(t *testing.T) {
	s, sig, _ := foldingSession(t)
	p := s.Prepare(sig)
	if err := p.Plan(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantFolded(t, s, foldedSize, "a step that has been planned")
	runtime.KeepAlive(p)
	for end := time.Now().Add(20 * time.Second); s.graphs.folded.Load() > 0 && time.Now().Before(end); {
		runtime.GC()
		time.Sleep(time.Millisecond) // cleanups run on a goroutine of their own
	}
	wantFolded(t, s, 0, "a step that was dropped")
}

// TestFoldedOfGivenUp: the planning of a graph with constants ends in its last part.
func TestFoldedOfGivenUp(t *testing.T) {
	before := memory.SetMuch(1)
	defer memory.SetMuch(before)
	s, sig, _ := foldingSession(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	held := false
	hold := func(string) {
		if !held {
			held = true
			s.graphs.placing <- struct{}{}
		}
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.graphs.freeze(graph.NewBudget(ctx, s.cfg.Limits), sig, hold)
		done <- err
	}()
	for s.graphs.folded.Load() == 0 && len(done) == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-done; core.CodeOf(err) != core.Canceled || !held {
		t.Fatalf("%v, placing is held: %v", err, held)
	}
	<-s.graphs.placing
	wantFolded(t, s, 0, "a graph that was given up")
}
