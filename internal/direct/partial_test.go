package direct

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// sums is r1 = a+b on one device, r2 = r1*c on another.
func sums(t *testing.T) (*Session, pass.Signature) {
	g := tf.NewGraph()
	scalar := func(name string) tf.Output { return ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name(name)) }
	r1 := ops.Add(scalar("a"), scalar("b"), tf.Name("r1"))
	ops.Mul(r1, scalar("c"), tf.Name("r2"), tf.OnDevice("/device:CPU:1"))
	return open(t, g, 2), pass.Signature{Feeds: []string{"a:0", "b:0", "c:0"}, Fetches: []string{"r1:0", "r2:0"}}
}

func scalars(v ...float32) (out []*core.Tensor) {
	for _, x := range v {
		out = append(out, core.Scalar(x))
	}
	return out
}

func TestPartialRun(t *testing.T) {
	s, sig := sums(t)
	for range 3 {
		p, err := s.PartialRun(t.Context(), sig)
		if err != nil {
			t.Fatal(err)
		}
		in := scalars(1, 2)
		got, err := p.Run(t.Context(), []string{"a:0", "b"}, in, []string{"r1:0", "r1:0"})
		if err != nil || got[0].At(0) != float32(3) || got[1] == got[0] || got[1].At(0) != float32(3) {
			t.Fatalf("first piece: %v, %v", got, err)
		}
		core.Data[float32](in[0])[0] = 100 // the program's again
		got, err = p.Run(t.Context(), []string{"c:0"}, scalars(17), []string{"r2:0"})
		if err != nil || got[0].At(0) != float32(51) {
			t.Fatalf("second piece: %v, %v", got, err)
		}
		if _, err := p.Run(t.Context(), nil, nil, nil); err == nil || !strings.Contains(err.Error(), "Must run 'setup' before performing partial runs!") {
			t.Errorf("a third piece: %v", err)
		}
	}
}

// TestPartialRunFails: an error of the step reaches the piece that waits, and
// no piece follows.
func TestPartialRunFails(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, core.Float32, core.Shape{}, tf.Name("x"))
	ops.Neg(x, tf.Name("y"))
	s := open(t, g, 1)
	p, err := s.PartialRun(t.Context(), pass.Signature{Fetches: []string{"y:0"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(t.Context(), nil, nil, []string{"y:0"}); err == nil || !strings.Contains(err.Error(), "You must feed a value for placeholder") {
		t.Errorf("got %v", err)
	}
	if _, err := p.Run(t.Context(), nil, nil, []string{"y:0"}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("afterwards: %v", err)
	}
}

func TestPartialRunEnds(t *testing.T) {
	s, sig := sums(t)
	p, err := s.PartialRun(t.Context(), sig)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if _, err := p.Run(t.Context(), nil, nil, nil); err != errNoPartialRun {
		t.Errorf("after Close: %v", err)
	}
	if p, err = s.PartialRun(t.Context(), sig); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Run(ctx, []string{"a:0", "b:0", "c:0"}, scalars(1, 2, 3), []string{"r2:0"}); err != nil && core.CodeOf(err) != core.Canceled {
		t.Errorf("in an ended context: %v", err)
	}
	if _, err = s.PartialRun(t.Context(), sig); err != nil { // left unfinished: Close ends it
		t.Fatal(err)
	}
	if _, err = s.PartialRun(t.Context(), pass.Signature{Feeds: sig.Feeds}); err == nil || !strings.Contains(err.Error(), "Must specify at least one target to fetch or execute.") {
		t.Errorf("nothing to run: %v", err)
	}
	s.Close()
	if _, err := s.PartialRun(t.Context(), sig); core.CodeOf(err) != core.Canceled {
		t.Errorf("closed: %v", err)
	}
}

// TestPartialRunOfTwoNames: "x" and "x:0" are one tensor, which comes once.
func TestPartialRunOfTwoNames(t *testing.T) {
	s, sig := sums(t)
	p, err := s.PartialRun(t.Context(), sig)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	got, err := p.Run(ctx, []string{"a", "b:0"}, scalars(1, 2), []string{"r1:0", "r1"})
	if err != nil || got[1].At(0) != float32(3) || got[1] == got[0] {
		t.Errorf("both names must have the value, got %v, %v", got, err)
	}
}

// TestPanicInPartialRun: what panics while a partial run is planned is its error, and the
// session can be closed.
func TestPanicInPartialRun(t *testing.T) {
	s, sig := sums(t)
	p, err := s.PartialRun(t.Context(), sig)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	s.graphs.placed, s.cfg.LogPlacement = nil, func(string) { panic("no log") } // as after a growth of the graph
	if _, err := s.PartialRun(t.Context(), sig); core.CodeOf(err) != core.Internal {
		t.Errorf("a partial run whose planning panics must fail with INTERNAL, got %v", err)
	}
	s.Close()
}
