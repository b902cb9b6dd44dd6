package main

import (
	"cmp"
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
	"github.com/gorge-tf/gorge/tf/train"
)

// convNet numbers the weights of a network with convolutions, and keeps what
// updates its moving statistics.
type convNet struct {
	mlp
	training bool
	slack    float32 // added to variances; 0 stands for 1e-5
	updates  []*tf.Operation
}

func (m *convNet) epsilon() float32 { return cmp.Or(m.slack, 1e-5) }

// conv adds a convolution by a k×k filter without a bias.
func (m *convNet) conv(x tf.Output, k, in, out, stride int) tf.Output {
	m.weights++
	r := k * k
	values := uniform(uint32(m.weights), r*in*out, float64(float32(math.Sqrt(6/float64(r*in+r*out)))))
	w := tf.NewVariable(ops.Const(m.g, values, k, k, in, out), tf.VariableOptions{Name: "w"})
	return ops.Conv2D(x, w.Value(), []int{1, stride, stride, 1}, "SAME")
}

// filled adds a variable of n equal values.
func (m *convNet) filled(n int, value float32, trained bool) *tf.Variable {
	v := make([]float32, n)
	for i := range v {
		v[i] = value
	}
	return tf.NewVariable(ops.Const(m.g, v, n), tf.VariableOptions{Name: "v", NotTrainable: !trained})
}

func (m *convNet) bias(x tf.Output, n int) tf.Output {
	return ops.BiasAdd(x, m.filled(n, 0, true).Value())
}

// normalized is a batch normalization with the updates of its statistics.
func (m *convNet) normalized(x tf.Output, n int) tf.Output {
	scale, offset := m.filled(n, 1, true), m.filled(n, 0, true)
	mean, variance := m.filled(n, 0, false), m.filled(n, 1, false)
	if !m.training {
		return ops.FusedBatchNormV3(x, scale.Value(), offset.Value(), mean.Value(), variance.Value(), ops.BatchNormOpts{Epsilon: m.epsilon(), Inference: true})[0]
	}
	none := ops.Const(m.g, []float32{})
	y := ops.FusedBatchNormV3(x, scale.Value(), offset.Value(), none, none, ops.BatchNormOpts{Epsilon: m.epsilon()})
	for i, v := range []*tf.Variable{mean, variance} {
		m.updates = append(m.updates, v.AssignSub(ops.Mul(ops.Sub(v.Read(), y[1+i]), ops.Scalar(m.g, float32(0.1)))))
	}
	return y[0]
}

// lenet adds the network of workload 4 up to the logits of images
// [n 28 28 1].
func (m *convNet) lenet(x tf.Output, n int) tf.Output {
	pool := func(x tf.Output) tf.Output { return ops.MaxPool(x, []int{1, 2, 2, 1}, []int{1, 2, 2, 1}, "SAME") }
	y := pool(ops.Relu(m.bias(m.conv(x, 5, 1, 32, 1), 32)))
	y = pool(ops.Relu(m.bias(m.conv(y, 5, 32, 64, 1), 64)))
	y = ops.Reshape(y, ops.Const(m.g, []int32{int32(n), 3136}))
	return m.dense(ops.Relu(m.dense(y, 3136, 1024)), 1024, 10)
}

// resnet20 adds the network of workload 5 up to the logits of images
// [n 32 32 3].
func (m *convNet) resnet20(x tf.Output) tf.Output {
	cb := func(x tf.Output, k, in, out, stride int) tf.Output {
		return m.normalized(m.conv(x, k, in, out, stride), out)
	}
	y, in := ops.Relu(cb(x, 3, 3, 16, 1)), 16
	for _, out := range []int{16, 32, 64} {
		for block := range 3 {
			stride := 1
			if block == 0 && out > 16 {
				stride = 2
			}
			h := cb(ops.Relu(cb(y, 3, in, out, stride)), 3, out, out, 1)
			if stride == 2 {
				y = cb(y, 1, in, out, 2)
			}
			y, in = ops.Relu(ops.AddV2(h, y)), out
		}
	}
	return m.dense(ops.Mean(y, ops.Const(m.g, []int32{1, 2})), 64, 10)
}

// lenetTrain is workload 4.
func lenetTrain(b *bench) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, tf.Shape{64, 28, 28, 1}), ops.Placeholder(g, tf.Int32, tf.Shape{64})
	loss := crossEntropy((&convNet{mlp: mlp{g: g}}).lenet(x, 64), y)
	step := train.Adam{LearningRate: 0.001}.Minimize(loss)
	s := b.open(g, false)
	defer s.Close()
	b.training("", s, []tf.Output{x, y}, loss, step, imageBatches(10, 64, 28, 28, 1), 10, 10)
}

// resnetTrain is workload 5.
func resnetTrain(b *bench) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, tf.Shape{32, 32, 32, 3}), ops.Placeholder(g, tf.Int32, tf.Shape{32})
	m := &convNet{mlp: mlp{g: g}, training: true}
	loss := crossEntropy(m.resnet20(x), y)
	step := train.Momentum{LearningRate: 0.05, Momentum: 0.9}.Minimize(loss)
	s := b.open(g, false)
	defer s.Close()
	b.training("", s, []tf.Output{x, y}, loss, tf.Group(g, "step", append(m.updates, step)...), imageBatches(4, 32, 32, 32, 3), 5, 5)
}

// cnnLatency is workload 14.
func cnnLatency(b *bench) {
	for _, n := range []struct {
		name  string
		shape []int
		build func(m *convNet, x tf.Output) tf.Output
		calls int
	}{
		{"lenet_b1", []int{1, 28, 28, 1}, func(m *convNet, x tf.Output) tf.Output { return m.lenet(x, 1) }, 100},
		{"resnet20_b1", []int{1, 32, 32, 3}, (*convNet).resnet20, 50},
	} {
		g := tf.NewGraph()
		x := ops.Placeholder(g, tf.Float32, tf.Shape(n.shape))
		out := ops.Softmax(n.build(&convNet{mlp: mlp{g: g}}, x))
		image := tensor(positive(1001, tf.Shape(n.shape).NumElements()), n.shape...)
		s := b.open(g, false)
		defer s.Close()
		must(s.Run(ctx, nil, tf.InitializeAll(g)))
		if b.trace != "" {
			for range n.calls {
				must(s.Run(ctx, session.Feeds{x: image}, out))
			}
			b.traceStep(n.name+".", s, []tf.Output{x}, []*tf.Tensor{image}, out)
			continue
		}
		b.check(n.name+".p0", float64(must(session.Fetch[float32](ctx, s, session.Feeds{x: image}, out))[0]), nil)
		b.ways(n.name, n.calls, s, x, image, out)
	}
}
