package fuse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/fuse"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// A normNet is a network of normalizations drawn at random, with its gradients.
type normNet struct {
	*program
	x       tf.Output
	trained []tf.Output
	fetches []tf.Fetchable
}

// newNormNet draws a network of images with as many channels everywhere.
func newNormNet(seed uint64) *normNet {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 11)), g: tf.NewGraph(), feeds: session.Feeds{}, dtype: tf.Float32, plain: seed%4 > 0}
	n := &normNet{program: p}
	s := tf.Shape{1 + p.IntN(3), 1 + p.IntN(4), 1 + p.IntN(4), []int{1, 3, 16, 40, 70}[p.IntN(5)]}
	known := append(tf.Shape{[]int{s[0], -1}[p.IntN(2)]}, s[1:]...)
	n.x = n.fed(known, s)
	y := n.x
	for range 1 + p.IntN(4) {
		y = n.layer(y, s)
	}
	loss := ops.Sum(ops.Mul(y, n.fed(known, s)), []int{0, 1, 2, 3})
	d, err := tf.Gradients(loss, append(n.trained, n.x)...)
	if err != nil {
		panic(err)
	}
	for _, dx := range d {
		if dx.Graph() != nil {
			n.fetches = append(n.fetches, dx)
		}
	}
	n.fetches = append(n.fetches, y, loss)
	return n
}

// fed returns what is fed, of a shape of which some is known.
func (n *normNet) fed(known, s tf.Shape) tf.Output {
	x := ops.Placeholder(n.g, tf.Float32, known)
	n.feeds[x] = n.tensor(s)
	return x
}

// vector returns a number for each channel: often 0, or 6, where rectifiers bend.
func (n *normNet) vector(channels int, positive bool) tf.Output {
	v := ops.Placeholder(n.g, tf.Float32, tf.Shape{channels})
	t := n.tensor(tf.Shape{channels})
	for i, of := range core.Data[float32]((*core.Tensor)(t)) {
		switch {
		case n.IntN(3) == 0:
			core.Data[float32]((*core.Tensor)(t))[i] = []float32{0, 6}[n.IntN(2)]
		case positive:
			core.Data[float32]((*core.Tensor)(t))[i] = float32(math.Abs(float64(of)))
		}
	}
	if n.IntN(2) == 0 {
		return ops.ConstTensor(n.g, t)
	}
	n.feeds[v] = t
	return v
}

// layer adds a normalization and what reads it.
func (n *normNet) layer(x tf.Output, s tf.Shape) tf.Output {
	c := s[3]
	if n.IntN(3) == 0 {
		w := ops.Placeholder(n.g, tf.Float32, tf.Shape{1, 1, c, c})
		n.feeds[w] = n.tensor(tf.Shape{1, 1, c, c})
		x, n.trained = ops.Conv2D(x, w, []int{1, 1, 1, 1}, "SAME"), append(n.trained, w)
	}
	scale, offset := n.vector(c, false), n.vector(c, false)
	n.trained = append(n.trained, scale, offset)
	of := n.normalized(x, scale, offset, c)
	if n.IntN(2) == 0 {
		n.fetches = append(n.fetches, of[1+n.IntN(len(of)-1)])
	}
	y := n.read(of[0], x)
	if n.IntN(4) > 0 {
		return y
	}
	window := []int{1, 1 + n.IntN(2), 1 + n.IntN(3), 1}
	return ops.MaxPool(y, window, []int{1, 1, 1, 1}, "SAME")
}

// normalized is any version of the op, now and then by given moments.
func (n *normNet) normalized(x, scale, offset tf.Output, c int) []tf.Output {
	name := []string{"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}[n.IntN(3)]
	opts := []tf.Option{tf.Attr("epsilon", float32([]float64{1e-3, 0.1}[n.IntN(2)]))}
	empty := must(tf.FromSlice([]float32{}))
	mean, variance := ops.ConstTensor(n.g, empty), ops.ConstTensor(n.g, empty)
	switch n.IntN(6) {
	case 0:
		opts = append(opts, tf.Attr("is_training", false))
		mean, variance = n.vector(c, false), n.vector(c, true)
	case 1:
		if name != "FusedBatchNorm" {
			opts = append(opts, tf.Attr("exponential_avg_factor", float32(0.25)))
			mean, variance = n.vector(c, false), n.vector(c, true)
		}
	}
	return tf.Apply(nil, name, []tf.Output{x, scale, offset, mean, variance}, opts...).Outputs()
}

// read adds what reads y, which was made of x.
func (n *normNet) read(y, x tf.Output) tf.Output {
	switch n.IntN(8) {
	case 0, 1:
		return ops.Relu(y)
	case 2, 3:
		return ops.Relu6(y)
	case 4:
		return ops.Relu(ops.AddV2(y, x))
	case 5:
		return ops.AddV2(ops.Relu(y), x)
	case 6:
		return ops.AddV2(ops.Relu(y), ops.Relu6(y))
	}
	return ops.Mul(ops.Tanh(y), y)
}

// TestNormsInTraining: normalizations with their gradients give the bits of their operations, one
// by one.
func TestNormsInTraining(t *testing.T) {
	defer fuse.SetLeastStretched(0)()
	split, gated, pools := 0, 0, 0
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			n := newNormNet(seed)
			if n.g.Err() != nil {
				t.Fatal(n.g.Err())
			}
			compare(t, n.g, n.feeds, n.fetches)
			if seed < 40 {
				text := explain(t, n.g, n.feeds, n.fetches...)
				split += strings.Count(text, " = _NormApply")
				gated += strings.Count(text, "/gated: 2 nodes")
				pools += strings.Count(text, "MaxPoolGrad/gated: 2 nodes")
			}
		})
	}
	if split < 20 || gated < pools+10 || pools < 3 {
		t.Errorf("%d normalizations were split, %d gradients took in those of rectifiers, %d of them of maxima", split, gated, pools)
	}
}

// TestRectifiedGradsStandForBoth: neither of the two nodes that became one is run beside it.
func TestRectifiedGradsStandForBoth(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{1, 4, 4, 2})
	of := tf.Apply(nil, "FusedBatchNormV3", []tf.Output{x, ops.Const(g, []float32{1, 2}), ops.Const(g, []float32{0, 1}), ops.Const(g, []float32{}, 0), ops.Const(g, []float32{}, 0)}).Outputs()
	pooled := ops.MaxPool(ops.Relu6(ops.Relu(of[0])), []int{1, 2, 2, 1}, []int{1, 2, 2, 1}, "VALID")
	d := must(tf.Gradients(ops.Sum(pooled, []int{0, 1, 2, 3}), x))
	s := must(session.New(g))
	defer s.Close()
	feeds := session.Feeds{x: ramp(tf.Shape{1, 4, 4, 2})}
	_, meta, err := s.RunWithOptions(t.Context(), session.RunOptions{Trace: session.FullTrace}, feeds, d[0])
	if err != nil {
		t.Fatal(err)
	}
	joined := 0
	for _, dev := range meta.StepStats.DevStats {
		for _, n := range dev.NodeStats {
			name := n.GetNodeName()
			if strings.HasSuffix(name, "/gated") {
				joined++
			}
			if strings.HasSuffix(name, "ReluGrad") || strings.HasSuffix(name, "Relu6Grad") || strings.HasSuffix(name, "MaxPoolGrad") || strings.HasSuffix(name, "NormGradV3") {
				t.Errorf("%s was run by itself", name)
			}
		}
	}
	if joined != 2 {
		t.Errorf("%d joined gradients were run, want 2", joined)
	}
}
