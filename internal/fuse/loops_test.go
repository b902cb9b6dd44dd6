package fuse_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
)

// below returns the condition that a loop's first variable is less than n.
func below(g *tf.Graph, n int32) func([]tf.Output) tf.Output {
	return func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar(g, n)) }
}

// TestGradientsOfLoops: what a loop's gradient computes from the values of an iteration
// is one cluster, although gradients wait for each other and variables of the loop come
// from different places.
func TestGradientsOfLoops(t *testing.T) {
	g := tf.NewGraph()
	x, w := ops.Placeholder(g, tf.Float32, tf.Shape{3, 5}), ops.Placeholder(g, tf.Float32, tf.Shape{5, 5})
	end := tf.While([]tf.Output{ops.Scalar[int32](g, 0), x, ops.Exp(x)}, below(g, 6), func(v []tf.Output) []tf.Output {
		z := ops.MatMul(v[1], w)
		c := ops.AddV2(ops.Mul(ops.Sigmoid(z), v[2]), ops.Tanh(z))
		return []tf.Output{ops.AddV2(v[0], ops.Scalar[int32](g, 1)), ops.Mul(ops.Tanh(c), ops.Sigmoid(z)), c}
	})
	grads := must(tf.Differentiate(tf.GradientOptions{Ys: []tf.Output{end[1]}, Xs: []tf.Output{x, w}, Gate: true}))
	r := rand.New(rand.NewPCG(1, 2))
	feeds := session.Feeds{x: normal(r, tf.Float32, tf.Shape{3, 5}), w: normal(r, tf.Float32, tf.Shape{5, 5})}
	compare(t, g, feeds, []tf.Fetchable{end[2], grads[0].Output(), grads[1].Output()})
	text := explain(t, g, feeds, grads[0].Output(), grads[1].Output())
	if strings.Contains(text, "not well-formed") {
		t.Errorf("a loop is not well-formed:\n%s", text)
	}
	if n := strings.Count(text, "= TanhGrad\\n\\t"); n == 0 {
		t.Errorf("no TanhGrad is in a cluster:\n%s", text)
	}
}

// TestLoopsAtRandom: loops with branches, loops inside and gradients have the bits of
// their operations one by one.
func TestLoopsAtRandom(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			l := &loops{Rand: rand.New(rand.NewPCG(seed, 11)), g: tf.NewGraph()}
			x, p := ops.Placeholder(l.g, tf.Float32, tf.Shape{7}), ops.Placeholder(l.g, tf.Bool, tf.Shape{})
			l.p = p
			y := l.block([]tf.Output{x, ops.Exp(x), ops.Neg(x)}, 2)
			fetches := []tf.Fetchable{y[0], y[1], y[2]}
			if dx, err := tf.Differentiate(tf.GradientOptions{Ys: y[:2], Xs: []tf.Output{x}, Gate: seed%2 == 0}); err == nil && !dx[0].IsZero() {
				fetches = append(fetches, dx[0].Output())
			}
			if l.g.Err() != nil {
				t.Fatal(l.g.Err())
			}
			for _, taken := range []bool{false, true} {
				feeds := session.Feeds{x: vector(0.5, -2, 3, 0, -0.25, 1, 7), p: (*tf.Tensor)(core.Scalar(taken))}
				compare(t, l.g, feeds, fetches)
			}
		})
	}
}

// loops draws programs of loops and branches.
type loops struct {
	*rand.Rand
	g *tf.Graph
	p tf.Output
}

// block adds a few operations on values, and loops and branches of a depth at most.
func (l *loops) block(v []tf.Output, depth int) []tf.Output {
	v = append([]tf.Output(nil), v...)
	for range 2 + l.IntN(4) {
		i := l.IntN(len(v))
		switch k := l.IntN(10); {
		case k < 3:
			v[i] = ops.Tanh(ops.AddV2(v[l.IntN(len(v))], ops.Sigmoid(v[i])))
		case k < 6:
			v[i] = ops.Mul(ops.Sigmoid(v[i]), v[l.IntN(len(v))])
		case k < 8 && depth > 0:
			v = l.loop(v, depth-1)
		case depth > 0:
			v = tf.Cond(l.choice(v[i]), func() []tf.Output { return l.block(v, depth-1) }, func() []tf.Output { return l.block(v, depth-1) })
		}
	}
	return v
}

// choice is the same in all iterations, or follows from a value.
func (l *loops) choice(x tf.Output) tf.Output {
	if l.IntN(2) == 0 {
		return l.p
	}
	return ops.Less(ops.Sum(x, []int{0}), ops.Scalar[float32](l.g, 1))
}

func (l *loops) loop(v []tf.Output, depth int) []tf.Output {
	shift := l.IntN(len(v)) // a variable may begin the next iteration as another one
	in := append([]tf.Output{ops.Scalar[int32](l.g, 0)}, v...)
	out := tf.While(in, below(l.g, int32(l.IntN(4))), func(in []tf.Output) []tf.Output {
		next := l.block(in[1:], depth)
		next = append(next[shift:], next[:shift]...)
		return append([]tf.Output{ops.AddV2(in[0], ops.Scalar[int32](l.g, 1))}, next...)
	})
	return out[1:]
}

// TestLoopsThatWait: a cluster in a loop must not hold back what the loop itself waits
// for: here each iteration fills a queue that it also reads from.
func TestLoopsThatWait(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{3})
	q := queue.NewFIFO(g, []tf.DType{tf.Float32}, queue.Opts{Capacity: 1})
	end := tf.While([]tf.Output{ops.Scalar[int32](g, 0), x, x}, below(g, 5), func(v []tf.Output) []tf.Output {
		a := ops.Neg(ops.Sigmoid(v[1]))
		fill := q.Enqueue([]tf.Output{ops.Exp(a)})
		back := q.Dequeue()[0]
		back.SetShape(tf.Shape{3})
		var b tf.Output
		g.ControlDependencies([]*tf.Operation{fill}, func() { b = ops.Tanh(ops.AddV2(ops.Mul(a, back), v[2])) })
		return []tf.Output{ops.AddV2(v[0], ops.Scalar[int32](g, 1)), ops.Square(ops.Neg(a)), b}
	})
	compare(t, g, session.Feeds{x: vector(0.5, -2, 3)}, []tf.Fetchable{end[1], end[2]})
}
