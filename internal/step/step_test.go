package step

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/graph/graphtext"
	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
	_ "github.com/gorge-tf/gorge/tf/ops"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func init() {
	register("TestFail", "x: float", "y: float", func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(*core.OpContext) error { return core.Errorf(core.DataLoss, "lost") }), nil
	})
	register("TestHang", "", "y: float", func(*core.Node) (core.Kernel, error) {
		return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
			context.AfterFunc(c.StepContext(), func() { done(context.Cause(c.StepContext())) })
		}), nil
	})
	register("TestCount", "", "y: int32", func(*core.Node) (core.Kernel, error) {
		n := int32(0)
		return core.Compute(func(c *core.OpContext) error { n++; c.Set(0, core.Scalar(n)); return nil }), nil
	})
	register("TestPerStep", "", "y: bool", func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(c *core.OpContext) error {
			made := false
			_, err := resource.LookupOrCreate(c.Resources, c.Container(), "x", func() (*int, error) { made = true; return new(int), nil })
			c.Set(0, core.Scalar(made))
			return err
		}), nil
	})
}

func register(name, in, out string, k core.NewKernel) {
	core.Register(core.OpDef{Name: name, In: in, Out: out, Stateful: true, NoGrad: core.NotDifferentiable,
		Shape: func(*core.Infer) error { return nil }, Kernels: core.AnyType(k)})
}

const (
	cpu0 = " @/job:localhost/replica:0/task:0/device:CPU:0\n"
	cpu1 = " @/job:localhost/replica:0/task:0/device:CPU:1\n"
)

func newRuntime(t *testing.T) *Runtime {
	t.Helper()
	return &Runtime{Devices: device.CPUs("localhost", 0, 2), Pool: memory.NewPool(1 << 20)}
}

func build(t *testing.T, rt *Runtime, text string) *Graph {
	t.Helper()
	g, err := graphtext.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := rt.Build(g, BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// do runs one step and returns its results.
func do(ctx context.Context, rt *Runtime, g *Graph, results int, args ...*core.Tensor) ([]*core.Tensor, error) {
	f := NewFrame(args, results)
	if err := g.Run(ctx, Args{ID: 7, Rendezvous: rendezvous.NewLocal(rt.Devices), Frame: f}); err != nil {
		f.Drop()
		return nil, err
	}
	return f.Leave(nil)
}

func TestAcrossDevices(t *testing.T) {
	rt := newRuntime(t)
	g := build(t, rt, "x = _Arg[T=float32, index=0]"+cpu0+"y = Neg(x)"+cpu1+"n = NoOp(^y)"+cpu0+"z = AddV2(x, y, ^n)"+cpu0+"r = _Retval[index=0](z)"+cpu0)
	if len(g.Partitions()) != 2 {
		t.Fatalf("%d parts", len(g.Partitions()))
	}
	for i := range 5 {
		out, err := do(t.Context(), rt, g, 1, core.Scalar(float32(i)))
		if err != nil || out[0].At(0) != float32(0) {
			t.Errorf("got %v, %v", out, err)
		}
	}
}

// TestFailureEndsAllParts: an error on one device ends what waits on others,
// and is the one that is reported.
func TestFailureEndsAllParts(t *testing.T) {
	rt := newRuntime(t)
	for name, text := range map[string]string{
		"a receive": "x = _Arg[T=float32, index=0]" + cpu0 + "f = TestFail(x)" + cpu0 + "y = Neg(f)" + cpu1,
		"a kernel":  "x = _Arg[T=float32, index=0]" + cpu0 + "f = TestFail(x)" + cpu0 + "h = TestHang" + cpu1 + "y = Neg(h)" + cpu1,
		"itself":    "x = _Arg[T=float32, index=0]" + cpu0 + "f = TestFail(x)" + cpu0 + "h = TestHang" + cpu0 + "y = Neg(h)" + cpu1,
	} {
		g := build(t, rt, text)
		for range 5 {
			_, err := do(t.Context(), rt, g, 0, core.Scalar[float32](1))
			if core.CodeOf(err) != core.DataLoss || core.AsError(err).Node != "f" {
				t.Errorf("%s: got %v", name, err)
			}
		}
	}
}

func TestEndOfContext(t *testing.T) {
	rt := newRuntime(t)
	stopped := core.Errorf(core.Aborted, "stopped")
	for name, text := range map[string]string{
		"one part":  "h = TestHang" + cpu0,
		"two parts": "h = TestHang" + cpu0 + "y = Neg(h)" + cpu1,
	} {
		for _, c := range []struct {
			cause error
			code  core.Code
			want  string
		}{
			{nil, core.Canceled, "Run call was cancelled"},
			{context.DeadlineExceeded, core.DeadlineExceeded, "Timed out waiting for notification"},
			{stopped, core.Aborted, "stopped"},
		} {
			ctx, cancel := context.WithCancelCause(t.Context())
			go cancel(c.cause)
			_, err := do(ctx, rt, build(t, rt, text), 0)
			if core.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, %v: got %v", name, c.cause, err)
			}
		}
	}
}

// TestKernelsAreShared: nodes with state keep it between graphs of a session,
// each on its device.
func TestKernelsAreShared(t *testing.T) {
	rt := newRuntime(t)
	text := "c = TestCount" + cpu0 + "r = _Retval[index=0](c)" + cpu0
	var got []int32
	for _, s := range []string{text, text, strings.ReplaceAll(text, "c = TestCount"+cpu0, "c = TestCount"+cpu1)} {
		out, err := do(t.Context(), rt, build(t, rt, s), 1)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, out[0].At(0).(int32))
	}
	if got[0] != 1 || got[1] != 2 || got[2] != 1 {
		t.Errorf("counted %v, want 1, 2 and, on the other device, 1", got)
	}
}

// TestPerStepResources: what is made in a step's container is gone after it.
func TestPerStepResources(t *testing.T) {
	rt := newRuntime(t)
	g := build(t, rt, "a = TestPerStep"+cpu1+"b = TestPerStep(^a)"+cpu1+"r = _Retval[index=0](a)"+cpu1+"q = _Retval[index=1](b)"+cpu1)
	for range 2 {
		out, err := do(t.Context(), rt, g, 2)
		if err != nil || out[0].At(0) != true || out[1].At(0) != false {
			t.Errorf("made: %v, %v", out, err)
		}
	}
}

func TestBuildErrors(t *testing.T) {
	rt := newRuntime(t)
	for text, want := range map[string]string{
		"a = NoOp": "node a must be placed",
		"a = NoOp @/job:localhost/replica:0/task:0/device:CPU:5": `nodes must be placed on devices of this task, one is on "/job:localhost/replica:0/task:0/device:CPU:5"`,
	} {
		g, err := graphtext.Parse(text)
		if err == nil {
			_, err = rt.Build(g, BuildOptions{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

func TestFrame(t *testing.T) {
	f := NewFrame([]*core.Tensor{core.Scalar[int32](1)}, 2)
	if a, err := f.Arg(0); err != nil || a.At(0) != int32(1) {
		t.Errorf("argument 0 is %v, %v", a, err)
	}
	_, argErr := f.Arg(1)
	own := core.Scalar[int32](5)
	if err := f.SetRetval(1, own); err != nil {
		t.Fatal(err)
	}
	own.Release() // the frame has a reference of its own
	for want, err := range map[string]error{
		"Argument index 1 is out of range: the call has 1": argErr,
		"Result index 2 is out of range: the call has 2":   f.SetRetval(2, core.Scalar[int32](1)),
		"Retval[1] has already been set.":                  f.SetRetval(1, core.Scalar[int32](1)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := f.Leave(nil); err == nil || !strings.Contains(err.Error(), "Retval[0] does not have value") {
		t.Errorf("got %v", err)
	}
}

// TestEvaluate: what cannot be computed in advance is an error, whatever it is.
func TestEvaluate(t *testing.T) {
	e := newRuntime(t).evaluator(t.Context())
	panics := &core.OpContext{Step: &e.step, Node: &core.Node{Def: core.Lookup("Neg"), OutTypes: []core.DType{core.Float32}}, Out: make([]core.Slot, 1)}
	_, err := results(panics, func(*core.OpContext) error { panic(errors.New("boom")) })
	if core.CodeOf(err) != core.Internal || !strings.Contains(err.Error(), "the kernel of Neg panicked: boom") {
		t.Errorf("got %v", err)
	}
	hang, _ := core.NewNode("h", "TestHang", nil)
	if _, err := e.eval(hang, nil); core.CodeOf(err) != core.Unimplemented {
		t.Errorf("a node that waits: %v", err)
	}
	neg, _ := core.NewNode("n", "Neg", core.Attrs{"T": core.Float32})
	out, err := e.eval(neg, []*core.Tensor{core.Scalar[float32](2)})
	if err != nil || out[0].At(0) != float32(-2) {
		t.Errorf("got %v, %v", out, err)
	}
}

// TestNothingToDo: a step without nodes is over at once.
func TestNothingToDo(t *testing.T) {
	if err := (&Graph{rt: &Runtime{}}).Run(t.Context(), Args{}); err != nil {
		t.Error(err)
	}
}
