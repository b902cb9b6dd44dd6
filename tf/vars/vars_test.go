package vars_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/initializers"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
	"github.com/gorge-tf/gorge/tf/vars"
)

func TestNamesAndReuse(t *testing.T) {
	g := tf.NewGraph()
	var first, second, deep *tf.Variable
	vars.Scope(g, "a", vars.ScopeOptions{}, func() {
		first = vars.Get(g, "w", tf.Shape{2, 3})
		vars.Scope(g, "b", vars.ScopeOptions{}, func() { deep = vars.Get(g, "w", tf.Shape{}) })
		if vars.Name(g) != "a" {
			t.Errorf("scope is %q", vars.Name(g))
		}
	})
	vars.Scope(g, "a", vars.ScopeOptions{Reuse: vars.Always}, func() {
		second = vars.Get(g, "w", tf.Shape{2, 3})
		vars.Scope(g, "b", vars.ScopeOptions{Reuse: vars.Inherit}, func() {
			if vars.Get(g, "w", tf.Shape{}) != deep {
				t.Error("a scope inside does not share")
			}
		})
	})
	vars.Scope(g, "a", vars.ScopeOptions{Reuse: vars.Auto}, func() { vars.Get(g, "new", tf.Shape{1}) })
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if first != second || first.Name() != "a/w" || deep.Name() != "a/b/w" {
		t.Errorf("variables are %s, %s, %s", first.Name(), second.Name(), deep.Name())
	}
	for _, op := range []string{"a/w", "a/w/Assign", "a/w/Initializer/random_uniform/RandomUniform", "a/b/w"} {
		if g.Operation(op) == nil {
			t.Errorf("there is no operation %s", op)
		}
	}
	var names []string
	for _, v := range vars.All(g) {
		names = append(names, v.Name())
	}
	if want := []string{"a/b/w", "a/new", "a/w"}; !slices.Equal(names, want) {
		t.Errorf("variables are %v, want %v", names, want)
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		name, want string
		get        func(g *tf.Graph)
	}{
		{"taken", "Variable s/w already exists, disallowed.", func(g *tf.Graph) { vars.Get(g, "w", tf.Shape{2}) }},
		{"unknown shape", "Shape of a new variable (s/x) must be fully defined, but instead was [?].", func(g *tf.Graph) { vars.Get(g, "x", tf.Shape{-1}) }},
		{"missing", "Variable s/r/w does not exist", func(g *tf.Graph) {
			vars.Scope(g, "r", vars.ScopeOptions{Reuse: vars.Always}, func() { vars.Get(g, "w", tf.Shape{2}) })
		}},
	} {
		g := tf.NewGraph()
		vars.Scope(g, "s", vars.ScopeOptions{}, func() {
			vars.Get(g, "w", tf.Shape{2})
			c.get(g)
		})
		if err := g.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for want, o := range map[string]vars.Options{
		"specified shape [3] and found shape [2]": {}, "specified dtype float64 and found dtype float32": {DType: tf.Float64},
	} {
		g := tf.NewGraph()
		vars.Get(g, "w", tf.Shape{2})
		shape := tf.Shape{3}
		if o.DType != tf.Invalid {
			shape = tf.Shape{2}
		}
		var v *tf.Variable
		share(g, func() { v = vars.Get(g, "w", shape, o) })
		if v.Value().Err() == nil || !strings.Contains(g.Err().Error(), want) {
			t.Errorf("%v, want %q", g.Err(), want)
		}
	}
}

// share makes variables in the outermost scope shared, by a getter.
func share(g *tf.Graph, f func()) {
	vars.Scope(g, "x", vars.ScopeOptions{Reuse: vars.Always, Getter: func(get vars.Getter, g *tf.Graph, name string, s tf.Shape, o vars.Options) *tf.Variable {
		return get(g, strings.TrimPrefix(name, "x/"), s, o)
	}}, f)
}

// TestScopeDefaults: what scopes say holds inside unless something nearer says
// otherwise; getters see what they should.
func TestScopeDefaults(t *testing.T) {
	g := tf.NewGraph()
	var seen []string
	var a, b *tf.Variable
	logger := func(get vars.Getter, g *tf.Graph, name string, s tf.Shape, o vars.Options) *tf.Variable {
		seen = append(seen, name)
		return get(g, name, s, o)
	}
	vars.Scope(g, "s", vars.ScopeOptions{
		Initializer: initializers.Constant(3), DType: tf.Float64, Regularizer: vars.Sum(vars.L2(0.5), vars.L1(0.25)), Getter: logger,
	}, func() {
		a = vars.Get(g, "a", tf.Shape{2})
		vars.Unique(g, "u", vars.ScopeOptions{Initializer: initializers.Zeros}, func() {
			b = vars.Get(g, "b", tf.Shape{2}, vars.Options{DType: tf.Int32, NotTrainable: true, Regularizer: func(tf.Output) tf.Output { return tf.Output{} }})
		})
		vars.Unique(g, "u", vars.ScopeOptions{}, func() { vars.Get(g, "b", tf.Shape{}, vars.Options{Collections: []string{"mine"}}) })
	})
	if want := []string{"s/a", "s/u/b", "s/u_1/b"}; !slices.Equal(seen, want) {
		t.Errorf("the getter sees %v, want %v", seen, want)
	}
	if len(tf.Variables(g, "mine")) != 1 || len(tf.Variables(g, tf.TrainableVariables)) != 2 || b.DType() != tf.Int32 {
		t.Errorf("collections or types are wrong: %v", g.Collections())
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, vars.Initialize(g, "init", vars.All(g)...)); err != nil {
		t.Fatal(err)
	}
	losses := g.Collection("regularization_losses")
	out, err := s.Run(t.Context(), nil, a.Value(), losses[0].(tf.Output))
	if err != nil {
		t.Fatal(err)
	}
	if tf.Data[float64](out[0])[1] != 3 || tf.Data[float64](out[1])[0] != 0.5*9+0.25*6 || len(losses) != 2 {
		t.Errorf("value and loss are %v, of %d losses", out, len(losses))
	}
}

func TestPartitioned(t *testing.T) {
	g := tf.NewGraph()
	var p, again *vars.Partitioned
	var whole *vars.Partitioned
	o := vars.ScopeOptions{Partitioner: vars.FixedSize(3, 0), Initializer: initializers.Ones}
	vars.Scope(g, "s", o, func() { p = vars.GetPartitioned(g, "e", tf.Shape{7, 2}) })
	vars.Scope(g, "s", vars.ScopeOptions{Reuse: vars.Auto}, func() { again = vars.GetPartitioned(g, "e", tf.Shape{7, 2}) })
	vars.Scope(g, "t", vars.ScopeOptions{}, func() { whole = vars.GetPartitioned(g, "e", tf.Shape{2}) })
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, v := range append(p.Parts, whole.Parts...) {
		names = append(names, v.Name()+v.Shape().String())
	}
	if want := []string{"s/e/part_0[3,2]", "s/e/part_1[2,2]", "s/e/part_2[2,2]", "t/e/part_0[2]"}; !slices.Equal(names, want) || again != p {
		t.Errorf("parts are %v, want %v", names, want)
	}
	if s := p.Value().Shape(); !s.Equal(tf.Shape{7, 2}) {
		t.Errorf("the whole has shape %v", s)
	}
}

func TestPartitioners(t *testing.T) {
	for _, c := range []struct {
		name  string
		f     vars.Partitioner
		shape tf.Shape
		want  []int
	}{
		{"fixed", vars.FixedSize(4, 1), tf.Shape{8, 8}, []int{1, 4}},
		{"fixed, small", vars.FixedSize(4, 0), tf.Shape{3}, []int{3}},
		{"axis size", vars.AxisSize(64, 0, 0), tf.Shape{10, 4}, []int{3, 1}}, // rows of 16 bytes, four a part
		{"axis size, few shards", vars.AxisSize(64, 0, 2), tf.Shape{10, 4}, []int{2, 1}},
		{"axis size, large rows", vars.AxisSize(8, 0, 0), tf.Shape{3, 4}, []int{3, 1}},
		{"minimum", vars.MinMax(100, 0, 64), tf.Shape{10, 4}, []int{3, 1}},
		{"maximum", vars.MinMax(2, 0, 64), tf.Shape{10, 4}, []int{2, 1}},
	} {
		if got := c.f(c.shape, tf.Float32); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := vars.AxisSize(64, 0, 0)(tf.Shape{4}, tf.Variant); !slices.Equal(got, []int{1}) {
		t.Errorf("variants: %v", got)
	}
	for want, f := range map[string]vars.Partitioner{
		"does not match the Variable's rank":        func(tf.Shape, tf.DType) []int { return []int{1} },
		"only slice a variable along one dimension": func(tf.Shape, tf.DType) []int { return []int{2, 2} },
		"into 1 to 4 parts along axis 0, got 5":     func(tf.Shape, tf.DType) []int { return []int{5, 1} },
	} {
		g := tf.NewGraph()
		vars.Scope(g, "s", vars.ScopeOptions{Partitioner: f}, func() { vars.GetPartitioned(g, "v", tf.Shape{4, 4}) })
		if g.Err() == nil || !strings.Contains(g.Err().Error(), want) {
			t.Errorf("%v, want %q", g.Err(), want)
		}
	}
}

// TestPartsOfTypes cuts variables of several types into parts of 64 bytes: the type is
// that of the variable or of its scope.
func TestPartsOfTypes(t *testing.T) {
	for d, want := range map[tf.DType]int{tf.Float32: 2, tf.Float64: 4, tf.Int8: 1, tf.Invalid: 4} {
		g := tf.NewGraph()
		vars.Scope(g, "s", vars.ScopeOptions{Partitioner: vars.AxisSize(64, 0, 0), DType: tf.Int64}, func() {
			if p := vars.GetPartitioned(g, "v", tf.Shape{32}, vars.Options{DType: d}); len(p.Parts) != want || g.Err() != nil {
				t.Errorf("%v: %d parts, %v; want %d", d, len(p.Parts), g.Err(), want)
			}
		})
	}
}

// TestPartsAreShared asks for a partitioned variable again, as it is and as it is not.
func TestPartsAreShared(t *testing.T) {
	for _, c := range []struct {
		s    tf.Shape
		d    tf.DType
		want string
	}{
		{tf.Shape{4, 2}, tf.Float32, ""},
		{tf.Shape{4, 3}, tf.Float32, "Trying to reuse partitioned variable s/v, but specified shape [4,3] and found shape [4,2]."},
		{tf.Shape{4, 2}, tf.Float64, "Trying to reuse partitioned variable s/v, but specified dtype float64 and found dtype float32."},
	} {
		g := tf.NewGraph()
		o := vars.ScopeOptions{Partitioner: vars.FixedSize(2, 0), Reuse: vars.Auto}
		vars.Scope(g, "s", o, func() { vars.GetPartitioned(g, "v", tf.Shape{4, 2}) })
		vars.Scope(g, "s", o, func() { vars.GetPartitioned(g, "v", c.s, vars.Options{DType: c.d}) })
		if err := g.Err(); (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v: %v, want %q", c.s, c.d, err, c.want)
		}
	}
}

func TestReportUninitialized(t *testing.T) {
	g := tf.NewGraph()
	a := vars.Get(g, "a", tf.Shape{2}, vars.Options{Initializer: initializers.Ones})
	b := tf.NewVariable(vars.InitializedValue(a).Mul(ops.Scalar(g, float32(2))), tf.VariableOptions{Name: "b", Local: true})
	report := vars.ReportUninitialized(g)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct {
		run  tf.Fetchable
		want []string
	}{{report, []string{"a", "b"}}, {a.Initializer(), []string{"b"}}, {b.Initializer(), nil}} {
		if _, err := s.Run(t.Context(), nil, c.run); err != nil {
			t.Fatal(err)
		}
		got, err := session.Fetch[string](t.Context(), s, nil, report)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("without values are %q (%v), want %q", got, err, c.want)
		}
	}
	v, err := session.Fetch[float32](t.Context(), s, nil, b.Value())
	if err != nil || v[0] != 2 {
		t.Errorf("b is %v (%v), want 2", v, err)
	}
}

// A variable that a branch asks for first begins as any other: neither its initial
// value nor its regularizer depends on the branch.
func TestVariablesOfBranches(t *testing.T) {
	g := tf.NewGraph()
	pred := ops.Placeholder(g, tf.Bool, tf.Shape{})
	y := tf.Cond(pred, func() []tf.Output {
		w := vars.Get(g, "w", tf.Shape{2}, vars.Options{Initializer: initializers.Constant(3), Regularizer: vars.L2(1)})
		return []tf.Output{w.Value()}
	}, func() []tf.Output { return []tf.Output{ops.Const(g, []float32{1, 2})} })
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	for on, want := range map[bool]float32{true: 3, false: 1} {
		got, err := s.Run(t.Context(), session.Feeds{pred: tf.Scalar(on)}, y[0])
		if err != nil || tf.Data[float32](got[0])[0] != want {
			t.Errorf("%v: %v, %v", on, got, err)
		}
	}
	loss, err := s.Run(t.Context(), nil, g.Collection("regularization_losses")[0].(tf.Output))
	if err != nil || tf.Data[float32](loss[0])[0] != 9 {
		t.Errorf("the regularizer gives %v, %v; want 9", loss, err)
	}
}

// TestPartsEagerly: what a partitioned variable of an eager graph is, is what its
// parts are now, and gradients reach these.
func TestPartsEagerly(t *testing.T) {
	g := eager.New()
	var p *vars.Partitioned
	vars.Scope(g, "s", vars.ScopeOptions{Partitioner: vars.FixedSize(2, 0)}, func() {
		p = vars.GetPartitioned(g, "w", tf.Shape{4}, vars.Options{Initializer: initializers.Zeros})
	})
	for i, v := range p.Parts {
		if err := v.Assign(ops.Const(g, []float32{float32(i), 7})).Err(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := p.Value().Value()
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, got, []float32{0, 7, 1, 7})
	if name := p.Parts[1].Name(); name != "s/w/part_1" {
		t.Errorf("part 1 is named %q", name)
	}
	var loss tf.Output
	tape := eager.Record(g, func() { loss = p.Value().Square().Sum() })
	dx, err := tape.Gradients(loss, p.Parts[1].Handle())
	if err != nil {
		t.Fatal(err)
	}
	d, err := dx[0].Value()
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, d, []float32{2, 14})
}
