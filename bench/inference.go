package main

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// inference is workload 30.
func inference(b *bench) {
	for _, n := range []int{1, 32} {
		b.infer(fmt.Sprintf("resnet50_b%d", n), n, func(g *tf.Graph) (feeds []tf.Output, values []*tf.Tensor, y tf.Output) {
			x := ops.Placeholder(g, tf.Float32, tf.Shape{n, 224, 224, 3})
			return []tf.Output{x}, []*tf.Tensor{tensor(positive(1001, n*224*224*3), n, 224, 224, 3)}, (&convNet{mlp: mlp{g: g}}).resnet50(x)
		})
		b.infer(fmt.Sprintf("encoder_b%d", n), n, func(g *tf.Graph) (feeds []tf.Output, values []*tf.Tensor, y tf.Output) {
			m := &encoder{convNet: convNet{mlp: mlp{g: g}}, batch: n, steps: 128, width: 512, heads: 8, layers: 4, words: 1000}
			words, mask := m.inputs()
			w, masks := m.values(1)
			return []tf.Output{words, mask}, []*tf.Tensor{w[0], masks[0]}, m.encode(words, mask)
		})
	}
}

// infer measures how long one answer takes.
func (b *bench) infer(name string, batch int, build func(*tf.Graph) ([]tf.Output, []*tf.Tensor, tf.Output)) {
	if !b.wants(name) {
		return
	}
	g := tf.NewGraph()
	feeds, values, y := build(g)
	s := b.open(g, false)
	defer s.Close()
	must(s.Run(ctx, nil, tf.InitializeAll(g)))
	c := must(s.MakeCallable(feeds, y))
	if b.trace != "" {
		must(c.Run(ctx, values...))
		b.traceStep(name+".", s, feeds, values, y)
		return
	}
	b.checkKernel(&kernelCase{name: name, inputs: values}, must(c.Run(ctx, values...))[0])
	calls, repeats := 5, b.repeat
	if batch > 1 {
		calls, repeats = 1, 4
	}
	must(c.Run(ctx, values...))
	b.emit(name+".ms", b.best(b.steps(calls), repeats, func() { must(c.Run(ctx, values...)) })*1e3, "ms")
}

// resnet50 adds the network up to the logits of images [n 224 224 3], with the strides
// in the 3×3 convolutions.
func (m *convNet) resnet50(x tf.Output) tf.Output {
	cb := func(x tf.Output, k, in, out, stride int) tf.Output {
		return m.normalized(m.conv(x, k, in, out, stride), out)
	}
	y := ops.MaxPool(ops.Relu(cb(x, 7, 3, 64, 2)), []int{1, 3, 3, 1}, []int{1, 2, 2, 1}, "SAME")
	in := 64
	for i, blocks := range []int{3, 4, 6, 3} {
		width := 64 << i
		for block := range blocks {
			stride := 1
			if block == 0 && i > 0 {
				stride = 2
			}
			h := ops.Relu(cb(ops.Relu(cb(y, 1, in, width, 1)), 3, width, width, stride))
			h = cb(h, 1, width, 4*width, 1)
			if block == 0 {
				y = cb(y, 1, in, 4*width, stride)
			}
			y, in = ops.Relu(ops.AddV2(h, y)), 4*width
		}
	}
	return m.dense(ops.Mean(y, ops.Const(m.g, []int32{1, 2})), 2048, 1000)
}
