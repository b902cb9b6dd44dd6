package fuse_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/fuse"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// newEpilogue draws a program around convolutions or products: their results are read once
// or several times, with what they are computed from, with each other, whole, by channels or
// by columns.
func newEpilogue(seed uint64) *program {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 11)), g: tf.NewGraph(), feeds: session.Feeds{}, dtype: tf.Float32, plain: true}
	if p.IntN(5) == 0 {
		p.dtype = tf.Float64
	}
	linear := p.product
	p.full = tf.Shape{1 + p.IntN(200), 1 + p.IntN(90)}
	if p.IntN(3) > 0 {
		linear, p.full = p.convolution, tf.Shape{1 + p.IntN(3), 1 + p.IntN(20), 1 + p.IntN(20), 1 + p.IntN(70)}
	}
	for i := range 1 + p.IntN(3) {
		p.feed(i == 0, p.IntN(2) == 0)
	}
	for range 1 + p.IntN(3) {
		p.floats = append(p.floats, linear())
		for range 1 + p.IntN(6) {
			p.add()
		}
	}
	return p
}

// whole returns a value of the full shape: one that there is, perhaps, or a new one, which
// nothing else needs afterwards.
func (p *program) whole() tf.Output {
	if x := p.recent(); p.IntN(2) == 0 && x.Shape().String() == p.full.String() {
		return x
	}
	p.feed(true, true)
	x := p.floats[len(p.floats)-1]
	p.floats = p.floats[:len(p.floats)-1]
	return ops.Neg(x)
}

// given returns a value of a shape, which the graph may not know.
func (p *program) given(s tf.Shape) tf.Output {
	known := s
	if p.IntN(3) == 0 {
		known = make(tf.Shape, len(s))
		for i := range known {
			known[i] = -1
		}
	}
	x := ops.Placeholder(p.g, p.dtype, known)
	p.feeds[x] = p.tensor(s)
	return x
}

func (p *program) product() tf.Output {
	n := p.full[1]
	return ops.MatMul(p.whole(), p.given(tf.Shape{n, n}), ops.MatMulOpts{TransposeB: p.IntN(2) == 0})
}

func (p *program) convolution() tf.Output {
	c, k := p.full[3], 1+2*p.IntN(2)
	var y tf.Output
	if p.IntN(3) == 0 {
		y = ops.DepthwiseConv2dNative(p.whole(), p.given(tf.Shape{k, k, c, 1}), []int{1, 1, 1, 1}, "SAME")
	} else {
		y = ops.Conv2D(p.whole(), p.given(tf.Shape{k, k, c, c}), []int{1, 1, 1, 1}, "SAME")
	}
	if p.dtype == tf.Float64 || p.IntN(3) == 0 {
		return y
	}
	vector := func() tf.Output {
		v := ops.Placeholder(p.g, p.dtype, tf.Shape{c})
		p.feeds[v] = p.tensor(tf.Shape{c})
		return v
	}
	return ops.FusedBatchNormV3(y, vector(), vector(), vector(), ops.Abs(vector()), ops.BatchNormOpts{Epsilon: 0.01, Inference: true})[0]
}

// TestEpilogues: what runs within convolutions and products gives the bits of one node after
// another.
func TestEpilogues(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	joined := 0
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newEpilogue(seed)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			compare(t, p.g, p.feeds, p.fetches())
			if text := explain(t, p.g, p.feeds, p.floats[len(p.floats)-1]); strings.Contains(text, "= Conv2D") || strings.Contains(text, "= Depthwise") || strings.Contains(text, "= MatMul") {
				joined++
			}
		})
	}
	if joined < seeds/3 {
		t.Errorf("%d of %d programs have epilogues: the test is about nothing", joined, seeds)
	}
}

// TestEpilogueGradients: so do their gradients, and products and convolutions of those.
func TestEpilogueGradients(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	for seed := range uint64(seeds / 4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newEpilogue(seed + 5000)
			if p.g.Err() != nil {
				t.Fatal(p.g.Err())
			}
			fetches := p.fetches()
			for x := range p.feeds {
				dx, err := tf.Gradients(p.floats[len(p.floats)-1], x)
				if err == nil && dx[0].Graph() != nil {
					fetches = append(fetches, dx[0])
				}
			}
			compare(t, p.g, p.feeds, fetches)
		})
	}
}

// TestEpiloguesAtOnce: steps of several sizes that run at the same time do not share memory.
func TestEpiloguesAtOnce(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	g := tf.NewGraph()
	x, w := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 9, 9, 8}), ops.Placeholder(g, tf.Float32, tf.Shape{3, 3, 8, 8})
	y := ops.Relu(ops.AddV2(ops.Conv2D(x, w, []int{1, 1, 1, 1}, "SAME"), x))
	plain, fused := open(t, g)
	r := rand.New(rand.NewPCG(1, 2))
	filter := normal(r, tf.Float32, tf.Shape{3, 3, 8, 8})
	var wg sync.WaitGroup
	for i := range 8 {
		feeds := session.Feeds{x: normal(r, tf.Float32, tf.Shape{1 + i%3, 9, 9, 8}), w: filter}
		want := must(plain.Run(t.Context(), feeds, y))
		wg.Go(func() {
			for range 50 {
				got, err := fused[i%2].Run(t.Context(), feeds, y)
				if err != nil {
					t.Error(err)
				} else if why := differ(got[0], want[0]); why != "" {
					t.Errorf("%d images: %s", 1+i%3, why)
				}
			}
		})
	}
	wg.Wait()
}
