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

// cells is a loop of cells whose gates are the sum of a part that is made of an input and
// of one that is made of the state.
type cells struct {
	*rand.Rand
	g              *tf.Graph
	feeds          session.Feeds
	x, wx, wh, b   tf.Output
	rows, in, unit int
}

func newCells(r *rand.Rand, d tf.DType, rows, in, unit int, known bool) *cells {
	c := &cells{Rand: r, g: tf.NewGraph(), feeds: session.Feeds{}, rows: rows, in: in, unit: unit}
	feed := func(s ...int) tf.Output {
		k := append(tf.Shape{}, s...)
		if !known {
			k[0] = -1
		}
		x := ops.Placeholder(c.g, d, k)
		c.feeds[x] = normal(r, d, s)
		return x
	}
	c.x, c.wx, c.wh, c.b = feed(rows, in), feed(in, 4*unit), feed(unit, 4*unit), ops.Reshape(feed(1, 4*unit), []int{4 * unit})
	return c
}

// gates adds up the parts in one of the orders that there are.
func (c *cells) gates(x, h tf.Output) tf.Output {
	of, state := ops.BiasAdd(ops.MatMul(x, c.wx), c.b), ops.MatMul(h, c.wh)
	if c.IntN(3) == 0 {
		of = ops.AddV2(c.b, ops.MatMul(x, c.wx))
	}
	if c.IntN(2) == 0 {
		return ops.AddV2(state, of)
	}
	return ops.AddV2(of, state)
}

// loop runs cells, which read the input scaled by what iteration it is.
func (c *cells) loop(times int32) (h, next tf.Output) {
	zero := ops.MatMul(ops.ZerosLike(c.x), ops.ZerosLike(ops.Slice(c.wx, []int{0, 0}, []int{-1, c.unit})))
	end := tf.While([]tf.Output{ops.Scalar(c.g, int32(0)), zero, zero}, below(c.g, times), func(v []tf.Output) []tf.Output {
		x := ops.Mul(c.x, ops.Cos(ops.Cast(v[0], c.x.DType())))
		h, next := lstm(c.gates(x, v[1]), v[2])
		return []tf.Output{v[0].Add(1), h, next}
	})
	return end[1], end[2]
}

// TestLoopsOfCells: loops of cells that multiply their inputs and their state have the bits
// of the operations one by one, and so have their gradients.
func TestLoopsOfCells(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 31))
		d := []tf.DType{tf.Float32, tf.Float32, tf.Float64}[r.IntN(3)]
		c := newCells(r, d, []int{1, 2, 16, 33}[r.IntN(4)], []int{1, 5, 64, 700}[r.IntN(4)], []int{1, 3, 32, 160}[r.IntN(4)], r.IntN(2) == 0)
		h, next := c.loop([]int32{0, 1, 3, 17}[r.IntN(4)])
		fetches := []tf.Fetchable{h, next}
		for _, dw := range gated(ops.Sum(ops.Mul(h, next), []int{0, 1}), []tf.Output{c.wx, c.wh, c.b, c.x}[:2+r.IntN(3)]...) {
			fetches = append(fetches, dw.Output())
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			if err := c.g.Err(); err != nil {
				t.Fatal(err)
			}
			compare(t, c.g, c.feeds, fetches)
		})
	}
}

// TestGatesAreAddedInPlace: both products of a cell are joined with what is added to them,
// the gradients of the gates are joined within a cluster though others wait for them, and
// the gradients of all weights are summed up behind the loop, although the input needs none.
func TestGatesAreAddedInPlace(t *testing.T) {
	c := newCells(rand.New(rand.NewPCG(1, 1)), tf.Float32, 32, 64, 128, true)
	h, _ := c.loop(20)
	grads := gated(ops.Sum(ops.Square(h), []int{0, 1}), c.wx, c.wh, c.b)
	text := explain(t, c.g, c.feeds, h, grads[0].Output(), grads[1].Output(), grads[2].Output())
	if n := strings.Count(text, " = MatMul"); n != 4 {
		t.Errorf("%d products are joined with sums, want two of each pass:\n%s", n, text)
	}
	if n := strings.Count(text, " = Exit"); n != 2 {
		t.Errorf("%d sums are deferred, want 2:\n%s", n, text)
	}
	if !strings.Contains(text, " = ConcatV2") {
		t.Errorf("the gradients of the gates are not joined within a cluster:\n%s", text)
	}
}
