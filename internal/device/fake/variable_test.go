package fake_test

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/device/fake"
	"github.com/gorge-tf/gorge/internal/direct"
	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/tftest"
)

func TestVariablesHoldOpaqueTensors(t *testing.T) {
	g := tf.NewGraph()
	var v *tf.Variable
	g.Device(onFake, func() { v = tf.NewVariable(ops.Const(g, []float32{1, 2}, 2), tf.VariableOptions{Name: "v"}) })
	add := v.AssignAdd(ops.Const(g, []float32{10, 20}, 2))
	set, d := devices()
	s := direct.New(g, direct.Config{Devices: set})
	defer s.Close()
	run := func(sig pass.Signature) []*core.Tensor {
		t.Helper()
		got, err := s.Run(context.Background(), sig, nil)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	run(pass.Signature{Targets: []string{v.Initializer().Name}})
	run(pass.Signature{Targets: []string{add.Name}})
	h := run(pass.Signature{Fetches: []string{v.Handle().Name()}})[0].Handles()[0]
	value, ok := d.Resources().Find(h.Container, h.Name, h.HashCode)
	if !ok {
		t.Fatalf("the device has no resource %v", h)
	}
	held := value.(interface{ Load() *core.Tensor }).Load()
	if held.Addressable() {
		t.Errorf("the variable holds %v, which the host can read", held)
	}
	back, err := d.ToHost(held)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, (*tf.Tensor)(back), []float32{11, 22})
	tftest.Elements(t, (*tf.Tensor)(run(pass.Signature{Fetches: []string{v.Value().Name()}})[0]), []float32{11, 22})
}

func TestReferenceVariables(t *testing.T) {
	g := tf.NewGraph()
	var ref, assign, add tf.Output
	g.Device(onFake, func() {
		ref = tf.Apply(g, "VariableV2", nil, tf.Attr("dtype", core.Float32), tf.Attr("shape", core.Shape{2})).Output(0)
		assign = tf.Apply(g, "Assign", []tf.Output{ref, ops.Const(g, []float32{1, 2}, 2)}).Output(0)
		add = tf.Apply(g, "AssignAdd", []tf.Output{ref, ops.Const(g, []float32{5, 5}, 2)}).Output(0)
	})
	read := ops.Neg(ops.Identity(ref))
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, g, session.Devices(fake.Type, 1))
	ctx := context.Background()
	if _, err := s.Run(ctx, nil, read); core.CodeOf(err) != core.FailedPrecondition {
		t.Errorf("reading an uninitialized variable: %v", err)
	}
	for _, op := range []tf.Output{assign, add, add} {
		if _, err := s.Run(ctx, nil, op.Operation()); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Run(ctx, nil, read, ref)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, got[0], []float32{-11, -12})
	tftest.Elements(t, got[1], []float32{11, 12})
}

func TestTensorsCrossBetweenDevices(t *testing.T) {
	g := tf.NewGraph()
	var x, y tf.Output
	g.Device(onFake, func() { x = ops.Neg(ops.Const(g, []float32{1, 2}, 2)) })
	g.Device("/device:FAKE:1", func() { y = ops.Neg(x) })
	s := newSession(t, g, session.Devices(fake.Type, 2))
	got, err := s.Run(context.Background(), nil, y)
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, got[0], []float32{1, 2})
}

// kernel returns the FAKE kernel of a Neg on float32.
func kernel(t *testing.T) (*core.Node, core.Compute) {
	t.Helper()
	n, err := core.NewNode("n", "Neg", core.Attrs{"T": core.Float32})
	if err != nil {
		t.Fatal(err)
	}
	find, err := core.FindKernel(fake.Type, n)
	if err != nil {
		t.Fatal(err)
	}
	k, err := find(n)
	if err != nil {
		t.Fatal(err)
	}
	return n, k.(core.Compute)
}

func TestKernelsRefuseHostMemory(t *testing.T) {
	n, k := kernel(t)
	c := &core.OpContext{Step: &core.Step{Device: newDevice()}, Node: n, In: []core.Slot{{T: vector(t, 1)}}, Out: make([]core.Slot, 1)}
	if err := k(c); core.CodeOf(err) != core.Internal {
		t.Errorf("a kernel took a tensor in the host's memory: %v", err)
	}
}

func TestKernelsNeedTheirDevice(t *testing.T) {
	n, k := kernel(t)
	c := &core.OpContext{Step: &core.Step{}, Node: n, In: []core.Slot{{T: vector(t, 1)}}, Out: make([]core.Slot, 1)}
	if err := k(c); core.CodeOf(err) != core.Internal {
		t.Errorf("a kernel ran without a device: %v", err)
	}
}

func TestOpsWithoutKernels(t *testing.T) {
	n, err := core.NewNode("n", "Neg", core.Attrs{"T": core.Float32})
	if err != nil {
		t.Fatal(err)
	}
	n.Attrs["T"] = core.Uint64
	if _, err := core.FindKernel(fake.Type, n); core.CodeOf(err) != core.NotFound {
		t.Errorf("a kernel for a type that the CPU has none for: %v", err)
	}
}
