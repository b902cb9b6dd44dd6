package fuse_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// turning is a loop that multiplies its variable by the transpose of w.
func turning(g *tf.Graph, x, w tf.Output, times int32) tf.Output {
	end := tf.While([]tf.Output{ops.Scalar(g, int32(0)), x}, below(g, times), func(v []tf.Output) []tf.Output {
		y := ops.MatMul(v[1], w, ops.MatMulOpts{TransposeB: true})
		return []tf.Output{v[0].Add(1), ops.Tanh(ops.AddV2(x, ops.Slice(ops.Concat(1, []tf.Output{y, v[1]}), []int{0, 0}, x.Shape())))}
	})
	return end[1]
}

// TestTurnedConstants: a product by a transpose that is made before the loop has the bits of
// one that transposes in each iteration, whatever the shapes; so have gradients of products.
func TestTurnedConstants(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 41))
		d := []tf.DType{tf.Float32, tf.Float32, tf.Float64}[r.IntN(3)]
		m, n, k := []int{1, 3, 4, 5, 32, 33, 256, 257}[r.IntN(8)], []int{1, 2, 16, 33, 128}[r.IntN(5)], []int{1, 2, 31, 128, 257, 400, 1030}[r.IntN(7)]
		g := tf.NewGraph()
		x, w := ops.Placeholder(g, d, tf.Shape{m, k}), ops.Placeholder(g, d, tf.Shape{n, k})
		feeds := session.Feeds{x: normal(r, d, tf.Shape{m, k}), w: normal(r, d, tf.Shape{n, k})}
		y := turning(g, x, w, []int32{0, 1, 7}[r.IntN(3)])
		dw := gated(ops.Sum(y, []int{0, 1}), x, w)
		t.Run(fmt.Sprint(seed, m, n, k), func(t *testing.T) {
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			compare(t, g, feeds, []tf.Fetchable{y, dw[0].Output(), dw[1].Output()})
		})
	}
}

// TestWhatIsTurned: constants of loops that rows enough are multiplied by, of known shapes.
func TestWhatIsTurned(t *testing.T) {
	for _, c := range []struct {
		rows, known int
		want        bool
	}{{32, 32, true}, {4, 4, true}, {256, 256, true}, {257, 257, false}, {3, 3, false}, {1, 1, false}, {32, -1, false}} {
		g := tf.NewGraph()
		r := rand.New(rand.NewPCG(1, 1))
		x, w := ops.Placeholder(g, tf.Float32, tf.Shape{c.known, 24}), ops.Placeholder(g, tf.Float32, tf.Shape{24, 24})
		feeds := session.Feeds{x: normal(r, tf.Float32, tf.Shape{c.rows, 24}), w: normal(r, tf.Float32, tf.Shape{24, 24})}
		end := tf.While([]tf.Output{ops.Scalar(g, int32(0)), x}, below(g, 3), func(v []tf.Output) []tf.Output {
			return []tf.Output{v[0].Add(1), ops.MatMul(v[1], w, ops.MatMulOpts{TransposeB: true})}
		})
		s := must(session.New(g, session.Threads(1)))
		_, m, err := s.RunWithOptions(t.Context(), session.RunOptions{Trace: session.FullTrace}, feeds, end[1])
		s.Close()
		if err != nil {
			t.Fatal(err)
		}
		turned := 0
		for _, d := range m.GetStepStats().GetDevStats() {
			for _, n := range d.GetNodeStats() {
				if strings.HasSuffix(n.GetNodeName(), "/transposed") {
					turned++
				}
			}
		}
		if want := map[bool]int{true: 1}[c.want]; turned != want {
			t.Errorf("%d rows, known to be %d: transposed %d times, want %d", c.rows, c.known, turned, want)
		}
	}
}

// TestTurnedShapes: a variable that is no matrix, though the graph says so, is an error of the
// product, and none where the loop does not run.
func TestTurnedShapes(t *testing.T) {
	for times := range 2 {
		g := tf.NewGraph()
		v := declare(g, tf.Shape{8, 8})
		x := ops.ConstTensor(g, ramp(tf.Shape{8, 8}))
		end := tf.While([]tf.Output{ops.Scalar(g, int32(0)), x}, func(s []tf.Output) tf.Output { return s[0].Less(times) }, func(s []tf.Output) []tf.Output {
			return []tf.Output{s[0].Add(1), ops.MatMul(s[1], v.read, ops.MatMulOpts{TransposeB: true})}
		})
		contradict(t, v, end[1], tf.Shape{8, 8}, tf.Shape{8}, tf.Shape{}, tf.Shape{2, 8, 8}, tf.Shape{8, 8})
	}
}
