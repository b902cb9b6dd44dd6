package main

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/image"
	"github.com/gorge-tf/gorge/tf/train"
)

// layer measures what build makes of variables, and its gradients with respect to all of
// them but the last few, under the passes of a session.
func (b *bench) layer(name string, inputs []*tf.Tensor, constants int, build func(in []tf.Output) tf.Output) {
	for _, back := range []bool{false, true} {
		k := kernelCase{name: name + ".fwd", inputs: inputs}
		if back {
			k.name = name + ".train"
		}
		if !b.wants(k.name) {
			continue
		}
		g := tf.NewGraph()
		var feeds, in []tf.Output
		for _, t := range inputs {
			p := ops.Placeholder(g, t.DType(), t.Shape())
			feeds, in = append(feeds, p), append(in, tf.NewVariable(p, tf.VariableOptions{NotTrainable: true}).Value())
		}
		y := build(in)
		targets := []tf.Fetchable{y.Operation()}
		if back {
			grads := must(tf.Gradients(ops.L2Loss(y), in[:len(in)-constants]...))
			y, targets = grads[0], nil
			for _, d := range grads {
				targets = append(targets, d.Operation())
			}
		}
		s := b.open(g, false)
		initialize(s, feeds, inputs)
		b.checkKernel(&k, must(s.Run(ctx, nil, y))[0])
		c := must(s.MakeCallable(nil, targets...))
		b.emit(k.name+".us", b.bestAuto(func() { must(c.Run(ctx)) })*1e6, "us")
		s.Close()
	}
}

// norms measures a layer's normalization as tf.nn.moments and tf.nn.batch_normalization
// write it.
func (b *bench) norms() {
	b.layer("layer_norm_4096x1024", []*tf.Tensor{u(1, 4096, 1024), u(2, 1024), u(3, 1024)}, 0, func(in []tf.Output) tf.Output {
		kept := ops.ReduceOpts{KeepDims: true}
		mean := ops.Mean(in[0], []int{1}, kept)
		variance := ops.Mean(ops.SquaredDifference(in[0], ops.StopGradient(mean)), []int{1}, kept)
		inv := ops.Mul(ops.Rsqrt(ops.AddV2(variance, number(mean, 1e-3))), in[1])
		return ops.AddV2(ops.Mul(in[0], inv), ops.Sub(in[2], ops.Mul(mean, inv)))
	})
}

func (b *bench) attention() {
	const n, heads, steps, size = 8, 8, 128, 64
	mask := make([]float32, n*steps)
	for i, length := range labels(4, n, steps/2) {
		for j := int(length) + steps/2; j < steps; j++ {
			mask[i*steps+j] = -10000
		}
	}
	in := []*tf.Tensor{u(1, n, heads, steps, size), u(2, n, heads, steps, size), u(3, n, heads, steps, size), tensor(mask, n, 1, 1, steps)}
	b.layer("attention_8x8x128x64", in, 1, func(in []tf.Output) tf.Output {
		scores := ops.Mul(ops.BatchMatMulV2(in[0], in[1], ops.BatchMatMulOpts{AdjY: true}), number(in[0], 0.125))
		return ops.BatchMatMulV2(ops.Softmax(ops.AddV2(scores, in[3])), in[2])
	})
}

// embeddings measures how optimizers apply a gradient of rows, most of which come often.
func (b *bench) embeddings() {
	for _, c := range []struct {
		name string
		o    train.Optimizer
	}{
		{"sgd", train.GradientDescent{LearningRate: 0.01}}, {"momentum", train.Momentum{LearningRate: 0.01, Momentum: 0.9}},
		{"adagrad", train.Adagrad{LearningRate: 0.1}}, {"adam", train.Adam{LearningRate: 0.001}},
	} {
		if b.wants("embedding_" + c.name) {
			b.embedding("embedding_"+c.name, c.o)
		}
	}
}

func (b *bench) embedding(name string, o train.Optimizer) {
	const rows, width, n = 100000, 128, 8192
	g := tf.NewGraph()
	inputs := []*tf.Tensor{u(1, rows, width), u(2, n, width), spread(n)}
	var feeds []tf.Output
	var vars []*tf.Variable
	for i, t := range inputs {
		p := ops.Placeholder(g, t.DType(), t.Shape())
		feeds, vars = append(feeds, p), append(vars, tf.NewVariable(p, tf.VariableOptions{NotTrainable: i > 0}))
	}
	grad := tf.Sparse(tf.IndexedSlices{Values: vars[1].Value(), Indices: vars[2].Value(), DenseShape: ops.Const(g, []int32{rows, width}, 2)})
	op := must(o.ApplyGradients([]train.GradVar{{Grad: grad, Var: vars[0]}}))
	s := b.open(g, true)
	defer s.Close()
	initialize(s, feeds, inputs)
	c := must(s.MakeCallable(nil, op))
	must(c.Run(ctx))
	k := kernelCase{name: name, inputs: inputs}
	b.checkKernel(&k, must(s.Run(ctx, nil, vars[0].Value()))[0])
	b.emit(name+".us", b.bestAuto(func() { must(c.Run(ctx)) })*1e6, "us")
}

// spread returns n ids of 1000 rows, 97 rows apart.
func spread(n int) *tf.Tensor {
	v := labels(2, n, 1000)
	for i := range v {
		v[i] *= 97
	}
	return tensor(v, n)
}

// jpegs measures the decoding of what the same program encodes.
func (b *bench) jpegs() {
	for _, size := range []struct {
		name   string
		copies int
		h, w   int
	}{{"decode_jpeg_224x224", 5, 224, 224}, {"decode_jpeg_768x1024", 1, 768, 1024}} {
		if !b.wants(size.name) {
			continue
		}
		g := tf.NewGraph()
		file := ops.Identity(image.EncodeJpeg(ops.Const(g, picture(size.h, size.w), size.h, size.w, 3), tf.Attr("quality", 95)))
		s := b.open(g, true)
		data := must(s.Run(ctx, nil, file))[0]
		s.Close()
		k := opCase(size.name, "DecodeJpeg", 0, float64(size.h*size.w), []*tf.Tensor{data})
		k.copies = size.copies
		b.kernel(&k)
	}
}

// picture returns pixels that change slowly from one corner of a cell of 16 to the next,
// and some noise.
func picture(h, w int) []uint8 {
	const cell = 16
	across := w/cell + 2
	corner, noise := labels(1, (h/cell+2)*across*3, 240), labels(2, h*w*3, 16)
	out := make([]uint8, h*w*3)
	for i := range out {
		c, x, y := i%3, i/3%w, i/3/w
		at := func(dy, dx int) int { return int(corner[((y/cell+dy)*across+x/cell+dx)*3+c]) }
		fx, fy := x%cell, y%cell
		v := (at(0, 0)*(cell-fx)+at(0, 1)*fx)*(cell-fy) + (at(1, 0)*(cell-fx)+at(1, 1)*fx)*fy
		out[i] = uint8(v/(cell*cell) + int(noise[i]))
	}
	return out
}
