package tf_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// placeholder adds an input of the given shape.
func placeholder(g *tf.Graph, name string, d tf.DType, s tf.Shape) tf.Output {
	return tf.Apply(g, "Placeholder", nil, tf.Name(name), tf.Attr("dtype", d), tf.Attr("shape", s)).Output(0)
}

func constant(g *tf.Graph, t *tf.Tensor, opts ...tf.Option) tf.Output {
	return tf.Apply(g, "Const", nil, append(opts, tf.Attr("value", t), tf.Attr("dtype", t.DType()))...).Output(0)
}

func matMul(x, w tf.Output, opts ...tf.Option) tf.Output {
	return tf.Apply(nil, "MatMul", []tf.Output{x, w}, opts...).Output(0)
}

// line returns "file.go:n", n lines after the caller's.
func line(n int) string {
	_, file, l, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), l+n)
}

func TestErrorsNameLineNodeAndInputs(t *testing.T) {
	g := tf.NewGraph()
	x := placeholder(g, "x", tf.Float32, tf.Shape{-1, 784})
	w := placeholder(g, "w", tf.Float32, tf.Shape{784, 10})
	bad := placeholder(g, "bad", tf.Float32, tf.Shape{10, 3})
	for range 3 {
		matMul(x, w)
	}
	at := line(1)
	err := tf.Apply(nil, "MatMul", []tf.Output{x, bad}).Err()
	prefix := at + `: MatMul "MatMul_3"(x:0 float32[?,784], bad:0 float32[10,3]): `
	if err == nil || !strings.HasPrefix(err.Error(), prefix) {
		t.Fatalf("got %v\nwant %s…", err, prefix)
	}
	if !strings.Contains(err.Error(), "784 and 10") {
		t.Errorf("the sizes are not named: %v", err)
	}
	var e *tf.Error
	if !errors.As(err, &e) || e.Code != tf.InvalidArgument || e.Node != "MatMul_3" || e.Op != "MatMul" || e.Pos != at || len(e.In) != 2 {
		t.Errorf("got %+v", e)
	}
	if g.Err() != err {
		t.Errorf("the graph has %v", g.Err())
	}
}

func TestApplyRefuses(t *testing.T) {
	other := tf.NewGraph()
	g := tf.NewGraph()
	f := placeholder(g, "f", tf.Float32, nil)
	d := placeholder(g, "d", tf.Float64, nil)
	i := placeholder(g, "i", tf.Int32, tf.Shape{})
	foreign := placeholder(other, "foreign", tf.Float32, nil)
	for name, c := range map[string]struct {
		add  func(g *tf.Graph) *tf.Operation
		want string
	}{
		"unknown op":        {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "Nonsense", nil) }, "Op type not registered 'Nonsense' in binary"},
		"too few inputs":    {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "MatMul", []tf.Output{f}) }, "MatMul takes inputs (a, b), got 1 inputs"},
		"too many inputs":   {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "NoOp", []tf.Output{f}) }, "NoOp takes no inputs, got 1 inputs"},
		"types that differ": {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "MatMul", []tf.Output{f, d}) }, "inputs of type T must agree: d:0 is float64, expected float32"},
		"type not allowed": {func(g *tf.Graph) *tf.Operation {
			return tf.Apply(g, "Exp", []tf.Output{i})
		}, `attr "T" must be one of [`},
		"fixed type":    {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "LogicalNot", []tf.Output{f}) }, "input 0 must be bool, got f:0 float32<unknown>"},
		"no reference":  {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "Assign", []tf.Output{f, f}) }, "input 0 must be float32_ref, got f:0 float32<unknown>"},
		"zero Output":   {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "Neg", []tf.Output{{}}) }, "input 0 is the zero Output"},
		"another graph": {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "Neg", []tf.Output{foreign}) }, "inputs must belong to one graph: foreign:0 float32<unknown> is of another"},
		"no such output": {func(g *tf.Graph) *tf.Operation {
			return tf.Apply(g, "Neg", []tf.Output{f.Operation().Output(3)})
		}, `Placeholder "f" has 1 outputs, there is no output 3`},
		"negative output": {func(g *tf.Graph) *tf.Operation {
			return tf.Apply(g, "Neg", []tf.Output{f.Operation().Output(-1)})
		}, "there is no output -1"},
		"missing attr": {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "Placeholder", nil) }, `attr "dtype" has to be given`},
		"unknown attr": {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "NoOp", nil, tf.Attr("x", 1)) }, `NoOp has no attribute "x"`},
		"colocation":   {func(g *tf.Graph) *tf.Operation { return tf.Apply(g, "NoOp", nil, tf.ColocateWith(nil)) }, "ColocateWith needs an operation, got none"},
		"list too long": {func(g *tf.Graph) *tf.Operation {
			return tf.Apply(g, "AddN", []tf.Output{f}, tf.Attr("N", 2))
		}, `attr "N" is 2, but there are 1 inputs for inputs`},
		"too many outputs": {func(g *tf.Graph) *tf.Operation {
			return tf.Apply(g, "Split", []tf.Output{i, f}, tf.Attr("num_split", 1<<40))
		}, `attr "num_split" is the length of output, which must be at least 0 and at most 65536, got 1099511627776`},
	} {
		t.Run(name, func(t *testing.T) {
			op := c.add(g)
			if err := op.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if op.Output(0).Err() == nil || op.Output(0).DType() != tf.Invalid || op.Output(0).Shape() != nil {
				t.Error("the output does not carry the error")
			}
		})
	}
}

func TestErrorsAreSticky(t *testing.T) {
	g := tf.NewGraph()
	x := placeholder(g, "x", tf.Float32, tf.Shape{2, 3})
	bad := matMul(x, x)
	good := tf.Apply(nil, "Neg", []tf.Output{x}).Output(0)
	after := tf.Apply(nil, "Neg", []tf.Output{tf.Apply(nil, "Neg", []tf.Output{bad}).Output(0)}).Output(0)
	waits := tf.Apply(g, "NoOp", nil, tf.After(bad.Operation()))
	second := tf.Apply(g, "Nonsense", nil)
	if good.Err() != nil {
		t.Errorf("what does not depend on it: %v", good.Err())
	}
	for _, err := range []error{after.Err(), waits.Err(), g.Err()} {
		if err != bad.Err() {
			t.Errorf("got %v, want %v", err, bad.Err())
		}
	}
	if second.Err() == nil || second.Err() == g.Err() {
		t.Errorf("a second mistake: %v", second.Err())
	}
	if _, err := tf.Gradients(good, x); err != bad.Err() {
		t.Errorf("Gradients: %v", err)
	}
	if _, err := g.MarshalGraphDef(); err != bad.Err() {
		t.Errorf("MarshalGraphDef: %v", err)
	}
	if _, err := after.Value(); err != bad.Err() {
		t.Errorf("Value: %v", err)
	}
}

func TestErrorsCrossGraphs(t *testing.T) {
	a, b := tf.NewGraph(), tf.NewGraph()
	bad := tf.Apply(a, "Nonsense", nil).Output(0)
	op := tf.Apply(b, "Neg", []tf.Output{bad})
	if op.Err() != a.Err() || b.Err() != a.Err() || op.Graph() != b {
		t.Errorf("the operation has %v, its graph %v; want %v", op.Err(), b.Err(), a.Err())
	}
}

func TestErrorWithoutGraph(t *testing.T) {
	x := tf.Apply(nil, "Neg", []tf.Output{{}}).Output(0)
	if x.Err() == nil || x.Graph() == nil {
		t.Errorf("got %v, %v", x.Err(), x.Graph())
	}
	var zero tf.Output
	if zero.Err() == nil || zero.Graph() != nil || zero.Name() != "" || zero.String() != "<no output>" || !zero.IsZero() {
		t.Errorf("the zero Output: %v, %q, %s", zero.Err(), zero.Name(), zero)
	}
}

func TestStrictPanics(t *testing.T) {
	defer func() {
		if err, _ := recover().(error); err == nil || !strings.Contains(err.Error(), "Nonsense") {
			t.Errorf("recovered %v", err)
		}
	}()
	tf.Apply(tf.NewGraph(tf.Strict()), "Nonsense", nil)
	t.Error("no panic")
}

func TestFailed(t *testing.T) {
	g := tf.NewGraph()
	at := line(1)
	op := tf.Failed(g, "Minimize", errors.New("no variables"))
	if err := op.Err(); err == nil || err.Error() != at+`: Minimize "Minimize": no variables` || g.Err() != err {
		t.Errorf("got %v, graph %v", err, g.Err())
	}
	again := tf.Failed(nil, "Other", op.Err())
	if again.Err() != op.Err() {
		t.Errorf("an error that names its node became %v", again.Err())
	}
}

func TestInputListsAreTheGraphs(t *testing.T) {
	g := tf.NewGraph()
	a, b := placeholder(g, "a", tf.Float32, nil), placeholder(g, "b", tf.Float32, nil)
	in := []tf.Output{a, b}
	sum := tf.Apply(nil, "AddN", in)
	in[0] = b
	if sum.Input(0) != a || sum.Int("N") != 2 {
		t.Errorf("inputs are %v, N is %d", sum.Inputs(), sum.Int("N"))
	}
}

func TestListsOfEqualLength(t *testing.T) {
	g := tf.NewGraph()
	i, f := placeholder(g, "i", tf.Int32, nil), placeholder(g, "f", tf.Float32, nil)
	op := tf.Apply(g, "TestLists", []tf.Output{f, f, i, i, f, f, i})
	if op.Err() != nil || op.Int("N") != 2 || len(op.InTypes) != 7 || op.NumOutputs() != 3 {
		t.Errorf("%v: N is %d, %v, %v", op.Err(), op.Int("N"), op.InTypes, op.OutTypes)
	}
	if op := tf.Apply(g, "TestLists", []tf.Output{i}); op.Err() != nil || op.Int("N") != 0 {
		t.Errorf("empty lists: %v", op.Err())
	}
	mixed := tf.Apply(g, "TestMixed", []tf.Output{f, i, f})
	if ts := mixed.TypesAttr("Ts"); mixed.Err() != nil || len(ts) != 2 || ts[0] != tf.Float32 || ts[1] != tf.Int32 {
		t.Errorf("%v: types are %v", mixed.Err(), ts)
	}
}

func init() {
	unknown := func(*core.Infer) error { return nil }
	core.Register(core.OpDef{
		Name: "TestLists", In: "a: N * float; b: N * int32; c: N * T; last: int32", Out: "y: N * T; z: int32", Attrs: "N: int >= 0; T: type = DT_FLOAT",
		Shape: unknown, NoGrad: core.NotDifferentiable,
	})
	core.Register(core.OpDef{Name: "TestMixed", In: "a: Ts; last: float", Out: "y: Ts", Attrs: "Ts: list(type)", Shape: unknown, NoGrad: core.NotDifferentiable})
}

// TestListsOfAttributesAreTheGraphs: a program may use the memory of a shape again.
func TestListsOfAttributesAreTheGraphs(t *testing.T) {
	g := tf.NewGraph()
	s, more, types := tf.Shape{-1, 3}, []tf.Shape{{2}}, []tf.DType{tf.Float32}
	x := placeholder(g, "x", tf.Float32, s)
	y := placeholder(g, "y", tf.Float32, nil)
	y.SetShape(s)
	f := tf.NewFunction(g, "f", []tf.ArgSpec{{DType: tf.Float32, Shape: s}}, func(args []tf.Output) []tf.Output { return args })
	op := noOp(g, tf.Attr("_shapes", more), tf.Attr("_types", types))
	s[0], more[0][0], types[0] = 7, 8, tf.Int32
	for _, z := range []tf.Output{x, y, f.Args()[0]} {
		if got := z.Shape().String(); got != "[?,3]" {
			t.Errorf("%v", z)
		}
	}
	if got := fmt.Sprint(x.Operation().Attr("shape"), op.Attr("_shapes"), op.Attr("_types")); got != "[?,3] [[2]] [float32]" {
		t.Error(got)
	}
}
