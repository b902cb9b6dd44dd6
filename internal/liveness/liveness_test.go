package liveness_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/graph"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/internal/liveness"
	_ "github.com/gorge-tf/gorge/tf/ops"
)

// A branch that is taken or not, what comes before and after it, and what waits for a
// value from elsewhere.
const branches = `
	p = Placeholder[dtype=bool, shape=[]]
	x = Placeholder[dtype=float32, shape=[2]]
	before = Neg(x)
	s = Switch(before, p)
	yes = Neg(s:1)
	yes2 = Abs(s:1)
	no = Exp(s)
	both = Merge(no, yes)
	after = Neg(both)
	far = Placeholder[dtype=float32, shape=[2]]
	sum = AddV2(before, far)`

func TestBranches(t *testing.T) {
	g, err := graphtext.Parse(branches)
	if err != nil {
		t.Fatal(err)
	}
	order, err := g.Sorted()
	if err != nil {
		t.Fatal(err)
	}
	sets, err := liveness.Find(g, order, func(n *graph.Node) bool { return n.Name == "far" })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		b, a              string
		together, implies bool // a is alive whenever b is, and waits for nothing more
	}{
		{"before", "x", true, true}, {"yes", "yes2", true, true}, {"after", "before", true, true},
		{"yes", "no", false, false}, {"before", "yes", false, false}, {"yes", "before", false, true},
		{"sum", "before", false, true}, {"before", "sum", false, false}, {"sum", "far", true, true}, {"after", "sum", false, false},
	} {
		a, b := g.Node(c.a), g.Node(c.b)
		if got := sets.Together(a, b); got != c.together {
			t.Errorf("%s and %s live and die together: %v, want %v", c.a, c.b, got, c.together)
		}
		if got := sets.Implies(b, a); got != c.implies {
			t.Errorf("%s lives whenever %s does: %v, want %v", c.a, c.b, got, c.implies)
		}
	}
}

// TestLargeSets: the outputs of a Switch are told apart however much they wait for.
func TestLargeSets(t *testing.T) {
	for n := 250; n <= 260; n++ {
		var text, all strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "far%d = Placeholder[dtype=float32, shape=[2]]\n", i)
			fmt.Fprintf(&all, ", far%d", i)
		}
		fmt.Fprintf(&text, `p = Placeholder[dtype=bool, shape=[]]
			sum = AddN(%s)
			s = Switch(sum, p)
			yes = Neg(s:1)
			no = Exp(s)
			both = Merge(no, yes)
			after = Neg(both)`, all.String()[2:])
		g, err := graphtext.Parse(text.String())
		if err != nil {
			t.Fatal(err)
		}
		order, err := g.Sorted()
		if err != nil {
			t.Fatal(err)
		}
		sets, err := liveness.Find(g, order, func(n *graph.Node) bool { return strings.HasPrefix(n.Name, "far") })
		if err != nil {
			t.Fatal(err)
		}
		yes, no := g.Node("yes"), g.Node("no")
		if sets.Together(yes, no) || sets.Implies(yes, no) || sets.Implies(no, yes) {
			t.Errorf("%d values from elsewhere: the branches of a condition live together", n)
		}
		if after := g.Node("after"); sets.Implies(after, yes) || sets.Implies(after, no) {
			t.Errorf("%d values from elsewhere: a branch lives with what comes after both", n)
		}
	}
}

// TestManyBranches: of more than two branches, two are not all; and the second of two is
// taken in other cases than the second of three.
func TestManyBranches(t *testing.T) {
	sets, g := find(t, `
		i = Placeholder[dtype=int32, shape=[]]
		x = Placeholder[dtype=float32, shape=[2]]
		before = Neg(x)
		s2 = _SwitchN[num_outs=2](x, i)
		s3 = _SwitchN[num_outs=3](x, i)
		second2 = Neg(s2:1)
		second3 = Neg(s3:1)
		all2 = Merge(s2, second2)
		some3 = Merge(s3, second3)
		after2 = Neg(all2)
		after3 = Neg(some3)`)
	if a, b := g.Node("second2"), g.Node("second3"); sets.Together(a, b) || sets.Implies(a, b) {
		t.Error("the second of two branches and the second of three live together")
	}
	if before := g.Node("before"); !sets.Together(before, g.Node("after2")) || sets.Implies(before, g.Node("after3")) {
		t.Error("two branches of two must be all, and two of three not")
	}
}

// find returns the sets of a graph in which nothing waits.
func find(t *testing.T, text string) (*liveness.Sets, *graph.Graph) {
	t.Helper()
	g, err := graphtext.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	order, err := g.Sorted()
	if err != nil {
		t.Fatal(err)
	}
	sets, err := liveness.Find(g, order, func(*graph.Node) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	return sets, g
}
