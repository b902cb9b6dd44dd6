package main

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// chainWidth is how many elements a row of workload 26 has.
const chainWidth = 256

// chains is workload 26: elementwise operations one after another, and what
// normalizations are made of, as programs write them. Each is measured with the passes
// that a session uses by itself, and without the one that fuses.
func chains(b *bench) {
	for _, size := range []struct {
		name string
		n    int
	}{{"1M", million}, {"4K", 4 << 10}} {
		for _, c := range []struct {
			name  string
			build func(x, scale, shift tf.Output) tf.Output
		}{
			{"chain8", func(x, _, _ tf.Output) tf.Output { return cheapChain(x) }},
			{"chain14", func(x, _, _ tf.Output) tf.Output { return mathChain(x) }},
			{"layer_norm", layerNorm}, {"gelu", func(x, _, _ tf.Output) tf.Output { return gelu(x) }},
			{"softmax", func(x, _, _ tf.Output) tf.Output { return softmaxRows(x) }},
		} {
			if b.wants(c.name) {
				b.chain(c.name+"_"+size.name, size.n, c.build)
			}
		}
	}
}

func (b *bench) chain(name string, n int, build func(x, scale, shift tf.Output) tf.Output) {
	g := tf.NewGraph()
	values := []*tf.Tensor{tensor(uniform(1, n, 2), n/chainWidth, chainWidth), tensor(uniform(2, chainWidth, 1), chainWidth), tensor(uniform(3, chainWidth, 1), chainWidth)}
	var feeds, in []tf.Output
	for _, t := range values {
		p := ops.Placeholder(g, t.DType(), t.Shape())
		feeds, in = append(feeds, p), append(in, tf.NewVariable(p, tf.VariableOptions{NotTrainable: true}).Value())
	}
	y := build(in[0], in[1], in[2])
	for _, way := range []struct {
		suffix   string
		disabled []string
	}{{"", nil}, {".unfused", []string{"fusion"}}} {
		s := must(session.New(g, session.With(session.Config{Threads: b.threads, DisabledPasses: way.disabled})))
		initialize(s, feeds, values)
		if way.suffix == "" {
			k := kernelCase{name: name, inputs: values}
			b.checkKernel(&k, must(s.Run(ctx, nil, y))[0])
		}
		c := must(s.MakeCallable(nil, y.Operation()))
		b.emit(name+way.suffix+".us", b.bestAuto(func() { must(c.Run(ctx)) })*1e6, "us")
		s.Close()
	}
}

// number adds a constant of the type of x.
func number(x tf.Output, v float32) tf.Output { return ops.Scalar(x.Graph(), v) }

// cheapChain is eight operations of arithmetic.
func cheapChain(x tf.Output) tf.Output {
	y := ops.AddV2(ops.Mul(x, number(x, 1.5)), number(x, 0.25))
	y = ops.Relu(ops.Sub(ops.Square(y), x))
	return ops.Neg(ops.AddV2(ops.Mul(y, x), x))
}

// mathChain is cheapChain and six more operations, with functions of which each takes
// longer than moving its operand.
func mathChain(x tf.Output) tf.Output {
	y := ops.Exp(ops.Mul(ops.Tanh(cheapChain(x)), number(x, 0.5)))
	return ops.Sub(ops.Maximum(ops.AddV2(y, x), number(x, 0.1)), x)
}

func layerNorm(x, scale, shift tf.Output) tf.Output {
	mean := ops.Mean(x, []int{1}, ops.ReduceOpts{KeepDims: true})
	variance := ops.Mean(ops.SquaredDifference(x, mean), []int{1}, ops.ReduceOpts{KeepDims: true})
	y := ops.Mul(ops.Sub(x, mean), ops.Rsqrt(ops.AddV2(variance, number(x, 1e-5))))
	return ops.AddV2(ops.Mul(y, scale), shift)
}

// gelu is the one of Hendrycks and Gimpel, approximated by a tangent.
func gelu(x tf.Output) tf.Output {
	cube := ops.Mul(ops.Mul(x, x), x)
	inner := ops.Mul(number(x, float32(math.Sqrt(2/math.Pi))), ops.AddV2(x, ops.Mul(number(x, 0.044715), cube)))
	return ops.Mul(ops.Mul(number(x, 0.5), x), ops.AddV2(number(x, 1), ops.Tanh(inner)))
}

func softmaxRows(x tf.Output) tf.Output {
	e := ops.Exp(ops.Sub(x, ops.Max(x, []int{1}, ops.ReduceOpts{KeepDims: true})))
	return ops.RealDiv(e, ops.Sum(e, []int{1}, ops.ReduceOpts{KeepDims: true}))
}
