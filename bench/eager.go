package main

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// eagerOps is workload 15.
func eagerOps(b *bench) {
	n := b.steps(100000)
	g := eager.New()
	one := ops.Scalar(g, float32(1))
	adds := func() float64 {
		x := ops.Scalar(g, float32(0))
		for range n {
			x = ops.AddV2(x, one)
		}
		return float64(tf.Data[float32](must(x.Value()))[0])
	}
	b.check("scalar_add.result", adds(), nil)
	t := b.best(1, 8, func() { adds() })
	b.emit("scalar_add.ns_per_op", t*1e9/float64(n), "ns")
	b.emit("scalar_add_raw.ns_per_op", t*1e9/float64(n), "ns")
	b.eagerMLP()
}

func (b *bench) eagerMLP() {
	g := eager.New()
	m := &mlp{g: g}
	var vars []*tf.Variable
	layer := func(in, out int) {
		m.weights++
		vars = append(vars, tf.NewVariable(ops.Const(g, weight(m.weights, in, out), in, out), tf.VariableOptions{}),
			tf.NewVariable(ops.Const(g, make([]float32, out), out), tf.VariableOptions{}))
	}
	layer(784, 128)
	layer(128, 10)
	batches := imageBatches(10, 32, 784)
	k := 0
	step := func() float64 {
		v := batches[k%len(batches)]
		k++
		var loss tf.Output
		tape := eager.Record(g, func() {
			h := ops.Relu(ops.BiasAdd(ops.MatMul(ops.ConstTensor(g, v[0]), vars[0].Value()), vars[1].Value()))
			loss = crossEntropy(ops.BiasAdd(ops.MatMul(h, vars[2].Value()), vars[3].Value()), ops.ConstTensor(g, v[1]))
		})
		for _, gv := range must(train.TapeGradients(tape, loss, vars...)) {
			d := ops.Mul(gv.Grad.Output(), ops.Scalar(g, float32(0.01)))
			if err := gv.Var.AssignSub(d).Err(); err != nil {
				fatal(err)
			}
		}
		return float64(tf.Data[float32](must(loss.Value()))[0])
	}
	values := func() (out [][]float32) {
		for _, v := range vars {
			out = append(out, append([]float32(nil), tf.Data[float32](must(v.Value().Value()))...))
		}
		return out
	}
	before := values()
	var losses []float64
	for range 20 {
		losses = append(losses, step())
	}
	b.check("mlp_b32.loss_first", losses[0], nil)
	b.check("mlp_b32.loss_last", losses[19], nil)
	b.check("mlp_b32.param_delta", distance(before, values()), nil)
	for range 50 {
		step()
	}
	b.emit("mlp_b32.steps_per_s", 1/b.best(b.steps(100), b.repeat, func() { step() }), "steps/s")
}
