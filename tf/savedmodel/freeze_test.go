package savedmodel_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/lookup"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// looping saves a model that reads variables of both kinds, whole and in part,
// inside and outside of a loop.
func looping(t *testing.T) string {
	t.Helper()
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2}, tf.Name("x"))
	w := tf.NewVariable(ops.Const(g, []float32{1, 2, 3, 4}, 2, 2), tf.VariableOptions{Name: "w"})
	b := tf.NewVariable(ops.Const(g, []float32{10, 20}), tf.VariableOptions{Name: "b", Reference: true})
	y := tf.While([]tf.Output{ops.Scalar[int32](g, 0), x}, func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar[int32](g, 2)) },
		func(v []tf.Output) []tf.Output {
			row := tf.Apply(nil, "ResourceGather", []tf.Output{w.Handle(), v[0]}, tf.Attr("dtype", tf.Float32)).Output(0)
			return []tf.Output{ops.Add(v[0], ops.Scalar[int32](g, 1)), ops.Add(ops.MatMul(v[1], w.Read()), row)}
		}, tf.WhileOpts{})[1]
	out := ops.Add(y, b.Value(), tf.Name("out"))
	change := ops.Add(w.Value(), ops.Scalar[float32](g, 1))
	g.ControlDependencies([]*tf.Operation{w.AssignAdd(w.Value())}, func() { change = ops.Identity(change) })
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "m")
	err = new(savedmodel.Builder).Add(savedmodel.MetaGraph{Session: s, Signatures: map[string]savedmodel.SignatureSpec{
		"serving_default": savedmodel.Predict(map[string]tf.Output{"x": x}, map[string]tf.Output{"y": out}),
		"change":          savedmodel.Predict(nil, map[string]tf.Output{"w": change}),
	}}).Save(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestFreeze freezes a model, runs the graph, and saves that as a model again.
func TestFreeze(t *testing.T) {
	m := load(t, looping(t))
	in := map[string]any{"x": [][]float32{{1, 0}, {0, 1}}}
	want := run(t, m, in)
	def, err := m.Freeze(t.Context(), "serving_default")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range def.GetNode() {
		if op := n.GetOp(); strings.Contains(op, "Var") || strings.Contains(op, "Assign") || strings.Contains(op, "Restore") {
			t.Errorf("%s %q is left", op, n.GetName())
		}
	}
	frozen, err := savedmodel.LoadFrozen(t.Context(), def, map[string]string{"x": "x:0"}, map[string]string{"y": "out:0"}, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	again := filepath.Join(t.TempDir(), "again")
	if err := frozen.Resave(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*savedmodel.Model{frozen, load(t, again)} {
		if got := run(t, m, in); !slices.Equal(got, want) {
			t.Errorf("frozen: %v, want %v", got, want)
		}
	}
	if s := load(t, again).Signature("serving_default"); s.Inputs()[0].DType != tf.Float32 || !s.Inputs()[0].Shape.Equal(tf.Shape{-1, 2}) {
		t.Errorf("inputs: %v", s.Inputs())
	}
	if _, err := m.Freeze(t.Context()); tf.CodeOf(err) != tf.FailedPrecondition || !strings.Contains(err.Error(), `(AssignAddVariableOp) does more with "w"`) {
		t.Errorf("a signature that changes a variable: %v", err)
	}
	if _, err := m.Freeze(t.Context(), "none"); tf.CodeOf(err) != tf.NotFound {
		t.Errorf("no signature: %v", err)
	}
	if _, err := savedmodel.LoadFrozen(t.Context(), def, nil, map[string]string{"y": "none:0"}, savedmodel.Options{}); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), `output "y"`) {
		t.Errorf("no output: %v", err)
	}
	if _, err := savedmodel.LoadFrozen(t.Context(), def, nil, map[string]string{"y": "out:0"}, savedmodel.Options{}); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), `output "y" takes "x"`) {
		t.Errorf("an input that is not named: %v", err)
	}
}

func run(t *testing.T, m *savedmodel.Model, in map[string]any) []float32 {
	t.Helper()
	out, err := m.Signature("serving_default").Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	y, err := savedmodel.Values[float32](out, "y")
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// TestFreezeTables: a frozen graph fills its tables itself, without the files that they
// came from, and so does a model that is made of it.
func TestFreezeTables(t *testing.T) {
	dir := saved(t)
	m := load(t, dir)
	def, err := m.Freeze(t.Context(), "serving_default")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	names := map[string]map[string]string{"in": {}, "out": {}}
	for _, s := range m.Signature("serving_default").Inputs() {
		names["in"][s.Key] = s.Name
	}
	for _, s := range m.Signature("serving_default").Outputs() {
		names["out"][s.Key] = s.Name
	}
	frozen, err := savedmodel.LoadFrozen(t.Context(), def, names["in"], names["out"], savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	again := filepath.Join(t.TempDir(), "again")
	if err := frozen.Resave(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	in := map[string]any{"x": []string{"two", "none", "one"}, "k": float32(2)}
	want := run(t, m, in)
	for _, f := range []*savedmodel.Model{frozen, load(t, again)} {
		if got := run(t, f, in); !slices.Equal(got, want) {
			t.Errorf("frozen: %v, want %v", got, want)
		}
	}
}

// TestFreezeTablesOfFunctions: a table that a function makes, as those of TensorFlow 2
// are made, and that another function fills, is found by its name.
func TestFreezeTablesOfFunctions(t *testing.T) {
	m := load(t, made(t))
	in := map[string]any{"x": []string{"b", "none", "a"}}
	want := run(t, m, in)
	if !slices.Equal(want, []float32{2, -1, 1}) {
		t.Fatalf("the model: %v", want)
	}
	def, err := m.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range def.GetLibrary().GetFunction() {
		t.Errorf("function %q is left, which nothing calls", f.GetSignature().GetName())
	}
	frozen, err := savedmodel.LoadFrozen(t.Context(), def, map[string]string{"x": "x:0"}, map[string]string{"y": m.Signature("serving_default").Outputs()[0].Name}, savedmodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer frozen.Close()
	if got := run(t, frozen, in); !slices.Equal(got, want) {
		t.Errorf("frozen: %v, want %v", got, want)
	}
}

// made saves a model whose two tables functions make: y is the sum of what both have.
func made(t *testing.T) string {
	t.Helper()
	g := tf.NewGraph()
	maker := func(op, name string) tf.Output {
		return tf.NewFunction(g, "make_"+name, nil, func([]tf.Output) []tf.Output {
			table := tf.Apply(g, op, nil, tf.Attr("key_dtype", tf.String), tf.Attr("value_dtype", tf.Float32), tf.Attr("shared_name", name))
			return []tf.Output{table.Output(0)}
		}).Call(nil)[0]
	}
	keys, x := ops.Const(g, []string{"a", "b"}, 2), ops.Placeholder(g, tf.String, tf.Shape{-1}, tf.Name("x"))
	static, changing := maker("HashTableV2", "static"), maker("MutableHashTableV2", "changing")
	fill := lookup.InitializeTableV2(static, keys, ops.Const(g, []float32{1, 2}))
	insert := lookup.LookupTableInsertV2(changing, keys, ops.Const(g, []float32{0, 0}))
	find := tf.NewFunction(g, "find", []tf.ArgSpec{{DType: tf.Resource}, {DType: tf.Resource}, {DType: tf.String, Shape: tf.Shape{-1}}}, func(in []tf.Output) []tf.Output {
		none := ops.Scalar[float32](in[0].Graph(), -0.5)
		return []tf.Output{ops.Add(lookup.LookupTableFindV2(in[0], in[2], none), lookup.LookupTableFindV2(in[1], in[2], none))}
	})
	y := find.Call([]tf.Output{static, changing, x})[0]
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "made")
	err = new(savedmodel.Builder).Add(savedmodel.MetaGraph{Session: s, Init: tf.Group(g, "fill", fill, insert), Signatures: map[string]savedmodel.SignatureSpec{
		"serving_default": savedmodel.Predict(map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y}),
	}}).Save(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
