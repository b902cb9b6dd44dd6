package direct

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestPanicInFreezing: what panics while a prepared step is planned is an error of the
// step, as it is for steps that are not prepared.
func TestPanicInFreezing(t *testing.T) {
	s, sig, _ := foldingSession(t)
	s.cfg.LogPlacement = func(string) { panic("no log") }
	s.graphs.placed = nil
	x := []*core.Tensor{core.NewTensor(core.Float32, core.Shape{foldedSize / 4})}
	if _, err := s.Prepare(sig).Run(t.Context(), x); core.CodeOf(err) != core.Internal {
		t.Errorf("a step whose planning panics must fail with INTERNAL, got %v", err)
	}
	if _, err := s.Prepare(sig).Explain(t.Context()); core.CodeOf(err) != core.Internal {
		t.Errorf("an explanation whose planning panics must fail with INTERNAL, got %v", err)
	}
	s.cfg.LogPlacement = nil
	if _, err := s.Run(t.Context(), pass.Signature{Feeds: sig.Feeds, Fetches: sig.Fetches}, x); err != nil {
		t.Errorf("the next step must run, got %v", err)
	}
}

// TestRelease: the session keeps nothing of a prepared step that is released, which may
// be run again.
func TestRelease(t *testing.T) {
	s, sig := sums(t)
	p := s.Prepare(sig)
	for range 2 {
		if _, err := p.Run(t.Context(), scalars(1, 2, 3)); err != nil {
			t.Fatal(err)
		}
		p.Release()
		n := 0
		s.graphs.cache.Forget(func(string) bool { n++; return false })
		if n > 0 {
			t.Errorf("the session keeps %d steps", n)
		}
	}
}
