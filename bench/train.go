package main

import (
	"math"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// mlp numbers the weights of a model as it adds them.
type mlp struct {
	g       *tf.Graph
	weights int
	device  string // of the variables
}

// dense adds a fully connected layer with the workload's initial values.
func (m *mlp) dense(x tf.Output, in, out int) tf.Output {
	m.weights++
	var w, c *tf.Variable
	m.g.Device(m.device, func() {
		w = tf.NewVariable(ops.Const(m.g, weight(m.weights, in, out), in, out), tf.VariableOptions{Name: "w"})
		c = tf.NewVariable(ops.Const(m.g, make([]float32, out), out), tf.VariableOptions{Name: "b"})
	})
	return ops.BiasAdd(ops.MatMul(x, w.Value()), c.Value())
}

// net adds the network of workload 3 and its loss.
func (m *mlp) net(x, y tf.Output) tf.Output {
	h := ops.Relu(m.dense(x, 784, 512))
	h = ops.Relu(m.dense(h, 512, 512))
	return crossEntropy(m.dense(h, 512, 10), y)
}

func crossEntropy(logits, y tf.Output) tf.Output {
	loss := ops.SparseSoftmaxCrossEntropyWithLogits(y, logits)
	return ops.Mean(loss, ops.Const(loss.Graph(), []int32{0}))
}

// mlpTrain is workload 3.
func mlpTrain(b *bench) {
	batches := imageBatches(10, 100, 784)
	for _, o := range []struct {
		name string
		min  func(tf.Output) *tf.Operation
	}{
		{"sgd", func(l tf.Output) *tf.Operation { return train.GradientDescent{LearningRate: 0.01}.Minimize(l) }},
		{"adam", func(l tf.Output) *tf.Operation { return train.Adam{LearningRate: 0.001}.Minimize(l) }},
	} {
		g := tf.NewGraph()
		x, y := ops.Placeholder(g, tf.Float32, tf.Shape{100, 784}), ops.Placeholder(g, tf.Int32, tf.Shape{100})
		loss := (&mlp{g: g}).net(x, y)
		step := o.min(loss)
		s := b.open(g, false)
		b.training(o.name+".", s, []tf.Output{x, y}, loss, step, batches, 20, 50)
		s.Close()
	}
}

// training checks the first steps and then measures.
func (b *bench) training(name string, s *session.Session, feeds []tf.Output, loss tf.Output, step *tf.Operation, batches []batch, checks, n int) {
	one := b.checked(name, s, feeds, loss, step, batches, checks)
	if b.trace != "" {
		b.traceStep(name, s, feeds, batches[0], loss, step)
		return
	}
	n = b.steps(n)
	for range n {
		one()
	}
	b.emit(name+"steps_per_s", 1/b.best(n, b.repeat, func() { one() }), "steps/s")
}

// traceStep writes the RunMetadata of one step, which bench/tensorflow/memory.py reads.
func (b *bench) traceStep(name string, s *session.Session, feeds []tf.Output, v batch, fetches ...tf.Fetchable) {
	in := session.Feeds{}
	for i, x := range feeds {
		in[x] = v[i]
	}
	_, m, err := s.RunWithOptions(ctx, session.RunOptions{Trace: session.FullTrace}, in, fetches...)
	if err != nil {
		fatal(err)
	}
	file := filepath.Join(b.trace, b.workload+"."+name+"gorge.pb")
	must(0, os.WriteFile(file, must(proto.Marshal(m)), 0o600))
}

// checked initializes a model and reports its first steps. It returns what does
// one more and returns its loss.
func (b *bench) checked(name string, s *session.Session, feeds []tf.Output, loss tf.Output, step *tf.Operation, batches []batch, checks int) func() float64 {
	must(s.Run(ctx, nil, tf.InitializeAll(s.Graph())))
	c := must(s.MakeCallable(feeds, loss, step))
	k := 0
	one := func() float64 {
		v := batches[k%len(batches)]
		k++
		return float64(tf.Data[float32](must(c.Run(ctx, v...))[0])[0])
	}
	before := b.parameters(s)
	var losses []float64
	for range checks {
		losses = append(losses, one())
	}
	b.check(name+"loss_first", losses[0], nil)
	b.check(name+"loss_last", losses[len(losses)-1], nil)
	b.check(name+"param_delta", distance(before, b.parameters(s)), nil)
	return one
}

// parameters returns copies of all trainable variables.
func (b *bench) parameters(s *session.Session) (out [][]float32) {
	for _, v := range tf.Variables(s.Graph(), tf.TrainableVariables) {
		out = append(out, must(session.Fetch[float32](ctx, s, nil, v.Value())))
	}
	return out
}

func distance(a, b [][]float32) float64 {
	sum := 0.0
	for i := range a {
		for j := range a[i] {
			d := float64(a[i][j]) - float64(b[i][j])
			sum += d * d
		}
	}
	return math.Sqrt(sum)
}
