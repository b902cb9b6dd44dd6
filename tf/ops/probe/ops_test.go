package probe_test

import (
	"context"
	"embed"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"

	_ "github.com/gorge-tf/gorge/tf/ops/probe" // registers
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

// run adds an op without outputs, and returns what can be read after it.
func run(op string) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		o := tf.Apply(g, op, in)
		if o.Err() != nil {
			return []tf.Output{o.Output(0)}
		}
		var out tf.Output
		g.ControlDependencies([]*tf.Operation{o}, func() { out = ops.Scalar[int32](g, 7) })
		return []tf.Output{ops.Identity(out)}
	}
}

// stubs adds a resource, after which f may use its handle.
func stubs(created bool, f func(g *tf.Graph, h tf.Output) []tf.Output) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, _ []tf.Output) []tf.Output {
		h := tf.Apply(g, "StubResourceHandleOp", nil, tf.Attr("shared_name", "stub")).Output(0)
		if !created {
			return f(g, h)
		}
		made := tf.Apply(g, "ResourceCreateOp", []tf.Output{h})
		if made.Err() != nil {
			return []tf.Output{made.Output(0)}
		}
		var out []tf.Output
		g.ControlDependencies([]*tf.Operation{made}, func() { out = f(g, h) })
		return out
	}
}

func init() {
	is := func(g *tf.Graph, h tf.Output) []tf.Output {
		return []tf.Output{tf.Apply(g, "ResourceInitializedOp", []tf.Output{h}).Output(0)}
	}
	use := func(op string) func(g *tf.Graph, h tf.Output) []tf.Output {
		return func(g *tf.Graph, h tf.Output) []tf.Output { return run(op)(g, []tf.Output{h}) }
	}
	add := func(op, name string, fails bool, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) {
		optest.Add(optest.Sample{Op: op, Name: name, F: f, In: in, Fails: fails, Types: optest.OnlyOwn})
	}
	zero := core.Scalar[int32](0)
	add("KernelLabel", "", false, optest.Applied("KernelLabel"))
	add("KernelLabel", "overload_2", false, optest.Applied("KernelLabel", tf.Attr("_kernel", "overload_2")))
	add("DtypeWithDefaultOp", "", false, optest.Applied("DtypeWithDefaultOp"), optest.I32(3))
	add("IsTensorFloat32Enabled", "", false, optest.Applied("IsTensorFloat32Enabled"))
	add("SleepOp", "", false, run("SleepOp"), zero)
	add("SleepIdentityOp", "", false, optest.Applied("SleepIdentityOp"), zero, optest.I32(3, 4))
	for _, label := range []string{"overload_1", "overload_2"} {
		add("KernelLabelRequired", label, false, optest.Applied("KernelLabelRequired", tf.Attr("_kernel", label)), optest.I32(1))
	}
	optest.Add(optest.Sample{Op: "KernelLabelRequired", Name: "none", Fails: true, F: optest.Applied("KernelLabelRequired"), In: []*core.Tensor{optest.I32(1)}, Types: optest.OnlyOwn, NoGolden: "TensorFlow's message lists kernels"})
	add("ConstructionFails", "always", true, run("ConstructionFails"))
	add("CheckPinned", "always", true, optest.Applied("CheckPinned"), optest.I32(1))
	add("GraphDefVersion", "", false, optest.Applied("GraphDefVersion"))
	add("TestAttr", "", false, optest.Applied("TestAttr", tf.Attr("T", tf.Float32)))
	add("GetDeadline", "none", true, optest.Applied("GetDeadline"))
	add("IsResourceHandleRefCounting", "", false, stubs(false, func(g *tf.Graph, h tf.Output) []tf.Output {
		return tf.Apply(g, "IsResourceHandleRefCounting", []tf.Output{h}).Outputs()
	}))
	add("MakeWeakResourceHandle", "", false, stubs(true, func(g *tf.Graph, h tf.Output) []tf.Output {
		return is(g, tf.Apply(g, "MakeWeakResourceHandle", []tf.Output{h}).Output(0))
	}))
	optest.Add(optest.Sample{Op: "FakeQueue", GraphOnly: "it gives a reference", Types: optest.OnlyOwn, F: stubs(true, func(g *tf.Graph, h tf.Output) []tf.Output {
		return []tf.Output{ops.Identity(tf.Apply(g, "FakeQueue", []tf.Output{h}).Output(0))}
	})})
	add("ResourceInitializedOp", "not yet", false, stubs(false, is))
	add("ResourceInitializedOp", "", false, stubs(true, is))
	add("ResourceUsingOp", "", false, stubs(true, use("ResourceUsingOp")))
	add("ResourceCreateOp", "twice", true, stubs(true, use("ResourceCreateOp")))
	add("StubResourceHandleOp", "", false, stubs(true, is))
	optest.Add(
		optest.Sample{Op: "SleepOp", Name: "vector", F: run("SleepOp"), In: []*core.Tensor{optest.I32(1)}, Fails: true, Types: optest.OnlyOwn, NoGolden: "TensorFlow's message shows memory"},
		optest.Sample{Op: "ResourceUsingOp", Name: "missing", F: stubs(false, use("ResourceUsingOp")), Fails: true, NoGolden: "TensorFlow's message names a C++ type"},
		optest.Sample{Op: "Old", F: run("Old"), NoGolden: "TensorFlow refuses it in graphs of today"},
		optest.Sample{Op: "DevicePlacementOp", F: optest.Applied("DevicePlacementOp"), NoGolden: "the name of a device"},
	)
}

// TestSleepEnds: a step that is over does not wait for a sleeper.
func TestSleepEnds(t *testing.T) {
	g := tf.NewGraph()
	slept := tf.Apply(g, "SleepIdentityOp", []tf.Output{ops.Scalar[int32](g, 1<<20), ops.Scalar[int32](g, 1)}).Output(0)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := s.Run(ctx, nil, slept); err == nil {
		t.Error("it has slept for days")
	}
}
