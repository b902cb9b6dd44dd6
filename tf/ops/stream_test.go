package ops_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestStreamGoesOn: what TensorFlow gives in the first and second run of one
// session, with seeds 1 and 3; first elements of 20.
func TestStreamGoesOn(t *testing.T) {
	want := map[string][2][]uint32{
		"RandomUniform":        {{0x3f475e7e, 0x3f4d1b4c, 0x3f39709e}, {0x3eed9b58, 0x3f316fba, 0x3f278290}},
		"RandomStandardNormal": {{0xbf2bbd90, 0x3e64efea, 0x3f4c1a16}, {0xbf949510, 0xbeddf971, 0x3f666418}},
		"TruncatedNormal":      {{0xbf2bbd90, 0x3e64efea, 0x3f4c1a16}, {0xbf949510, 0xbeddf971, 0x3f666418}},
	}
	g := tf.NewGraph()
	n := ops.Const(g, []int32{20})
	seeds := []tf.Option{tf.Attr("seed", 1), tf.Attr("seed2", 3), tf.Attr("dtype", tf.Float32)}
	var names []string
	var xs []tf.Fetchable
	for op := range want {
		names, xs = append(names, op), append(xs, tf.Apply(nil, op, []tf.Output{n}, seeds...).Output(0))
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for run := range 2 {
		out, err := s.Run(context.Background(), nil, xs...)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range out {
			for k, bits := range want[names[i]][run] {
				if got := math.Float32bits(tf.Data[float32](x)[k]); got != bits {
					t.Errorf("%s, run %d: element %d is %#x, want %#x", names[i], run+1, k, got, bits)
				}
			}
		}
	}
}

// TestPieces: how a fill is divided among threads does not change its numbers.
func TestPieces(t *testing.T) {
	const n = 20001
	for op := range distributions {
		for _, d := range []tf.DType{tf.Float32, tf.Float64, tf.Float16} {
			var results []*core.Tensor
			for _, parallel := range []func(n, grain int, f func(lo, hi int)){nil, inPieces} {
				node, k := kernelOf(t, op, core.Attrs{"seed": int64(5), "seed2": int64(0), "dtype": d, "T": tf.Int32})
				c := &core.OpContext{Step: &core.Step{Parallel: parallel}, Node: node, In: []core.Slot{{T: i32(n)}}, Out: make([]core.Slot, 1)}
				if err := compute(k, c); err != nil {
					t.Fatal(err)
				}
				results = append(results, c.Out[0].T)
			}
			if !core.TensorsEqual(results[0], results[1]) {
				t.Errorf("%s of %v depends on the pieces", op, d)
			}
		}
	}
}

// inPieces runs f over uneven pieces from the last to the first.
func inPieces(n, grain int, f func(lo, hi int)) {
	for hi := n; hi > 0; {
		lo := max(0, hi-grain-hi%7)
		f(lo, hi)
		hi = lo
	}
}

func TestSeeds(t *testing.T) {
	draw := func(g *tf.Graph, opts ...tf.Option) string {
		v, err := ops.RandomUniform(nil, ops.Const(g, []int32{4}), tf.Float32, opts...).Value()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(v)
	}
	a, b := eager.New(), eager.New()
	if draw(a) == draw(b) {
		t.Error("two graphs without seeds draw the same numbers")
	}
	if draw(a, ops.Seed(3)) != draw(b, ops.Seed(3)) {
		t.Error("equal seeds give different numbers")
	}
	a.SetSeed(1)
	b.SetSeed(1)
	if x, y := draw(a), draw(b); x != y || x == draw(a) {
		t.Error("a graph's seed must give each operation numbers of its own, equal in each graph")
	}
}

// TestSeedAttrs: the attributes are those that TensorFlow's client writes.
func TestSeedAttrs(t *testing.T) {
	g := tf.NewGraph()
	n := ops.Const(g, []int32{2})
	seeds := func(x tf.Output) [2]int {
		return [2]int{x.Operation().Int("seed"), x.Operation().Int("seed2")}
	}
	got := [][2]int{seeds(ops.RandomUniform(nil, n, tf.Float32)), seeds(ops.RandomUniform(nil, n, tf.Float32, ops.Seed(9)))}
	g.SetSeed(5)
	for range 2 {
		got = append(got, seeds(ops.TruncatedNormal(nil, n, tf.Float32)))
	}
	got = append(got, seeds(ops.RandomStandardNormal(nil, n, tf.Float32, ops.Seed(9))))
	want := [][2]int{{0, 0}, {87654321, 9}, {5, 0}, {5, 1}, {5, 9}}
	if !slices.Equal(got, want) {
		t.Errorf("seeds are %v, want %v", got, want)
	}
}
