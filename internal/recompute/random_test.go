package recompute_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// seeds is how many networks are drawn; fewer under the race detector, which takes ten times as long.
var seeds = map[bool]int{false: 60, true: 12}[invariants.Enabled]

func TestMain(m *testing.M) { leaktest.Main(m) }

// A network is one drawn at random: blocks of layers, some of which are to be computed
// again, with branches, loops and random draws between.
type network struct {
	*rand.Rand
	*testing.T
	g     *tf.Graph
	in    tf.Output
	flag  tf.Output // whether branches are taken
	image tf.Shape  // of what goes through
	x     tf.Output
	past  []tf.Output
	vars  []*tf.Variable
}

func newNetwork(t *testing.T, seed uint64) *network {
	p := &network{T: t, Rand: rand.New(rand.NewPCG(seed, 3)), g: tf.NewGraph(), image: tf.Shape{4, 16, 16, 1 + int(seed%5)}}
	p.flag = ops.Placeholder(p.g, tf.Bool, tf.Shape{}, tf.Name("flag"))
	p.in = ops.Placeholder(p.g, tf.Float32, p.image, tf.Name("x"))
	p.x = p.in
	for range 2 + p.IntN(4) {
		block := func() {
			for range 1 + p.IntN(5) {
				p.layer()
			}
		}
		p.past = append(p.past, p.x)
		on := []string{"", "/cpu:0", "/cpu:1"}[p.IntN(3)] // values cross between devices
		p.g.Device(on, func() {
			if p.IntN(3) > 0 {
				p.g.Recompute(block)
			} else {
				block()
			}
		})
	}
	return p
}

func (p *network) variable(s tf.Shape) tf.Output {
	v := tf.NewVariable(ops.RandomNormal(p.g, s, 0, 0.5, tf.Float32, ops.Seed(int64(len(p.vars)))), tf.VariableOptions{})
	p.vars = append(p.vars, v)
	return v.Value()
}

// layer adds one, whose result has the shape of the image.
func (p *network) layer() {
	channels := p.image[3:]
	switch x := p.x; p.IntN(11) {
	case 0, 1:
		p.x = ops.Relu(ops.BiasAdd(x, p.variable(channels)))
	case 2:
		zero := ops.Const(p.g, make([]float32, channels[0]))
		p.x = ops.FusedBatchNormV3(x, p.variable(channels), p.variable(channels), zero, zero, ops.BatchNormOpts{Epsilon: 1e-3})[0]
	case 3:
		p.x = ops.Conv2D(x, p.variable(tf.Shape{3, 3, channels[0], channels[0]}), []int{1, 1, 1, 1}, "SAME")
	case 4:
		p.x = ops.Mul(ops.Tanh(x), ops.Sigmoid(p.past[p.IntN(len(p.past))]))
	case 5:
		keep := ops.Cast(ops.Less(ops.RandomUniform(p.g, p.image, tf.Float32, ops.Seed(7)), ops.Scalar(p.g, float32(0.8))), tf.Float32)
		p.x = ops.Mul(x, keep)
	case 6:
		p.x = ops.Add(x, p.past[p.IntN(len(p.past))])
	case 7:
		rows := ops.Reshape(x, []int{-1, channels[0]})
		p.x = ops.Reshape(ops.MatMul(rows, p.variable(tf.Shape{channels[0], channels[0]})), p.image)
	case 8:
		p.x = tf.Cond(p.flag, func() []tf.Output { return []tf.Output{ops.Relu(ops.Square(x))} }, func() []tf.Output { return []tf.Output{ops.Tanh(ops.Neg(x))} })[0]
	case 9:
		w := p.variable(tf.Shape{channels[0], channels[0]})
		p.x = tf.While([]tf.Output{ops.Scalar(p.g, int32(0)), x}, func(v []tf.Output) tf.Output { return ops.Less(v[0], ops.Scalar(p.g, int32(3))) },
			func(v []tf.Output) []tf.Output {
				rows := ops.MatMul(ops.Reshape(v[1], []int{-1, channels[0]}), w)
				return []tf.Output{ops.AddV2(v[0], ops.Scalar(p.g, int32(1))), ops.Tanh(ops.Reshape(rows, p.image))}
			})[1]
	case 10:
		p.x = ops.Softmax(ops.LeakyRelu(ops.MaxPool(x, []int{1, 3, 3, 1}, []int{1, 1, 1, 1}, "SAME")))
	}
}

// step returns what one step of training is: the loss and the gradients, which are applied.
func (p *network) step() []tf.Fetchable {
	loss := ops.Square(p.x).Mean()
	fetches := []tf.Fetchable{loss}
	if len(p.vars) == 0 {
		p.x = ops.Mul(p.x, p.variable(p.image[3:]))
		return p.step()
	}
	var values []tf.Output
	for _, v := range p.vars {
		values = append(values, v.Value())
	}
	gradients, err := tf.Gradients(loss, values...)
	if err != nil {
		p.Fatal(err)
	}
	for i, dv := range gradients {
		if dv.Graph() == nil {
			continue
		}
		update := p.vars[i].AssignSub(ops.Mul(dv, ops.Scalar(p.g, float32(0.01))))
		fetches = append(fetches, dv, update)
	}
	if err := p.g.Err(); err != nil {
		p.Fatal(err)
	}
	return fetches
}

// train runs some steps in a session, and returns what they give and how many nodes were
// copies.
func (p *network) train(cfg session.Config, fetches []tf.Fetchable) (values []*tf.Tensor, copies int) {
	cfg.Devices = map[string]int{"CPU": 2}
	s, err := session.New(p.g, session.With(cfg))
	if err != nil {
		p.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(p.Context(), nil, tf.InitializeAll(p.g)); err != nil {
		p.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 3 {
		x := core.NewTensor(tf.Float32, p.image)
		for i := range core.Data[float32](x) {
			core.Data[float32](x)[i] = float32(r.NormFloat64())
		}
		out, m, err := s.RunWithOptions(p.Context(), session.RunOptions{PartitionGraphs: k == 0}, session.Feeds{p.flag: tf.Scalar(k%2 == 0), p.in: (*tf.Tensor)(x)}, fetches...)
		if err != nil {
			p.Fatal(err)
		}
		values = append(values, out...)
		for _, g := range m.GetPartitionGraphs() {
			for _, n := range g.GetNode() {
				if strings.HasPrefix(n.GetName(), "Recomputed/") {
					copies++
				}
			}
		}
	}
	return values, copies
}

// TestValuesAreTheSame trains networks, as written and with values computed again in
// different ways, and compares losses and gradients bit by bit.
func TestValuesAreTheSame(t *testing.T) {
	copied := map[string]int{}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			p := newNetwork(t, seed)
			fetches := p.step()
			want, copies := p.train(session.Config{DisabledPasses: []string{"recomputation"}}, fetches)
			if copies != 0 {
				t.Errorf("%d nodes are computed again where that is disabled", copies)
			}
			for name, cfg := range map[string]session.Config{
				"scopes": {DisabledPasses: []string{"fusion"}}, "scopes fused": {},
				"memory": {SaveMemory: true, DisabledPasses: []string{"fusion"}}, "memory fused": {SaveMemory: true}, "one thread": {SaveMemory: true, Threads: 1},
			} {
				got, copies := p.train(cfg, fetches)
				copied[name] += copies
				if !slices.EqualFunc(got, want, sameBits) {
					t.Errorf("%s: values differ", name)
				}
			}
		})
	}
	if copied["scopes"] < seeds || copied["memory"] <= copied["scopes"] {
		t.Errorf("too little is computed again: %v", copied)
	}
}

func sameBits(a, b *tf.Tensor) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := tf.Data[float32](a), tf.Data[float32](b)
	return a.Shape().Equal(b.Shape()) && slices.EqualFunc(x, y, func(v, w float32) bool { return math.Float32bits(v) == math.Float32bits(w) })
}
