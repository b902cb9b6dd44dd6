package fuse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestParts draws programs in parts: between two there are values that no cluster
// computes, and a part reads what those before it have computed on the way.
func TestParts(t *testing.T) {
	for seed := range uint64(seeds / 3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newProgram(seed+5000, seed%3 > 0)
			for range 1 + p.IntN(4) {
				if len(p.full) > 0 {
					p.floats = append(p.floats, ops.ReverseV2(ops.BroadcastTo(p.recent(), ops.Const(p.g, p.full)), ops.Const(p.g, []int32{0})))
				} else {
					p.floats = append(p.floats, ops.Reshape(ops.BroadcastTo(p.recent(), ops.Const(p.g, []int32{})), []int{}))
				}
				for range 3 + p.IntN(15) {
					p.add()
				}
			}
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			fetches := []tf.Fetchable{p.floats[len(p.floats)-1]}
			if p.IntN(2) == 0 {
				fetches = p.fetches()
			}
			compare(t, p.g, p.feeds, fetches)
		})
	}
}

// parts is a graph of two clusters, of which the second one reads values of the first:
// sum and product, which are simple, and the tangent, which is not.
func parts(wait bool) (g *tf.Graph, feeds session.Feeds, z tf.Output) {
	g = tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{3}, tf.Name("x"))
	sum := ops.AddV2(x, ops.Scalar(g, float32(1)), tf.Name("sum"))
	product := ops.Mul(sum, sum, tf.Name("product"))
	tangent := ops.Tanh(product, tf.Name("tangent"))
	y := ops.Cumsum(ops.Mul(tangent, sum, tf.Name("y")), ops.Scalar(g, int32(0)))
	var after []tf.Option
	if wait {
		after = append(after, tf.After(product.Operation()))
	}
	z = ops.Mul(ops.Mul(ops.AddV2(y, sum, tf.Name("a")), product, tf.Name("b")), tangent, append(after, tf.Name("z"))...)
	return g, session.Feeds{x: vector(1, -2, 3)}, z
}

// TestSimpleValuesAreComputedAgain counts the clusters that compute each value.
func TestSimpleValuesAreComputedAgain(t *testing.T) {
	for _, wait := range []bool{false, true} {
		g, feeds, z := parts(wait)
		text := explain(t, g, feeds, z)
		for name, want := range map[string]int{"sum = AddV2": 2, "product = Mul": 2, "tangent = Tanh": 1, "z = Mul": 1} {
			if n := strings.Count(text, `\t`+name); n != want {
				t.Errorf("%d clusters compute %s, want %d:\n%s", n, name, want, text)
			}
		}
		if want := "12 nodes, 7 of them joined to 2"; !strings.Contains(text, want) {
			t.Errorf("the log does not say %q:\n%s", want, text)
		}
		compare(t, g, feeds, []tf.Fetchable{z})
	}
}

// TestValuesOfOthersAreWritten: what a program fetches is there already.
func TestValuesOfOthersAreWritten(t *testing.T) {
	g, feeds, z := parts(false)
	sum := g.Operation("sum").Output(0)
	text := explain(t, g, feeds, z, sum)
	if n := strings.Count(text, `\tsum = AddV2`); n != 1 {
		t.Errorf("%d clusters compute what is fetched, want 1:\n%s", n, text)
	}
	compare(t, g, feeds, []tf.Fetchable{z, sum})
}
