package ops_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	top := func(k int, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			values, indices := ops.ApproxTopK(in[0], k, opts...)
			return []tf.Output{values, indices}
		}
	}
	const static = "its shape function wants to know the rank"
	addSamples(
		sample{Op: "ApproxTopK", In: []*core.Tensor{distinct(2, 3, 5)}, F: top(3), Static: static},
		sample{Op: "ApproxTopK", Name: "vector", In: []*core.Tensor{seq(6)}, F: top(6, ops.ApproxTopKOpts{RecallTarget: 0.5}), Static: static},
		sample{Op: "ApproxTopK", Name: "none", In: []*core.Tensor{seq(2, 3)}, F: top(0), Static: static},
	)
	const elsewhere = "TensorFlow has it for other devices"
	one, x := 1, optest.Within(-9, 9, 2, 3, 7)
	for name, o := range map[string]ops.ApproxTopKOpts{"least": {Least: true}, "dimension": {Dimension: &one}, "all": {KeepAll: true}} {
		addSamples(sample{Op: "ApproxTopK", Name: name, In: []*core.Tensor{x}, F: top(2, o), NoGolden: elsewhere, Types: onlyOwn})
	}
	for _, bad := range []sample{optest.Failing("ApproxTopK", "k", top(8), x), optest.Failing("ApproxTopK", "scalar", top(1), optest.Scalar(float32(3)))} {
		bad.NoGolden = refusedShape
		addSamples(bad)
	}
}

// TestApproxTopKShape: how many elements an accelerator leaves over is part of
// the op's shape. The numbers are TensorFlow's.
func TestApproxTopKShape(t *testing.T) {
	for _, c := range []struct {
		shape    tf.Shape
		k        int
		recall   float32
		override int
		want     int
	}{
		{tf.Shape{1000}, 5, 0.95, -1, 1000},
		{tf.Shape{5000}, 1, 0.95, -1, 1024},
		{tf.Shape{3, 5000}, 10, 1, -1, 5000},
		{tf.Shape{3, 5000}, 10, 0.95, -1, 384},
		{tf.Shape{3, 5000}, 10, 0.5, -1, 256},
		{tf.Shape{3, 5000}, 200, 0.95, -1, 5000},
		{tf.Shape{100000}, 10, 0.9, 1 << 20, 1024},
	} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, c.shape)
		y, _ := ops.ApproxTopK(x, c.k, ops.ApproxTopKOpts{RecallTarget: c.recall},
			tf.Attr("aggregate_to_topk", false), tf.Attr("reduction_input_size_override", c.override))
		if s := y.Shape(); y.Err() != nil || s[len(s)-1] != c.want {
			t.Errorf("%v, k = %d, recall %v: %v (%v), want %d", c.shape, c.k, c.recall, s, y.Err(), c.want)
		}
	}
}

// TestApproxTopK sorts.
func TestApproxTopK(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	x := core.NewTensor(tf.Float32, tf.Shape{3, 40, 2})
	for i := range core.Data[float32](x) {
		core.Data[float32](x)[i] = rnd.Float32()
	}
	axis := 1
	for _, least := range []bool{false, true} {
		g := eager.New()
		values, indices := ops.ApproxTopK(ops.ConstValue(g, x), 4, ops.ApproxTopKOpts{Dimension: &axis, Least: least})
		v, err := values.Value()
		if err != nil {
			t.Fatal(err)
		}
		at, err := indices.Value()
		if err != nil {
			t.Fatal(err)
		}
		for line := range 6 {
			b, ch := line/2, line%2
			order := make([]int, 40)
			for i := range order {
				order[i] = i
			}
			of := func(i int) float32 { return core.Data[float32](x)[(b*40+i)*2+ch] }
			slices.SortFunc(order, func(i, j int) int {
				if least {
					return cmp.Compare(of(i), of(j))
				}
				return cmp.Compare(of(j), of(i))
			})
			for k := range 4 {
				got := (b*4+k)*2 + ch
				if int(tf.Data[int32](at)[got]) != order[k] || tf.Data[float32](v)[got] != of(order[k]) {
					t.Errorf("least %v: element %d of line %d is %v at %d, want %d", least, k, line, tf.Data[float32](v)[got], tf.Data[int32](at)[got], order[k])
				}
			}
		}
	}
}
