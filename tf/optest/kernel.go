package optest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/threads"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A call is one call of a sample's kernel, without graph and session.
type call struct {
	node *core.Node
	in   []*core.Tensor
}

// call returns the call that the trial comes down to: that of the operation
// that it has added, if that is without state, is not made of others, and takes
// the inputs as they are, in any order.
func (c *trial) call() (*call, bool) {
	g := tf.NewGraph()
	in, out, err := c.build(g, unknown(g))
	if err != nil || len(out) == 0 {
		return nil, false
	}
	op := out[0].Operation()
	if op.OpName() != c.Op || op.Def.Stateful || op.Def.Body != nil || len(op.Inputs()) == 0 {
		return nil, false
	}
	k := &call{node: &op.Node}
	for _, x := range op.Inputs() {
		t := tensorOf(x, in, c.In)
		if t == nil {
			return nil, false
		}
		k.in = append(k.in, t)
	}
	return k, true
}

// tensorOf returns what is fed to x.
func tensorOf(x tf.Output, in []tf.Output, fed []*core.Tensor) *core.Tensor {
	for i, y := range in {
		if x == y {
			return fed[i]
		}
	}
	if x.Operation().Role() == core.Constant {
		return x.Operation().TensorAttr("value")
	}
	return nil
}

// run calls the kernel as an executor does.
func (k *call) run(prepare func(*core.OpContext)) (out []*core.Tensor, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	find, err := core.FindKernel("CPU", k.node)
	if err != nil {
		return nil, err
	}
	kern, err := find(k.node)
	if err != nil {
		return nil, err
	}
	compute, ok := core.AsCompute(kern)
	if !ok {
		return nil, fmt.Errorf("kernel is a %T", kern)
	}
	c := &core.OpContext{Step: &core.Step{Context: context.Background()}, Node: k.node, In: make([]core.Slot, len(k.in)), Out: make([]core.Slot, len(k.node.OutTypes))}
	for i, t := range k.in {
		c.In[i].T = t
	}
	if prepare != nil {
		prepare(c)
	}
	err = compute(c)
	if c.Pool != nil {
		c.GiveBack()
		soil(c.Pool) // an output of borrowed memory is garbage then
	}
	for _, s := range c.Out {
		out = append(out, s.T)
	}
	return out, err
}

// testReuse gives kernels inputs that they may overwrite and memory that is
// full of garbage: the results must be the same.
func testReuse(t *testing.T, s *suite) {
	for _, c := range s.trials() {
		k, ok := c.call()
		if !ok || c.Fails {
			continue
		}
		want, err := k.run(nil)
		if err != nil {
			t.Errorf("%s: %v", c.id, err)
			continue
		}
		own := &call{node: k.node}
		for _, x := range k.in {
			own.in = append(own.in, x.Clone())
		}
		got, err := own.run(dirty)
		if err != nil {
			t.Errorf("%s: %v", c.id, err)
			continue
		}
		for i := range want {
			if !core.TensorsEqual(got[i], want[i]) {
				t.Errorf("%s: output %d is %v in memory that was used before, else %v", c.id, i, got[i], want[i])
			}
		}
	}
}

// dirty lets all inputs be overwritten and gives out memory that was used.
func dirty(c *core.OpContext) {
	c.Pool = memory.NewPool(1 << 30)
	soil(c.Pool)
	c.Last = make([]bool, len(c.In))
	for i := range c.Last {
		c.Last[i] = true
	}
	c.Scratch = make([]*core.Tensor, len(c.Out))
	for i := range c.Scratch {
		c.Scratch[i] = &core.Tensor{}
	}
}

// soil fills what a pool keeps idle with garbage.
func soil(p *memory.Pool) {
	for _, n := range []int{1, 65, 129, 257, 513, 1024} { // a size of every class that samples use
		var held []*memory.Buffer
		for range 3 {
			b := p.Get(n)
			for i := range b.Bytes() {
				b.Bytes()[i] = 0xA5
			}
			held = append(held, b)
		}
		for _, b := range held {
			b.Unref()
		}
	}
}

// Threads runs kernels in one thread, in several, and in the smallest pieces
// from the last to the first: how work is cut must not change a bit of the
// results. The samples have to be large enough to be cut.
func Threads(t *testing.T, samples ...Sample) {
	pool := threads.Acquire(4)
	defer pool.Release()
	for i := range samples {
		c := trial{Sample: &samples[i], id: samples[i].id(), In: samples[i].In}
		k, ok := c.call()
		if !ok {
			t.Fatalf("%s is not one call", c.id)
		}
		cut := 0
		for what, par := range map[string]kernel.Par{
			"backwards": func(n, grain int, f func(lo, hi int)) { cut++; backwards(n, grain, f) }, "threads": pool.ParallelFor,
		} {
			compareThreads(t, k, c.id+" "+what, par)
		}
		if cut == 0 {
			t.Errorf("%s: nothing was cut", c.id)
		}
	}
}

func compareThreads(t *testing.T, k *call, what string, par kernel.Par) {
	t.Helper()
	want, err := k.run(nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	got, err := k.run(func(c *core.OpContext) { c.Step.Parallel = par })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for i := range want {
		if !core.TensorsEqual(got[i], want[i]) {
			t.Errorf("%s: output %d differs from that of one thread", what, i)
		}
	}
}

// backwards runs the smallest pieces allowed, the last first.
func backwards(n, grain int, f func(lo, hi int)) {
	for lo := (n - 1) / grain * grain; lo >= 0; lo -= grain {
		f(lo, min(lo+grain, n))
	}
}

// robustMemory is what a tensor may have in testRobust: sizes come from anywhere,
// and a range of a billion numbers, say, is no error.
const robustMemory = 64 << 20

// testRobust calls kernels with inputs of random shapes and values: they may
// refuse them, but never fail in another way.
func testRobust(t *testing.T, s *suite) {
	defer memory.Limit(robustMemory)()
	for i, c := range s.trials() {
		k, ok := c.call()
		if !ok {
			continue
		}
		rnd := rand.New(rand.NewPCG(1, uint64(i)))
		for range 20 {
			bad := &call{node: k.node}
			for _, x := range k.in {
				bad.in = append(bad.in, spoiled(rnd, x))
			}
			checkRobust(t, c.id, bad)
		}
	}
}

func checkRobust(t *testing.T, id string, k *call) {
	out, err := k.run(nil)
	if err != nil {
		if tf.CodeOf(err) == tf.Unknown {
			t.Errorf("%s%v: %v", id, k.in, err)
		}
		return
	}
	for i, y := range out {
		if y == nil || y.DType() != k.node.OutTypes[i] {
			t.Errorf("%s%v: output %d is %v, want a %v", id, k.in, i, y, k.node.OutTypes[i])
		}
	}
}

// spoiled returns t in a random shape, perhaps with values out of any range.
func spoiled(rnd *rand.Rand, t *core.Tensor) *core.Tensor {
	if rnd.IntN(3) == 0 {
		return t
	}
	s := make(tf.Shape, rnd.IntN(5))
	for i := range s {
		s[i] = []int{0, 1, 1, 2, 3, 4}[rnd.IntN(6)]
	}
	if rnd.IntN(2) == 0 {
		s = t.Shape().Clone()
	}
	out := core.NewTensor(t.DType(), s)
	if t.DType() == tf.Resource || t.DType() == tf.Variant {
		return out
	}
	scale := []int64{1, 3, 3, 100, 1 << 40, -1 << 62}[rnd.IntN(6)]
	vals := make([]int64, out.Len())
	for i := range vals {
		vals[i] = (rnd.Int64N(7) - 3) * scale
	}
	fill(out, vals)
	return out
}

// fill sets the elements of t to vals, as far as its type can hold them.
func fill(t *core.Tensor, vals []int64) {
	if t.DType() == tf.String {
		for i, v := range vals {
			core.Data[string](t)[i] = fmt.Sprint(v)
		}
		return
	}
	elementwise.Cast(elements(t), vals)
}
