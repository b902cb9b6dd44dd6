package core_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// pooled returns the context of a node whose outputs the executor reclaims, and
// whose inputs, vectors of floats, nobody else reads.
func pooled(pool *memory.Pool, inputs, outputs int) *core.OpContext {
	c := &core.OpContext{Step: &core.Step{}, Pool: pool, In: make([]core.Slot, inputs), Out: make([]core.Slot, outputs), Last: make([]bool, inputs)}
	for range outputs {
		c.Scratch = append(c.Scratch, &core.Tensor{})
	}
	for i := range c.In {
		c.In[i].T = core.TensorOf(core.Float32, core.Shape{4}, pool.Get(16))
		c.Last[i] = true
	}
	return c
}

func TestAllocReusesHeaders(t *testing.T) {
	c := pooled(memory.NewPool(1<<20), 0, 2)
	x, err := c.Alloc(0, core.Int32, core.Shape{2, 3})
	if err != nil || x != c.Scratch[0] || c.Out[0].T != x || x.NumBytes() != 24 {
		t.Errorf("got %v, %v", x, err)
	}
	s, err := c.Alloc(1, core.String, core.Shape{2})
	if err != nil || s == c.Scratch[1] || !slices.Equal(core.Data[string](s), []string{"", ""}) {
		t.Errorf("strings: %v, %v", s, err)
	}
	c.Scratch[0] = nil // an output that escapes
	y, err := c.Alloc(0, core.Int32, core.Shape{1})
	if err != nil || y == x || core.Data[int32](y)[0] != 0 {
		t.Errorf("an output that escapes: %v, %v", y, err)
	}
}

func TestAllocRefusesWhatCannotBe(t *testing.T) {
	c := &core.OpContext{Out: make([]core.Slot, 1)}
	for _, x := range []struct {
		s    core.Shape
		code core.Code
	}{
		{core.Shape{-1}, core.InvalidArgument}, {nil, core.InvalidArgument}, {core.Shape{math.MaxInt, 2}, core.InvalidArgument},
		{core.Shape{1 << 50}, core.ResourceExhausted},
	} {
		if _, err := c.Alloc(0, core.Float32, x.s); core.CodeOf(err) != x.code {
			t.Errorf("Alloc of %v: %v", x.s, err)
		}
		if _, err := c.Temp(core.Float32, x.s); core.CodeOf(err) != x.code {
			t.Errorf("Temp of %v: %v", x.s, err)
		}
	}
}

func TestAllocFromTakesMemoryThatNobodyNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *core.OpContext)
		d      core.DType
		s      core.Shape
		taken  bool
	}{
		"free":           {func(*core.OpContext) {}, core.Float32, core.Shape{4}, true},
		"another shape":  {func(*core.OpContext) {}, core.Float32, core.Shape{2, 2}, true},
		"another type":   {func(*core.OpContext) {}, core.Int32, core.Shape{4}, true},
		"another size":   {func(*core.OpContext) {}, core.Float32, core.Shape{5}, false},
		"read again":     {func(c *core.OpContext) { c.Last[0] = false }, core.Float32, core.Shape{4}, false},
		"not known":      {func(c *core.OpContext) { c.Last = nil }, core.Float32, core.Shape{4}, false},
		"shared":         {func(c *core.OpContext) { c.In[0].T.Share() }, core.Float32, core.Shape{4}, false},
		"escaped":        {func(c *core.OpContext) { c.In[0].T.Escape() }, core.Float32, core.Shape{4}, false},
		"strings":        {func(c *core.OpContext) { c.In[0].T = core.Scalar("text") }, core.Float32, core.Shape{4}, false},
		"into strings":   {func(*core.OpContext) {}, core.String, core.Shape{4}, false},
		"without header": {func(c *core.OpContext) { c.Scratch = nil }, core.Float32, core.Shape{4}, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := pooled(memory.NewPool(1<<20), 1, 1)
			c.change(ctx)
			x, err := ctx.AllocFrom(0, 0, c.d, c.s)
			if err != nil || x != ctx.Out[0].T || x.DType() != c.d || !x.Shape().Equal(c.s) {
				t.Fatalf("got %v, %v", x, err)
			}
			if taken := x.Buffer() != nil && x.Buffer() == ctx.In[0].T.Buffer(); taken != c.taken {
				t.Errorf("took the input's memory: %v", taken)
			}
		})
	}
}

func TestForwardShares(t *testing.T) {
	for _, scratch := range []bool{true, false} {
		c := pooled(memory.NewPool(1<<20), 1, 1)
		if !scratch {
			c.Scratch = nil
		}
		c.ForwardShape(0, 0, core.Shape{2, 2})
		in, out := c.Input(0), c.Out[0].T
		if out == in || out.Buffer() != in.Buffer() || in.Buffer().Sole() || !out.Shape().Equal(core.Shape{2, 2}) || !in.Shape().Equal(core.Shape{4}) {
			t.Errorf("forwarded %v as %v", in, out)
		}
		in.Release()
		if !out.Buffer().Sole() {
			t.Error("the output does not hold the memory")
		}
	}
	c := &core.OpContext{In: []core.Slot{{T: core.Scalar("text")}}, Out: make([]core.Slot, 1)}
	c.Forward(0, 0)
	if core.Data[string](c.Out[0].T)[0] != "text" || c.Inputs() != 1 {
		t.Errorf("a string became %v", c.Out[0].T)
	}
}

func TestTempGoesBack(t *testing.T) {
	pool := memory.NewPool(1 << 20)
	c := pooled(pool, 0, 0)
	x, err := c.Temp(core.Float64, core.Shape{8})
	if err != nil || x.NumBytes() != 64 {
		t.Fatalf("got %v, %v", x, err)
	}
	before := pool.Stats().Idle
	x.Release()
	if idle := pool.Stats().Idle; idle != before+1 && pool.Stats().Misses > 0 && idle != 0 {
		t.Errorf("%d buffers wait, %d before", idle, before)
	}
	if x, err := (&core.OpContext{}).Temp(core.Float64, core.Shape{1}); err != nil || x.Len() != 1 {
		t.Errorf("without a pool: %v, %v", x, err)
	}
}

func TestParallelFor(t *testing.T) {
	var calls [][2]int
	one := func(lo, hi int) { calls = append(calls, [2]int{lo, hi}) }
	(&core.OpContext{}).ParallelFor(10, 3, one)
	c := &core.OpContext{Step: &core.Step{Parallel: func(n, grain int, f func(lo, hi int)) { f(0, n/2); f(n/2, n) }}}
	c.ParallelFor(10, 3, one)
	c.ParallelFor(3, 3, one)
	if want := [][2]int{{0, 10}, {0, 5}, {5, 10}, {0, 3}}; !slices.Equal(calls, want) {
		t.Errorf("got %v, want %v", calls, want)
	}
}

func TestStepContext(t *testing.T) {
	if (&core.OpContext{}).StepContext() == nil || (&core.OpContext{Step: &core.Step{}}).StepContext() == nil {
		t.Error("no context")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if (&core.OpContext{Step: &core.Step{Context: ctx}}).StepContext() != ctx {
		t.Error("another context")
	}
}

func TestDescribe(t *testing.T) {
	n := &core.Node{InTypes: []core.DType{core.Float32, core.Float32.Ref(), core.Int8}}
	c := &core.OpContext{Node: n, In: []core.Slot{{T: core.NewTensor(core.Float32, core.Shape{2, 3})}, {Ref: &core.Ref{}}, {}}}
	if got := strings.Join(c.Describe(), ", "); got != "float32[2,3], float32_ref, dead" {
		t.Errorf("got %s", got)
	}
}

func TestFindKernels(t *testing.T) {
	k := func(*core.Node) (core.Kernel, error) {
		return core.Compute(func(*core.OpContext) error { return nil }), nil
	}
	byType := core.ByType("T", map[core.DType]core.NewKernel{core.Float32: k, core.Float64: k})
	some := core.AnyType(k)
	some.Types = map[string][]core.DType{"T": {core.Int32}}
	formats := func(only string) core.KernelSet {
		return core.KernelSet{Attr: "T", By: byType.By, Only: map[string]string{"data_format": only}}
	}
	for name, c := range map[string]struct {
		set  core.KernelSet
		d    core.DType
		want string // of the error
	}{
		"by type":       {byType, core.Float32, ""},
		"not by type":   {byType, core.Int32, "with these attrs: [T=DT_INT32]\nRegistered devices: [CPU]\nRegistered kernels:\n  device='CPU'; T in [DT_FLOAT]\n  device='CPU'; T in [DT_DOUBLE]\n"},
		"all":           {core.AnyType(k), core.String, ""},
		"all of some":   {some, core.Int32, ""},
		"none of some":  {some, core.String, "with these attrs: [T=DT_STRING]\nRegistered devices: [CPU]\nRegistered kernels:\n  device='CPU'; T in [DT_INT32]\n"},
		"a format":      {formats("NHWC"), core.Float32, ""},
		"no format":     {formats("NCHW"), core.Float32, `with attr data_format = "NHWC"; supported: "NCHW"`},
		"none whatever": {core.KernelSet{}, core.Float32, "No OpKernel was registered to support Op 'TestKernels'"},
	} {
		n := &core.Node{Def: &core.OpDef{Name: "TestKernels", Kernels: c.set}, Attrs: core.Attrs{"T": c.d, "data_format": "NHWC"}}
		find, err := core.FindKernel("CPU", n)
		if (err == nil) != (c.want == "") || (err == nil) != (find != nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (core.CodeOf(err) != core.NotFound || !strings.Contains(core.AsError(err).Message(), c.want)) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := core.FindKernel("TPU", &core.Node{}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("an unknown device type: %v", err)
	}
	defer func() {
		if p, _ := recover().(string); p != "tf: device type CPU registered twice" {
			t.Errorf("panicked with %q", p)
		}
	}()
	core.RegisterDeviceType("CPU", nil)
}

// TestNodesTakeGoIntegers: attributes are int64 and float32, programs write int and
// float64.
func TestNodesTakeGoIntegers(t *testing.T) {
	n, err := core.NewNode("m", "MaxPool", core.Attrs{"ksize": []int{1, 2, 2, 1}, "strides": []int{1, 2, 2, 1}, "padding": "SAME"})
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Ints("ksize"); len(got) != 4 || got[1] != 2 {
		t.Errorf("got %v", got)
	}
	if _, err := core.NewNode("m", "_Arg", core.Attrs{"T": core.Int32, "index": "0"}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a string as an int: %v", err)
	}
}
