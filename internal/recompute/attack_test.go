package recompute_test

import (
	"runtime/debug"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/pass"
	"github.com/gorge-tf/gorge/internal/recompute"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestTooLargeSets: u2 lives in 257 branches that are taken, u1 in 256 others, one of which is
// not: what u2 reads must not wait for what only u1 has.
func TestTooLargeSets(t *testing.T) {
	run := func(disabled ...string) error {
		g := tf.NewGraph()
		x := ops.RandomUniform(g, []int{4}, tf.Float32, ops.Seed(1))
		r := ops.RandomUniform(g, []int{}, tf.Float32, ops.Seed(2))
		taken := func(v tf.Output, below float32) tf.Output {
			_, v = ops.Switch(v, ops.Less(r, ops.Scalar(g, below)))
			return v
		}
		n := ops.Square(x, tf.Name("n"), tf.Attr(recompute.Hint, int64(0)))
		a := taken(x, -1) // is dead
		for i := range 255 {
			a = taken(a, float32(2+i))
		}
		b := x
		for i := range 256 {
			b = taken(b, float32(1000+i))
		}
		for range 10 { // u1 comes first in the order
			b = ops.Tanh(b)
		}
		d := taken(x, 5000)
		var u1, u2 tf.Output
		g.Scope("gradients", func() {
			u1 = ops.Mul(n, ops.Neg(a, tf.Name("t")), tf.Name("u1"))
			u2 = ops.AddN([]tf.Output{n, b, d}, tf.Name("u2"))
		})
		m, _ := ops.Merge([]tf.Output{u1, x})
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		s, err := session.New(g, session.With(session.Config{DisabledPasses: append(disabled, "fusion")}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		_, err = s.Run(t.Context(), nil, m, u2)
		return err
	}
	if err := run("recomputation"); err != nil {
		t.Fatal("without the pass:", err)
	}
	if err := run(); err != nil {
		t.Error("u2 is dead since its copy of n waits for gradients/t:", err)
	}
}

// TestDisabledAndSaveMemory does what internal/remote's configProto does.
func TestDisabledAndSaveMemory(t *testing.T) {
	o := pass.OptionsWithout([]string{pass.Recomputation})
	recompute.Options{Mode: recompute.Heuristics}.Ask(o)
	if !slices.Contains(pass.DisabledBy(o), pass.Recomputation) {
		t.Errorf("in clusters SaveMemory switches on a pass that the session disables")
	}
}

// TestShapesElsewhere: the gradient of maxima needs their shape only and reads that of the
// gradient it spreads, unless the maxima come from elsewhere: those may be dead, as here.
func TestShapesElsewhere(t *testing.T) {
	two := []int{1, 2, 2, 1}
	build := func(dead bool) (*tf.Graph, tf.Output) {
		g := tf.NewGraph()
		x := ops.RandomUniform(g, []int{1, 4, 4, 1}, tf.Float32, ops.Seed(1))
		y := ops.MaxPool(x, two, two, "SAME", tf.Name("y"))
		if dead {
			_, y = ops.Switch(y, ops.Less(ops.RandomUniform(g, []int{}, tf.Float32), ops.Scalar(g, float32(-1))))
		}
		var dx tf.Output
		g.Scope("gradients", func() {
			dy := ops.RandomUniform(g, []int{1, 2, 2, 1}, tf.Float32, ops.Seed(2), tf.Name("dy"))
			in := []tf.Output{x, y, dy}
			dx = tf.Apply(g, "MaxPoolGrad", in, tf.Attr("ksize", two), tf.Attr("strides", two), tf.Attr("padding", "SAME")).Output(0)
		})
		_, index := ops.Merge([]tf.Output{dx, ops.Identity(x)})
		return g, index
	}
	for _, dead := range []bool{false, true} {
		g, index := build(dead)
		s := opened(t, g, session.Config{SaveMemory: true})
		out, m, err := s.RunWithOptions(t.Context(), session.RunOptions{PartitionGraphs: true}, nil, index)
		if err != nil {
			t.Fatal(err)
		}
		if dead && tf.Data[int32](out[0])[0] != 1 {
			t.Error("a gradient is alive whose maxima are dead")
		}
		for _, n := range m.GetPartitionGraphs()[0].GetNode() {
			if n.GetOp() == "MaxPoolGrad" && (n.GetInput()[1] == "gradients/dy") == dead {
				t.Errorf("where the maxima are dead: %v, the gradient reads %q", dead, n.GetInput())
			}
		}
	}
}

// TestArraysOfVersion2: their handles are strings and no references, and their ops have no
// Stateful: an element that is cleared when it is read is read twice.
func TestArraysOfVersion2(t *testing.T) {
	g := tf.NewGraph()
	i0, flow := ops.Scalar(g, int32(0)), ops.Scalar(g, float32(0))
	h := tf.Apply(g, "TensorArrayV2", []tf.Output{ops.Scalar(g, int32(1))}, tf.Attr("dtype", tf.Float32)).Output(0)
	flow = tf.Apply(g, "TensorArrayWriteV2", []tf.Output{h, i0, draw(g), flow}).Output(0)
	var v, y tf.Output
	g.Recompute(func() {
		v = tf.Apply(g, "TensorArrayReadV2", []tf.Output{h, i0, flow}, tf.Attr("dtype", tf.Float32)).Output(0)
		y = ops.Square(v)
	})
	y = ops.Tanh(y)
	dv := gradient(t, y, v)
	for _, disabled := range [][]string{{"recomputation"}, nil} {
		s, err := session.New(g, session.With(session.Config{DisabledPasses: disabled}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Run(t.Context(), nil, y, dv); err != nil {
			t.Errorf("without %v: %v", disabled, err)
		}
	}
}

// TestReferenceIsReadOnce: a read of a reference variable within Recompute is not repeated
// after an update of the same step, which here is ordered between the two passes.
func TestReferenceIsReadOnce(t *testing.T) {
	dx := func(disabled ...string) *tf.Tensor {
		g := tf.NewGraph()
		x := draw(g)
		var w *tf.Variable
		var h tf.Output
		g.Recompute(func() {
			w = tf.NewVariable(ops.RandomUniform(g, []int{200, 200}, tf.Float32, ops.Seed(2)), tf.VariableOptions{Name: "w", Reference: true})
			h = ops.Square(ops.Mul(x, w.Value()))
		})
		y := ops.Tanh(h)
		update := w.AssignAdd(ops.RandomUniform(g, []int{200, 200}, tf.Float32, ops.Seed(3)), tf.After(y.Operation()))
		var gy tf.Output
		g.ControlDependencies([]*tf.Operation{update}, func() { gy = ops.AddV2(y, y) })
		d, err := tf.Differentiate(tf.GradientOptions{Ys: []tf.Output{y}, Xs: []tf.Output{x}, GradYs: []tf.Output{gy}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := session.New(g, session.With(session.Config{DisabledPasses: append(disabled, "fusion")}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Run(t.Context(), nil, tf.InitializeAll(g)); err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(t.Context(), nil, d[0].Output())
		if err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	if got, want := dx(), dx("recomputation"); !slices.Equal(tf.Data[float32](got), tf.Data[float32](want)) {
		t.Errorf("the gradient is %v, want %v", tf.Data[float32](got)[:3], tf.Data[float32](want)[:3])
	}
}

// planned returns how many inputs the nodes of a step have.
func planned(t *testing.T, g *tf.Graph, cfg session.Config, fetches ...tf.Fetchable) (inputs int) {
	t.Helper()
	for _, n := range ran(t, g, cfg, fetches...) {
		inputs += len(n.GetInput())
	}
	return inputs
}

var off = session.Config{DisabledPasses: []string{"recomputation"}}

// TestTriggersTimesEntries: N nodes begin a segment, the first reader has N gradients: N·N edges.
func TestTriggersTimesEntries(t *testing.T) {
	const N = 1500
	g := tf.NewGraph()
	x := ops.RandomUniform(g, []int{4}, tf.Float32, ops.Seed(1))
	c := func(i int) tf.Output { return ops.Scalar(g, float32(i)) }
	var a, ts, rs []tf.Output
	var y tf.Output
	g.Recompute(func() {
		for i := range N {
			a = append(a, ops.Tanh(ops.AddV2(x, c(i))))
		}
		y = ops.AddN(a)
	})
	y = ops.Tanh(y)
	var first, last tf.Output
	g.Scope("gradients", func() {
		dy := ops.Tanh(y)
		for i := range N {
			ts = append(ts, ops.Tanh(ops.AddV2(dy, c(i))))
		}
		first = ops.AddN(append(ts, a[0]))
		for range 6 {
			dy = ops.Tanh(dy)
		}
		for i := range N {
			rs = append(rs, ops.Mul(a[i], dy))
		}
		last = ops.AddN(rs)
	})
	without := planned(t, g, off, first, last)
	if with := planned(t, g, session.Config{}, first, last); with > 10*without {
		t.Errorf("nodes have %d inputs, %d without the pass", with, without)
	}
}

// TestWideCheapNode: a sum of K inputs is cheap however large K is, and is made again for each of N.
func TestWideCheapNode(t *testing.T) {
	const K, N = 300, 300
	g := tf.NewGraph()
	x := draw(g)
	big := ops.AddN(slices.Repeat([]tf.Output{x}, K), tf.Name("big"))
	var ns, rs []tf.Output
	for i := range N {
		ns = append(ns, ops.Tanh(ops.Mul(big, ops.Scalar(g, float32(i)))))
	}
	y := ops.Tanh(ops.AddN(ns))
	var last tf.Output
	g.Scope("gradients", func() {
		dy := ops.Tanh(y)
		rs = append(rs, ops.Mul(x, dy)) // keeps x
		for i := range N {
			rs = append(rs, ops.Mul(ns[i], dy))
		}
		last = ops.AddN(rs)
	})
	without := planned(t, g, off, last)
	if with := planned(t, g, session.Config{SaveMemory: true}, last); with > 10*without {
		t.Errorf("nodes have %d inputs, %d without the pass", with, without)
	}
}

// TestDeepSegment: a chain of nodes that no gradient reads is copied without a stack as deep.
func TestDeepSegment(t *testing.T) {
	before := debug.SetMaxStack(4 << 20)
	defer debug.SetMaxStack(before)
	g := tf.NewGraph()
	x := ops.RandomUniform(g, []int{4}, tf.Float32, ops.Seed(1))
	var a, y tf.Output
	g.Recompute(func() {
		a = x
		for range 100_000 {
			a = ops.AddV2(a, x)
		}
		y = ops.Square(a)
	})
	y = ops.Tanh(y)
	var r tf.Output
	g.Scope("gradients", func() { r = ops.Mul(a, ops.Tanh(y)) })
	planned(t, g, session.Config{}, r)
}
