package tf_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
)

// pooled returns the context of a node whose outputs the executor reclaims, and
// whose inputs, vectors of floats, nobody else reads.
func pooled(pool *memory.Pool, inputs, outputs int) *tf.OpContext {
	c := &tf.OpContext{Step: &tf.Step{}, Pool: pool, In: make([]tf.Slot, inputs), Out: make([]tf.Slot, outputs), Last: make([]bool, inputs)}
	for range outputs {
		c.Scratch = append(c.Scratch, &tf.Tensor{})
	}
	for i := range c.In {
		c.In[i].T = tf.TensorOf(tf.Float32, tf.Shape{4}, pool.Get(16))
		c.Last[i] = true
	}
	return c
}

func TestAllocReusesHeaders(t *testing.T) {
	c := pooled(memory.NewPool(1<<20), 0, 2)
	x, err := c.Alloc(0, tf.Int32, tf.Shape{2, 3})
	if err != nil || x != c.Scratch[0] || c.Out[0].T != x || x.NumBytes() != 24 {
		t.Errorf("got %v, %v", x, err)
	}
	s, err := c.Alloc(1, tf.String, tf.Shape{2})
	if err != nil || s == c.Scratch[1] || !slices.Equal(tf.Data[string](s), []string{"", ""}) {
		t.Errorf("strings: %v, %v", s, err)
	}
	c.Scratch[0] = nil // an output that escapes
	y, err := c.Alloc(0, tf.Int32, tf.Shape{1})
	if err != nil || y == x || tf.Data[int32](y)[0] != 0 {
		t.Errorf("an output that escapes: %v, %v", y, err)
	}
}

func TestAllocRefusesWhatCannotBe(t *testing.T) {
	c := &tf.OpContext{Out: make([]tf.Slot, 1)}
	for _, x := range []struct {
		s    tf.Shape
		code tf.Code
	}{
		{tf.Shape{-1}, tf.InvalidArgument}, {nil, tf.InvalidArgument}, {tf.Shape{math.MaxInt, 2}, tf.InvalidArgument},
		{tf.Shape{1 << 50}, tf.ResourceExhausted},
	} {
		if _, err := c.Alloc(0, tf.Float32, x.s); tf.CodeOf(err) != x.code {
			t.Errorf("Alloc of %v: %v", x.s, err)
		}
		if _, err := c.Temp(tf.Float32, x.s); tf.CodeOf(err) != x.code {
			t.Errorf("Temp of %v: %v", x.s, err)
		}
	}
}

func TestAllocFromTakesMemoryThatNobodyNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		change func(c *tf.OpContext)
		d      tf.DType
		s      tf.Shape
		taken  bool
	}{
		"free":           {func(*tf.OpContext) {}, tf.Float32, tf.Shape{4}, true},
		"another shape":  {func(*tf.OpContext) {}, tf.Float32, tf.Shape{2, 2}, true},
		"another type":   {func(*tf.OpContext) {}, tf.Int32, tf.Shape{4}, true},
		"another size":   {func(*tf.OpContext) {}, tf.Float32, tf.Shape{5}, false},
		"read again":     {func(c *tf.OpContext) { c.Last[0] = false }, tf.Float32, tf.Shape{4}, false},
		"not known":      {func(c *tf.OpContext) { c.Last = nil }, tf.Float32, tf.Shape{4}, false},
		"shared":         {func(c *tf.OpContext) { c.In[0].T.Share() }, tf.Float32, tf.Shape{4}, false},
		"escaped":        {func(c *tf.OpContext) { c.In[0].T.Escape() }, tf.Float32, tf.Shape{4}, false},
		"strings":        {func(c *tf.OpContext) { c.In[0].T = tf.Scalar("text") }, tf.Float32, tf.Shape{4}, false},
		"into strings":   {func(*tf.OpContext) {}, tf.String, tf.Shape{4}, false},
		"without header": {func(c *tf.OpContext) { c.Scratch = nil }, tf.Float32, tf.Shape{4}, true},
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
		c.ForwardShape(0, 0, tf.Shape{2, 2})
		in, out := c.Input(0), c.Out[0].T
		if out == in || out.Buffer() != in.Buffer() || in.Buffer().Sole() || !out.Shape().Equal(tf.Shape{2, 2}) || !in.Shape().Equal(tf.Shape{4}) {
			t.Errorf("forwarded %v as %v", in, out)
		}
		in.Release()
		if !out.Buffer().Sole() {
			t.Error("the output does not hold the memory")
		}
	}
	c := &tf.OpContext{In: []tf.Slot{{T: tf.Scalar("text")}}, Out: make([]tf.Slot, 1)}
	c.Forward(0, 0)
	if tf.Data[string](c.Out[0].T)[0] != "text" || c.Inputs() != 1 {
		t.Errorf("a string became %v", c.Out[0].T)
	}
}

func TestTempGoesBack(t *testing.T) {
	pool := memory.NewPool(1 << 20)
	c := pooled(pool, 0, 0)
	x, err := c.Temp(tf.Float64, tf.Shape{8})
	if err != nil || x.NumBytes() != 64 {
		t.Fatalf("got %v, %v", x, err)
	}
	before := pool.Stats().Idle
	x.Release()
	if idle := pool.Stats().Idle; idle != before+1 && pool.Stats().Misses > 0 && idle != 0 {
		t.Errorf("%d buffers wait, %d before", idle, before)
	}
	if x, err := (&tf.OpContext{}).Temp(tf.Float64, tf.Shape{1}); err != nil || x.Len() != 1 {
		t.Errorf("without a pool: %v, %v", x, err)
	}
}

func TestParallelFor(t *testing.T) {
	var calls [][2]int
	one := func(lo, hi int) { calls = append(calls, [2]int{lo, hi}) }
	(&tf.OpContext{}).ParallelFor(10, 3, one)
	c := &tf.OpContext{Step: &tf.Step{Parallel: func(n, grain int, f func(lo, hi int)) { f(0, n/2); f(n/2, n) }}}
	c.ParallelFor(10, 3, one)
	c.ParallelFor(3, 3, one)
	if want := [][2]int{{0, 10}, {0, 5}, {5, 10}, {0, 3}}; !slices.Equal(calls, want) {
		t.Errorf("got %v, want %v", calls, want)
	}
}

func TestStepContext(t *testing.T) {
	if (&tf.OpContext{}).StepContext() == nil || (&tf.OpContext{Step: &tf.Step{}}).StepContext() == nil {
		t.Error("no context")
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if (&tf.OpContext{Step: &tf.Step{Context: ctx}}).StepContext() != ctx {
		t.Error("another context")
	}
}

func TestDescribe(t *testing.T) {
	n := &tf.Node{InTypes: []tf.DType{tf.Float32, tf.Float32.Ref(), tf.Int8}}
	c := &tf.OpContext{Node: n, In: []tf.Slot{{T: tf.NewTensor(tf.Float32, tf.Shape{2, 3})}, {Ref: &tf.Ref{}}, {}}}
	if got := strings.Join(c.Describe(), ", "); got != "float32[2 3], float32_ref, dead" {
		t.Errorf("got %s", got)
	}
}

func TestFindKernels(t *testing.T) {
	k := func(*tf.Node) (tf.Kernel, error) { return tf.Compute(func(*tf.OpContext) error { return nil }), nil }
	byType := tf.ByType("T", map[tf.DType]tf.NewKernel{tf.Float32: k, tf.Float64: k})
	some := tf.AnyType(k)
	some.Types = map[string][]tf.DType{"T": {tf.Int32}}
	formats := func(only string) tf.KernelSet {
		return tf.KernelSet{Attr: "T", By: byType.By, Only: map[string]string{"data_format": only}}
	}
	for name, c := range map[string]struct {
		set  tf.KernelSet
		d    tf.DType
		want string // of the error
	}{
		"by type":       {byType, tf.Float32, ""},
		"not by type":   {byType, tf.Int32, "with these attrs: [T=DT_INT32]\nRegistered devices: [CPU]\nRegistered kernels:\n  device='CPU'; T in [DT_FLOAT]\n  device='CPU'; T in [DT_DOUBLE]\n"},
		"all":           {tf.AnyType(k), tf.String, ""},
		"all of some":   {some, tf.Int32, ""},
		"none of some":  {some, tf.String, "with these attrs: [T=DT_STRING]\nRegistered devices: [CPU]\nRegistered kernels:\n  device='CPU'; T in [DT_INT32]\n"},
		"a format":      {formats("NHWC"), tf.Float32, ""},
		"no format":     {formats("NCHW"), tf.Float32, `with attr data_format = "NHWC"; supported: "NCHW"`},
		"none whatever": {tf.KernelSet{}, tf.Float32, "No OpKernel was registered to support Op 'TestKernels'"},
	} {
		n := &tf.Node{Def: &tf.OpDef{Name: "TestKernels", Kernels: c.set}, Attrs: tf.Attrs{"T": c.d, "data_format": "NHWC"}}
		find, err := tf.FindKernel("CPU", n)
		if (err == nil) != (c.want == "") || (err == nil) != (find != nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (tf.CodeOf(err) != tf.NotFound || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if _, err := tf.FindKernel("TPU", &tf.Node{}); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("an unknown device type: %v", err)
	}
	defer func() {
		if p, _ := recover().(string); p != "tf: device type CPU registered twice" {
			t.Errorf("panicked with %q", p)
		}
	}()
	tf.RegisterDeviceType("CPU", nil)
}
