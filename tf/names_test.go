package tf_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func TestNamesAreTensorFlows(t *testing.T) {
	g := tf.NewGraph()
	for i, row := range golden.Names {
		scope, name, want := row[0], row[1], row[2]
		if want == "!" { // a clash that we avoid
			want = name + "_1"
		}
		var got string
		add := func() { got = tf.Apply(g, "NoOp", nil, tf.Name(name)).Name }
		if scope == "" {
			add()
		} else {
			g.Scope(scope, add)
		}
		if got != want {
			t.Errorf("name %d: %q in scope %q becomes %q, want %q", i, name, scope, got, want)
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}

func TestScopesNest(t *testing.T) {
	g := tf.NewGraph()
	var inner, outer, root, again string
	g.Scope("a", func() {
		g.Scope("b", func() {
			inner = tf.Apply(g, "NoOp", nil).Name
			g.Scope("", func() { root = tf.Apply(g, "NoOp", nil).Name })
		})
		outer = tf.Apply(g, "NoOp", nil).Name
		if g.CurrentScope() != "a/" {
			t.Errorf("the scope is %q", g.CurrentScope())
		}
	})
	g.Scope("a/b/", func() { again = tf.Apply(g, "NoOp", nil).Name })
	if got := strings.Join([]string{inner, outer, root, again}, " "); got != "a/b/NoOp a/NoOp NoOp a/b/NoOp_1" {
		t.Errorf("got %s", got)
	}
	if g.CurrentScope() != "" {
		t.Errorf("outside, the scope is %q", g.CurrentScope())
	}
}

func TestNamesMustBeValidAndNew(t *testing.T) {
	for name, want := range map[string]string{
		"a b": "'a b' is not a valid node name", "_a": "'_a' is not a valid node name", "é": "is not a valid node name",
		"x/": "Duplicate node name in graph: 'x'",
	} {
		g := tf.NewGraph()
		tf.Apply(g, "NoOp", nil, tf.Name("x"))
		op := tf.Apply(g, "NoOp", nil, tf.Name(name))
		if err := op.Err(); err == nil || !strings.Contains(err.Error(), want) || g.Err() == nil {
			t.Errorf("name %q: %v, graph: %v", name, err, g.Err())
		}
	}
	g := tf.NewGraph()
	for _, name := range []string{"a", ".a", "0", `A_\/>-z`, "a.b"} {
		if op := tf.Apply(g, "NoOp", nil, tf.Name(name)); op.Err() != nil || op.Name != name {
			t.Errorf("name %q: %q, %v", name, op.Name, op.Err())
		}
	}
}

func TestParseTensorName(t *testing.T) {
	for _, c := range []struct {
		s, node string
		k       int
		ok      bool
	}{
		{"a", "a", 0, true}, {"a:0", "a", 0, true}, {"a/b:12", "a/b", 12, true}, {"a:b:1", "a:b", 1, true},
		{":1", "", 0, false}, {"a:", "", 0, false}, {"a:x", "", 0, false}, {"a:-1", "", 0, false}, {"a:*", "", 0, false},
		{"a:99999999999999999999", "", 0, false},
	} {
		node, k, err := core.ParseTensorName(c.s)
		if node != c.node || k != c.k || (err == nil) != c.ok {
			t.Errorf("ParseTensorName(%q) = %q, %d, %v", c.s, node, k, err)
		}
	}
}

func FuzzParseTensorName(f *testing.F) {
	for _, s := range []string{"a", "a:0", "a:b:1", "", ":", "a:*"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		node, k, err := core.ParseTensorName(s)
		if err == nil && (k < 0 || len(node) > len(s)) {
			t.Errorf("ParseTensorName(%q) = %q, %d", s, node, k)
		}
	})
}
