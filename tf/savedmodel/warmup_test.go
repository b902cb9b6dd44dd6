package savedmodel_test

import (
	"sync/atomic"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/ops/text"
	"github.com/gorge-tf/gorge/tf/savedmodel"
	"github.com/gorge-tf/gorge/tf/session"
)

// warmed counts the runs of the operation below.
var warmed atomic.Int32

func init() {
	core.Register(core.OpDef{
		Name: "SavedModelTestWarmed", In: "x: float", Out: "y: float", Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable,
		Kernels: core.AnyType(func(*core.Node) (core.Kernel, error) {
			return core.Compute(func(c *core.OpContext) error { warmed.Add(1); c.Forward(0, 0); return nil }), nil
		}),
	})
}

// TestWarmUp: a signature is run only if that leaves no trace and zeros can be fed.
func TestWarmUp(t *testing.T) {
	g := tf.NewGraph()
	rows := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 2}, tf.Name("rows"))
	open := ops.Placeholder(g, tf.Float32, tf.Shape{-1, -1}, tf.Name("open"))
	words := ops.Placeholder(g, tf.String, tf.Shape{-1}, tf.Name("words"))
	count := func(x tf.Output) tf.Output { return tf.Apply(g, "SavedModelTestWarmed", []tf.Output{x}).Output(0) }
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	ref := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "ref", Reference: true})
	after := func(op *tf.Operation) (x tf.Output) {
		g.ControlDependencies([]*tf.Operation{op}, func() { x = count(rows) })
		return x
	}
	random := tf.NewFunction(g, "random", []tf.ArgSpec{{DType: tf.Float32, Shape: tf.Shape{-1, 2}}}, func(x []tf.Output) []tf.Output {
		return []tf.Output{ops.Add(x[0], ops.RandomUniform(x[0].Graph(), tf.Shape{2}, tf.Float32))}
	})
	signatures := map[string]savedmodel.SignatureSpec{}
	for name, y := range map[string]tf.Output{
		"pure": count(ops.Add(ops.Mul(rows, v.Read()), ref.Read())), "open": count(open), "random": count(random.Call([]tf.Output{rows})[0]),
		"words": count(ops.Cast(text.StringLength(words), tf.Float32)), "numbers": count(parsing.StringToNumber(words)),
		"assigns": after(v.AssignAdd(ops.Const(g, []float32{1, 1}))), "assigns ref": after(ref.AssignAdd(ops.Const(g, []float32{1, 1}))),
	} {
		x := rows
		switch name {
		case "open":
			x = open
		case "words", "numbers":
			x = words
		}
		signatures[name] = savedmodel.Predict(map[string]tf.Output{"x": x}, map[string]tf.Output{"y": y})
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() + "/model"
	if err := new(savedmodel.Builder).Add(savedmodel.MetaGraph{Session: s, Signatures: signatures}).Save(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	m := load(t, dir)
	for name := range signatures {
		before, want := warmed.Load(), int32(0)
		if name == "pure" || name == "words" { // an empty string is no number
			want = 1
		}
		if err := m.Signature(name).WarmUp(t.Context()); err != nil {
			t.Error(name, err)
		}
		if got := warmed.Load() - before; got != want {
			t.Errorf("signature %q was run %d times, want %d", name, got, want)
		}
	}
}
