package ops_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/training" // registers ResourceApplyGradientDescent
	"github.com/gorge-tf/gorge/tf/session"
)

// TestConcurrentUpdates: steps that run at the same time lose no update.
func TestConcurrentUpdates(t *testing.T) {
	const steps, size = 40, 1000
	g := tf.NewGraph(tf.Strict())
	zeros := ops.Fill(ops.Const(g, []int32{size}), ops.Scalar(g, int64(0)))
	h, set := variableOf(g, zeros, "v")
	other, setOther := variableOf(g, zeros, "w")
	one := ops.OnesLike(zeros)
	add := ops.AssignAddVariableOp(h, one)
	sub := ops.AssignSubVariableOp(other, one)
	reading := ops.ReadVariableOp(h, tf.Int64)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := func(fetches ...tf.Fetchable) []*tf.Tensor {
		out, err := s.Run(context.Background(), nil, fetches...)
		if err != nil {
			t.Error(err)
		}
		return out
	}
	run(set, setOther)
	var wg sync.WaitGroup
	for range steps {
		wg.Go(func() { run(add, sub) })
		wg.Go(func() { run(reading) })
	}
	wg.Wait()
	out := run(ops.ReadVariableOp(h, tf.Int64), ops.ReadVariableOp(other, tf.Int64))
	for i, want := range []int64{steps, -steps} {
		for _, v := range tf.Data[int64](out[i]) {
			if v != want {
				t.Fatalf("variable %d is %d, want %d", i, v, want)
			}
		}
	}
}

// TestReadsStay: a value that was read does not change when the variable does.
func TestReadsStay(t *testing.T) {
	g := eager.New()
	initial := ops.Const(g, []float32{1, 2})
	h, set := variableOf(g, initial, "v")
	before := ops.ReadVariableOp(h, tf.Float32)
	add := ops.AssignAddVariableOp(h, initial)
	adam := tf.Apply(nil, "ResourceApplyGradientDescent", []tf.Output{h, ops.Scalar(g, float32(1)), initial})
	scatter := ops.ResourceScatterAdd(h, ops.Const(g, []int32{1}), ops.Const(g, []float32{5}))
	for _, op := range []*tf.Operation{set, add, adam, scatter} {
		if op.Err() != nil {
			t.Fatal(op.Err())
		}
	}
	for _, tc := range []struct {
		name string
		x    tf.Output
		want []float32
	}{{"assigned", initial, []float32{1, 2}}, {"read", before, []float32{1, 2}}, {"variable", ops.ReadVariableOp(h, tf.Float32), []float32{1, 7}}} {
		v, err := tc.x.Value()
		if err != nil || !core.TensorsEqual((*core.Tensor)(v), vec(tc.want...)) {
			t.Errorf("%s: %v %v, want %v", tc.name, v, err, tc.want)
		}
	}
}

func TestHandleErrors(t *testing.T) {
	g := eager.New()
	own, _ := author.Computed(ops.VarHandleOp(g, tf.Float32, nil, ops.VarHandleOpts{SharedName: "v"}))
	with := func(change func(*core.ResourceHandle)) tf.Output {
		h := own.Handles()[0]
		change(&h)
		return ops.ConstValue(g, core.HandleTensor(h))
	}
	none := core.NewTensor(tf.Resource, tf.Shape{0})
	for name, tc := range map[string]struct {
		handle tf.Output
		code   tf.Code
		text   string
	}{
		"unset":          {with(func(*core.ResourceHandle) {}), tf.FailedPrecondition, "Could not find variable v."},
		"another type":   {with(func(h *core.ResourceHandle) { h.HashCode++ }), tf.InvalidArgument, "using the wrong type"},
		"another device": {with(func(h *core.ResourceHandle) { h.Device = "/job:ps/replica:0/task:0/device:CPU:0" }), tf.InvalidArgument, "Trying to access resource v located in device /job:ps"},
		"no handle":      {ops.ConstValue(g, none), tf.InvalidArgument, "must be a scalar"},
	} {
		t.Run(name, func(t *testing.T) {
			err := ops.ReadVariableOp(tc.handle, tf.Float32).Err()
			if tf.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("reading: %v", err)
			}
		})
	}
	gone := ops.DestroyResourceOp(with(func(*core.ResourceHandle) {}), ops.DestroyResourceOpts{MustExist: true})
	if tf.CodeOf(gone.Err()) != tf.NotFound {
		t.Errorf("destroying what is not there: %v", gone.Err())
	}
}

// TestUnsetVariables: every op on a variable says that nothing was assigned.
func TestUnsetVariables(t *testing.T) {
	g := eager.New()
	h := ops.VarHandleOp(g, tf.Float32, nil, ops.VarHandleOpts{SharedName: "v"})
	x, i, one := ops.Const(g, []float32{1}), ops.Const(g, []int32{0}), ops.Scalar(g, float32(1))
	for name, err := range map[string]error{
		"AssignAdd": ops.AssignAddVariableOp(h, x).Err(), "Shape": ops.VariableShape(h).Err(), "Gather": ops.ResourceGather(h, i, tf.Float32).Err(),
		"Scatter": ops.ResourceScatterAdd(h, i, x).Err(), "Descent": tf.Apply(nil, "ResourceApplyGradientDescent", []tf.Output{h, one, x}).Err(),
	} {
		if c := tf.CodeOf(err); c != tf.NotFound && (c != tf.FailedPrecondition || name == "AssignAdd") {
			t.Errorf("%s on an unset variable: %v", name, err)
		}
	}
	v, err := ops.VarIsInitializedOp(h).Value()
	if err != nil || tf.Data[bool](v)[0] {
		t.Errorf("an unset variable is initialized: %v %v", v, err)
	}
}

// TestSharedReference: nodes of one shared name are one reference variable.
func TestSharedReference(t *testing.T) {
	m := resource.NewManager("localhost")
	attrs := func(d tf.DType) core.Attrs {
		return core.Attrs{"dtype": d, "shape": tf.Shape{2}, "shared_name": "v"}
	}
	refs := make([]*core.Ref, 2)
	for i := range refs {
		n, k := kernelOf(t, "VariableV2", attrs(tf.Float32))
		c := &core.OpContext{Step: &core.Step{Resources: m}, Node: n, Out: make([]core.Slot, 1)}
		if err := compute(k, c); err != nil {
			t.Fatal(err)
		}
		refs[i] = c.Out[0].Ref
	}
	if refs[0] != refs[1] {
		t.Error("two nodes of one shared name have two variables")
	}
	n, k := kernelOf(t, "VariableV2", attrs(tf.Int32))
	c := &core.OpContext{Step: &core.Step{Resources: m}, Node: n, Out: make([]core.Slot, 1)}
	if err := compute(k, c); tf.CodeOf(err) != tf.Internal {
		t.Errorf("a variable of another type under that name: %v", err)
	}
}

// TestFirstValueHasShape: the shape of a reference variable binds its first
// value, which a checkpoint may bring.
func TestFirstValueHasShape(t *testing.T) {
	for _, c := range []struct {
		shape tf.Shape
		opts  ops.AssignOpts
		fails bool
	}{
		{tf.Shape{3}, ops.AssignOpts{}, true}, {tf.Shape{3}, ops.AssignOpts{AnyShape: true}, false}, {tf.Shape{2}, ops.AssignOpts{}, false}, {nil, ops.AssignOpts{}, false},
	} {
		g := tf.NewGraph()
		two := tf.Apply(g, "PlaceholderWithDefault", []tf.Output{ops.Const(g, []float32{1, 2})}, tf.Attr("shape", tf.Shape(nil))).Output(0)
		set := ops.Assign(ops.VariableV2(g, tf.Float32, c.shape), two, c.opts)
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Run(context.Background(), nil, set)
		if msg := "Assign requires shapes of both tensors to match. lhs shape= [3] rhs shape= [2]"; (err != nil) != c.fails || c.fails && !strings.Contains(err.Error(), msg) {
			t.Errorf("%v %+v: %v", c.shape, c.opts, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
