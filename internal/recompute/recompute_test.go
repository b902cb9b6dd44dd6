package recompute_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/recompute"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/pb"
	"github.com/gorge-tf/gorge/tf/session"
)

// opened returns a session, which ends with the test.
func opened(t *testing.T, g *tf.Graph, cfg session.Config) *session.Session {
	t.Helper()
	s, err := session.New(g, session.With(cfg))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// ran runs a step without fusion, and returns the nodes of the graph that ran.
func ran(t *testing.T, g *tf.Graph, cfg session.Config, fetches ...tf.Fetchable) (nodes []*pb.NodeDef) {
	t.Helper()
	cfg.DisabledPasses = append(cfg.DisabledPasses, "fusion")
	s := opened(t, g, cfg)
	_, m, err := s.RunWithOptions(t.Context(), session.RunOptions{PartitionGraphs: true}, nil, fetches...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.GetPartitionGraphs() {
		nodes = append(nodes, p.GetNode()...)
	}
	return nodes
}

// copies returns the copies among the nodes that ran, each with its inputs.
func copies(t *testing.T, g *tf.Graph, cfg session.Config, fetches ...tf.Fetchable) (out []string) {
	t.Helper()
	for _, n := range ran(t, g, cfg, fetches...) {
		if name, ok := strings.CutPrefix(n.GetName(), "Recomputed/"); ok {
			out = append(out, name+": "+strings.Join(n.GetInput(), " "))
		}
	}
	slices.Sort(out)
	return out
}

// square is a layer whose gradient reads what the layer before it gives.
func square(name string, x tf.Output, opts ...tf.Option) tf.Output {
	return ops.Square(x, append(opts, tf.Name(name))...)
}

// draw is where chains of layers begin: what is computed in advance is not computed again.
func draw(g *tf.Graph) tf.Output {
	return ops.RandomUniform(g, []int{200, 200}, tf.Float32, ops.Seed(1), tf.Name("x"))
}

func gradient(t *testing.T, y, x tf.Output) tf.Output {
	t.Helper()
	dx, err := tf.Gradients(y, x)
	if err != nil {
		t.Fatal(err)
	}
	return dx[0]
}

// TestScopes: of two blocks of three layers what leaves each is kept, and the others are
// computed again from what enters, once the gradient of what follows is there.
func TestScopes(t *testing.T) {
	g := tf.NewGraph()
	x := draw(g)
	y := x
	for _, block := range []string{"a", "b"} {
		g.Recompute(func() {
			for i := range 3 {
				y = square(fmt.Sprint(block, i), y)
			}
		})
	}
	got := copies(t, g, session.Config{}, y, gradient(t, y.Sum(), x))
	want := []string{"a0: x", "a1: Recomputed/a0", "b0: a2", "b1: Recomputed/b0"}
	if len(got) != len(want) {
		t.Fatalf("copies are %q, want %q", got, want)
	}
	for i := range want {
		name, inputs, _ := strings.Cut(want[i], ": ")
		if !strings.HasPrefix(got[i], name+": "+inputs) {
			t.Errorf("copy %q, want %q", got[i], want[i])
		}
		waits := strings.Contains(got[i], "^gradients/")
		if first := !strings.Contains(inputs, "Recomputed/"); waits != first {
			t.Errorf("copy %q waits for a gradient: %v, want %v", got[i], waits, first)
		}
	}
}

// TestMarksOfPrograms: TensorFlow's programs mark nodes by 0. All of them that gradients
// read are computed again.
func TestMarksOfPrograms(t *testing.T) {
	g := tf.NewGraph()
	x := draw(g)
	a := square("a", x, tf.Attr(recompute.Hint, int64(0)))
	b := square("b", square("plain", a), tf.Attr(recompute.Hint, int64(0)))
	y := square("c", b)
	dx := gradient(t, y.Sum(), x)
	if got := copies(t, g, session.Config{}, dx); len(got) != 2 || !strings.HasPrefix(got[0], "a: x ^gradients/") || !strings.HasPrefix(got[1], "b: plain ^gradients/") {
		t.Errorf("copies are %q, want those of a and of b", got)
	}
	if got := copies(t, g, session.Config{DisabledPasses: []string{"recomputation"}}, dx); len(got) != 0 {
		t.Errorf("copies are %q where the pass is disabled", got)
	}
}

// TestWhatHasStateIsKept: what is drawn, is not drawn again.
func TestWhatHasStateIsKept(t *testing.T) {
	g := tf.NewGraph()
	x := draw(g)
	var y tf.Output
	g.Recompute(func() {
		drawn := ops.RandomUniform(g, []int{200, 200}, tf.Float32, tf.Name("drawn"), tf.Attr(recompute.Hint, int64(0)))
		y = square("c", square("b", x.Mul(drawn, tf.Name("a"))))
	})
	got := copies(t, g, session.Config{}, y, gradient(t, y.Sum(), x))
	if slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "drawn") }) || len(got) != 2 {
		t.Errorf("copies are %q, want those of a and b only", got)
	}
}

// TestSaveMemory: cheap values are computed again by themselves, as long as that is little
// work, and only where they take memory.
func TestSaveMemory(t *testing.T) {
	g := tf.NewGraph()
	x := draw(g)
	y := x
	for i := range 6 {
		y = square(fmt.Sprint("s", i), y)
	}
	small := square("small", ops.Mean(y, []int{0, 1}))
	got := copies(t, g, session.Config{SaveMemory: true}, gradient(t, square("last", small), x))
	if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "s4: ") }) || slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "small") }) {
		t.Errorf("copies are %q, want those of s0 to s4", got)
	}
	if got := copies(t, g, session.Config{}, gradient(t, square("last2", small), x)); len(got) != 0 {
		t.Errorf("copies are %q where nothing asks for them", got)
	}
}

// TestLessMemory: the peak of a deep network's step falls to that of its blocks.
func TestLessMemory(t *testing.T) {
	peak := func(disabled ...string) (most int64) {
		g := tf.NewGraph()
		x, w := draw(g), draw(g)
		y := x
		for range 8 {
			g.Recompute(func() {
				for range 8 {
					y = ops.Tanh(ops.MatMul(y, w))
				}
			})
		}
		s, err := session.New(g, session.With(session.Config{DisabledPasses: disabled}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, m, err := s.RunWithOptions(t.Context(), session.RunOptions{Trace: session.FullTrace}, nil, gradient(t, y.Sum(), x))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range m.GetStepStats().GetDevStats() {
			for _, n := range d.GetNodeStats() {
				for _, u := range n.GetMemory() {
					most = max(most, u.GetAllocatorBytesInUse())
				}
			}
		}
		return most
	}
	if with, without := peak(), peak("recomputation"); with == 0 || with*2 > without {
		t.Errorf("a step takes %d bytes, and %d if nothing is computed again; want half of it at most", with, without)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []recompute.Options{{}, {Mode: recompute.Heuristics}, {Mode: recompute.Blocks}, {Scope: "backward/"}} {
		g := &pb.GraphOptions{}
		if o.Ask(g); recompute.Asked(g) != o {
			t.Errorf("%+v becomes %+v", o, recompute.Asked(g))
		}
	}
	for asked, want := range map[pb.RewriterConfig_MemOptType]recompute.Mode{
		pb.RewriterConfig_DEFAULT_MEM_OPT: recompute.Hinted, pb.RewriterConfig_MANUAL: recompute.Hinted, pb.RewriterConfig_SWAPPING_HEURISTICS: recompute.Hinted,
		pb.RewriterConfig_HEURISTICS: recompute.Blocks, pb.RewriterConfig_RECOMPUTATION_HEURISTICS: recompute.Heuristics,
	} {
		if got := recompute.Asked(&pb.GraphOptions{RewriteOptions: &pb.RewriterConfig{MemoryOptimization: asked}}).Mode; got != want {
			t.Errorf("%v is mode %v, want %v", asked, got, want)
		}
	}
}
