package tf_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

func noOp(g *tf.Graph, opts ...tf.Option) *tf.Operation { return tf.Apply(g, "NoOp", nil, opts...) }

func TestControlDependencies(t *testing.T) {
	g := tf.NewGraph()
	a, b, c := noOp(g), noOp(g), noOp(g)
	var inner, outer *tf.Operation
	g.ControlDependencies([]*tf.Operation{a, b}, func() {
		g.ControlDependencies([]*tf.Operation{c, a}, func() { inner = noOp(g, tf.After(b)) })
		outer = noOp(g)
	})
	if !slices.Equal(inner.ControlInputs(), []*tf.Operation{a, b, c}) || !slices.Equal(outer.ControlInputs(), []*tf.Operation{a, b}) {
		t.Errorf("inner runs after %v, outer after %v", inner.ControlInputs(), outer.ControlInputs())
	}
	if len(noOp(g).ControlInputs()) != 0 {
		t.Error("the scope did not end")
	}
}

func TestCollections(t *testing.T) {
	g := tf.NewGraph()
	g.AddToCollection("b", 1)
	g.AddToCollection("a", "x")
	g.AddToCollection("b", 2)
	if got := g.Collection("b"); !slices.Equal(got, []any{1, 2}) || !slices.Equal(g.Collections(), []string{"a", "b"}) {
		t.Errorf("got %v and %v", got, g.Collections())
	}
	g.Collection("b")[0] = 9
	if g.Collection("b")[0] != 1 || g.Collection("c") != nil {
		t.Error("a collection is not a copy")
	}
}

func TestLookUpOutputs(t *testing.T) {
	g := tf.NewGraph()
	x := placeholder(g, "a/x", tf.Float32, tf.Shape{2})
	for _, name := range []string{"a/x", "a/x:0"} {
		if got, err := g.Output(name); err != nil || got != x {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	for name, want := range map[string]string{
		"b":     "The operation, 'b', does not exist in the graph.",
		"a/x:1": "The operation, 'a/x', exists but only has 1 outputs.",
		"a/x:":  "has the form node:number",
	} {
		if _, err := g.Output(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if op := g.Operation("a/x"); op != x.Operation() || g.Operation("nothing") != nil || op.String() != `Placeholder "a/x"` {
		t.Errorf("got %v", op)
	}
	if x.String() != "a/x:0 float32[2]" || x.Index() != 0 || !slices.Equal(x.Operation().Outputs(), []tf.Output{x}) {
		t.Errorf("got %v", x)
	}
}

func TestSetShape(t *testing.T) {
	g := tf.NewGraph()
	x := placeholder(g, "x", tf.Float32, tf.Shape{-1, 3})
	before := x.Operation().Shapes()
	x.SetShape(tf.Shape{2, -1})
	if !x.Shape().Equal(tf.Shape{2, 3}) || !before[0].Equal(tf.Shape{-1, 3}) {
		t.Errorf("now %v, a reader of before sees %v", x.Shape(), before)
	}
	x.SetShape(tf.Shape{4, 3})
	if err := g.Err(); err == nil || !strings.Contains(err.Error(), "x:0 float32[2,3], got [4,3]") {
		t.Errorf("a contradiction: %v", err)
	}
	tf.Output{}.SetShape(nil) // does nothing
}

// TestColocation has the attribute and device that TensorFlow gives in
// testdata/graph.pbtxt's way: a group is that of whoever opened it.
func TestColocation(t *testing.T) {
	g := tf.NewGraph()
	u := noOp(g, tf.Name("u"), tf.OnDevice("/job:ps/task:1"))
	v := noOp(g, tf.Name("v"))
	c := noOp(g, tf.ColocateWith(u))
	d := noOp(g, tf.ColocateWith(c))
	e := noOp(g, tf.ColocateWith(v), tf.ColocateWith(d))
	for op, want := range map[*tf.Operation][]string{c: {"loc:@u"}, d: {"loc:@u"}, e: {"loc:@u", "loc:@v"}} {
		if !slices.Equal(op.Strs("_class"), want) {
			t.Errorf("%v is in groups %v, want %v", op, op.Strs("_class"), want)
		}
	}
	if c.Device != "/job:ps/task:1" || d.Device != "/job:ps/task:1" || e.Device != "" {
		t.Errorf("devices are %q, %q, %q", c.Device, d.Device, e.Device)
	}
}

func TestGroup(t *testing.T) {
	g := tf.NewGraph()
	a, b := noOp(g, tf.Name("a")), noOp(g, tf.Name("b"))
	c := noOp(g, tf.Name("c"), tf.OnDevice("/job:ps"))
	one := tf.Group(g, "one", a, b)
	if one.Name != "one" || !slices.Equal(one.ControlInputs(), []*tf.Operation{a, b}) {
		t.Errorf("%v after %v", one, one.ControlInputs())
	}
	two := tf.Group(g, "two", a, c, b)
	in := two.ControlInputs()
	if two.Name != "two" || len(in) != 2 || in[0].Name != "two/NoOp" || in[1].Name != "two/NoOp_1" || in[1].Device != "/job:ps" {
		t.Fatalf("%v after %v", two, in)
	}
	if !slices.Equal(in[0].ControlInputs(), []*tf.Operation{a, b}) || !slices.Equal(in[1].ControlInputs(), []*tf.Operation{c}) {
		t.Errorf("by device: %v and %v", in[0].ControlInputs(), in[1].ControlInputs())
	}
	if none := tf.Group(g, "none"); none.Err() != nil {
		t.Error(none.Err())
	}
}

func TestSeedsAreTensorFlows(t *testing.T) {
	for _, row := range golden.Seeds {
		seed := decode[*int64](t, row[0])
		g := tf.NewGraph()
		if seed != nil {
			g.SetSeed(*seed)
		}
		for i, want := range decode[[][3]*int64](t, row[1]) {
			a, b := g.Seeds(want[0])
			if a != *want[1] || b != *want[2] {
				t.Errorf("graph seed %v, operation %d: got %d, %d; want %d, %d", row[0], i, a, b, *want[1], *want[2])
			}
		}
	}
}

// TestGraphGrowsWhileStepsRun is for the race detector: one goroutine builds,
// others run steps and read what they need.
func TestGraphGrowsWhileStepsRun(t *testing.T) {
	g := tf.NewGraph()
	x := placeholder(g, "x", tf.Float32, tf.Shape{-1})
	y := tf.Apply(nil, "Neg", []tf.Output{x}).Output(0)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	done := make(chan error)
	feeds := session.Feeds{x: (*tf.Tensor)(fromSlice(t, []float32{1, 2}))}
	for range 2 {
		go func() {
			var err error
			for i := 0; i < 50 && err == nil; i++ {
				_, err = s.Run(context.Background(), feeds, y)
			}
			done <- err
		}()
	}
	for range 100 {
		z := tf.Apply(nil, "Neg", []tf.Output{y}).Output(0)
		z.SetShape(tf.Shape{2})
		x.SetShape(tf.Shape{2})
		tf.Apply(g, "Nonsense", nil)
	}
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if _, err := session.New(g); err == nil {
		t.Error("a session on a graph with an error")
	}
}
