package main

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/train"
)

// whileCounter is workload 9.
func whileCounter(b *bench) {
	for _, mode := range []string{"as_written", "default"} {
		for _, name := range []string{"counter", "counter_acc"} {
			b.counter(name, mode)
		}
	}
}

func (b *bench) counter(name, mode string) {
	g := tf.NewGraph()
	n, y := ops.Placeholder(g, tf.Int32, tf.Shape{}), ops.Placeholder(g, tf.Float32, tf.Shape{})
	vars := []tf.Output{ops.Scalar(g, int32(0))}
	if name == "counter_acc" {
		vars = append(vars, ops.Scalar(g, float32(0)))
	}
	out := tf.While(vars, func(v []tf.Output) tf.Output { return ops.Less(v[0], n) }, func(v []tf.Output) []tf.Output {
		next := []tf.Output{ops.AddV2(v[0], ops.Scalar(g, int32(1)))}
		if len(v) > 1 {
			next = append(next, ops.AddV2(v[1], y))
		}
		return next
	})
	s := b.open(g, mode == "as_written")
	defer s.Close()
	c := must(s.MakeCallable([]tf.Output{n, y}, out[len(out)-1]))
	rounds := b.steps(100000)
	run := func() *tf.Tensor { return must(c.Run(ctx, tf.Scalar(int32(rounds)), tf.Scalar(float32(0.5))))[0] }
	if v := run(); mode == "as_written" {
		if v.DType() == tf.Int32 {
			b.check(name+".result", float64(tf.Data[int32](v)[0]), nil)
		} else {
			b.check(name+".result", float64(tf.Data[float32](v)[0]), nil)
		}
	}
	b.emit(name+"."+mode+".ns_per_iteration", b.best(1, b.repeat, func() { run() })*1e9/float64(rounds), "ns")
}

const (
	lstmBatch, lstmSteps, words, units = 32, 20, 1000, 128
)

// lstmNet is the network of workload 6.
type lstmNet struct {
	g                        *tf.Graph
	embedding, cell, project *tf.Variable
	cellBias, projectBias    *tf.Variable
}

func newLSTM(g *tf.Graph) *lstmNet {
	v := func(k, in, out int) *tf.Variable {
		return tf.NewVariable(ops.Const(g, weight(k, in, out), in, out), tf.VariableOptions{Name: "w"})
	}
	zeros := func(n int) *tf.Variable {
		return tf.NewVariable(ops.Const(g, make([]float32, n)), tf.VariableOptions{Name: "b"})
	}
	return &lstmNet{g, v(1, words, units), v(2, 2*units, 4*units), v(3, units, words), zeros(4 * units), zeros(words)}
}

// step is one cell.
func (n *lstmNet) step(x, h, c tf.Output) (tf.Output, tf.Output) {
	axis := ops.Scalar(n.g, int32(1))
	z := ops.BiasAdd(ops.MatMul(ops.ConcatV2([]tf.Output{x, h}, axis), n.cell.Value()), n.cellBias.Value())
	q := ops.Split(z, 4, axis)
	c = ops.AddV2(ops.Mul(ops.Sigmoid(ops.AddV2(q[2], ops.Scalar[float32](n.g, 1))), c), ops.Mul(ops.Sigmoid(q[0]), ops.Tanh(q[1])))
	return ops.Mul(ops.Sigmoid(q[3]), ops.Tanh(c)), c
}

// loss is that of tokens x and the ones that follow, y, both [batch steps].
func (n *lstmNet) loss(x, y tf.Output, loop bool) tf.Output {
	swap := ops.Const(n.g, []int32{1, 0})
	in := ops.ResourceGather(n.embedding.Handle(), ops.Transpose(x, swap), tf.Float32)
	zero := ops.Const(n.g, make([]float32, lstmBatch*units), lstmBatch, units)
	var hs tf.Output
	if loop {
		hs = n.loop(in, zero)
	} else {
		hs = n.unrolled(in, zero)
	}
	flat := ops.Reshape(hs, ops.Const(n.g, []int32{lstmSteps * lstmBatch, units}))
	logits := ops.BiasAdd(ops.MatMul(flat, n.project.Value()), n.projectBias.Value())
	return crossEntropy(logits, ops.Reshape(ops.Transpose(y, swap), ops.Const(n.g, []int32{-1})))
}

func (n *lstmNet) unrolled(in, zero tf.Output) tf.Output {
	var hs []tf.Output
	h, c := zero, zero
	for _, x := range ops.Unpack(in, lstmSteps) {
		h, c = n.step(x, h, c)
		hs = append(hs, h)
	}
	return ops.Pack(hs)
}

func (n *lstmNet) loop(in, zero tf.Output) tf.Output {
	size := ops.Scalar(n.g, int32(lstmSteps))
	xs := ops.NewTensorArray(size, tf.Float32, ops.TensorArrayOpts{}).Unstack(in)
	out := ops.NewTensorArray(size, tf.Float32, ops.TensorArrayOpts{})
	v := tf.While([]tf.Output{ops.Scalar(n.g, int32(0)), zero, zero, out.Flow()},
		func(v []tf.Output) tf.Output { return ops.Less(v[0], size) },
		func(v []tf.Output) []tf.Output {
			h, c := n.step(xs.Read(v[0]), v[1], v[2])
			return []tf.Output{ops.AddV2(v[0], ops.Scalar(n.g, int32(1))), h, c, out.WithFlow(v[3]).Write(v[0], h).Flow()}
		})
	return out.WithFlow(v[3]).Stack()
}

// lstmTrain is workload 6.
func lstmTrain(b *bench) {
	for _, name := range []string{"while", "unrolled"} {
		g := tf.NewGraph()
		x, y := ops.Placeholder(g, tf.Int32, tf.Shape{lstmBatch, lstmSteps}), ops.Placeholder(g, tf.Int32, tf.Shape{lstmBatch, lstmSteps})
		loss := newLSTM(g).loss(x, y, name == "while")
		step := train.GradientDescent{LearningRate: 2}.Minimize(loss)
		s := b.open(g, false)
		b.training(name+".", s, []tf.Output{x, y}, loss, step, tokenBatches(), 10, 20)
		s.Close()
	}
}

// tokenBatches are ten batches of sequences and the same, one token later.
func tokenBatches() (out []batch) {
	tokens := labels(1003, 10*lstmBatch*(lstmSteps+1), words)
	for j := range 10 {
		x, y := make([]int32, 0, lstmBatch*lstmSteps), make([]int32, 0, lstmBatch*lstmSteps)
		for r := j * lstmBatch; r < (j+1)*lstmBatch; r++ {
			row := tokens[r*(lstmSteps+1) : (r+1)*(lstmSteps+1)]
			x, y = append(x, row[:lstmSteps]...), append(y, row[1:]...)
		}
		out = append(out, batch{tensor(x, lstmBatch, lstmSteps), tensor(y, lstmBatch, lstmSteps)})
	}
	return out
}

// queues is workload 10.
func queues(b *bench) {
	b.queue("scalar.", b.steps(1000), tf.Scalar(float32(1.5)))
	b.queue("1MiB.", 64, tensor(uniform(1, 1<<18, 1), 1<<18))
	b.pipe()
}

func (b *bench) queue(name string, n int, v *tf.Tensor) {
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, v.Shape())
	q := queue.NewFIFO(g, []tf.DType{tf.Float32}, queue.Opts{Capacity: n})
	put, get := q.Enqueue([]tf.Output{x}), q.Dequeue()[0]
	s := b.open(g, false)
	defer s.Close()
	enqueue, dequeue := must(s.MakeCallable([]tf.Output{x}, put)), must(s.MakeCallable(nil, get))
	var last *tf.Tensor
	in, out := 1e9, 1e9
	for range b.repeat {
		in = min(in, b.best(n, 1, func() { must(enqueue.Run(ctx, v)) }))
		out = min(out, b.best(n, 1, func() { last = must(dequeue.Run(ctx))[0] }))
	}
	b.emit(name+"enqueue_per_s", 1/in, "ops/s")
	b.emit(name+"dequeue_per_s", 1/out, "ops/s")
	sum := 0.0
	for _, f := range tf.Data[float32](last) {
		sum += max(float64(f), -float64(f))
	}
	b.check(name+"mean_abs", sum/float64(last.Len()), nil)
}

// pipe lets one goroutine fill a queue that another one empties.
func (b *bench) pipe() {
	n := b.steps(2000)
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{})
	q := queue.NewFIFO(g, []tf.DType{tf.Float32}, queue.Opts{Capacity: 100})
	put, get := q.Enqueue([]tf.Output{x}), q.Dequeue()[0]
	s := b.open(g, false)
	defer s.Close()
	enqueue, dequeue := must(s.MakeCallable([]tf.Output{x}, put)), must(s.MakeCallable(nil, get))
	v := tf.Scalar(float32(1.5))
	t := b.best(1, b.repeat, func() {
		filled := make(chan struct{})
		go func() {
			defer close(filled)
			for range n {
				must(enqueue.Run(ctx, v))
			}
		}()
		for range n {
			must(dequeue.Run(ctx))
		}
		<-filled
	})
	b.emit("scalar.pipe_per_s", float64(n)/t, "ops/s")
}
