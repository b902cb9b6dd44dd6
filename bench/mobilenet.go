package main

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/train"
)

// depthwise adds a convolution of each channel by its own 3×3 filter.
func (m *convNet) depthwise(x tf.Output, channels, stride int) tf.Output {
	m.weights++
	values := uniform(uint32(m.weights), 9*channels, float64(float32(math.Sqrt(6.0/18))))
	w := tf.NewVariable(ops.Const(m.g, values, 3, 3, channels, 1), tf.VariableOptions{Name: "w"})
	return ops.DepthwiseConv2dNative(x, w.Value(), []int{1, stride, stride, 1}, "SAME")
}

// mobilenet adds the network of workload 29 up to the logits of images
// [n 96 96 3]: MobileNet (Howard et al., arXiv:1704.04861) of full width.
func (m *convNet) mobilenet(x tf.Output) tf.Output {
	active := func(x tf.Output, n int) tf.Output { return ops.Relu6(m.normalized(x, n)) }
	y, in := active(m.conv(x, 3, 3, 32, 2), 32), 32
	for _, b := range []struct{ out, stride int }{
		{64, 1}, {128, 2}, {128, 1}, {256, 2}, {256, 1}, {512, 2}, {512, 1}, {512, 1}, {512, 1}, {512, 1}, {512, 1}, {1024, 2}, {1024, 1},
	} {
		y = active(m.depthwise(y, in, b.stride), in)
		y, in = active(m.conv(y, 1, in, b.out, 1), b.out), b.out
	}
	return m.dense(ops.Mean(y, ops.Const(m.g, []int32{1, 2})), 1024, 10)
}

// mobilenetTrain is workload 29.
func mobilenetTrain(b *bench) {
	g := tf.NewGraph()
	x, y := ops.Placeholder(g, tf.Float32, tf.Shape{16, 96, 96, 3}), ops.Placeholder(g, tf.Int32, tf.Shape{16})
	m := &convNet{mlp: mlp{g: g}, training: true, slack: 1e-3}
	loss := crossEntropy(m.mobilenet(x), y)
	step := train.Momentum{LearningRate: 0.005, Momentum: 0.9}.Minimize(loss)
	s := b.open(g, false)
	defer s.Close()
	b.training("", s, []tf.Output{x, y}, loss, tf.Group(g, "step", append(m.updates, step)...), colouredBatches(4, 16, 96), 1, 2)
}

// colouredBatches are imageBatches of three colours, each of which is as bright in an
// image as chance has it: images of plain noise are all alike to the last layers, and
// their normalization would show rounding only.
func colouredBatches(n, size, side int) []batch {
	batches := imageBatches(n, size, side, side, 3)
	bright := positive(1026, n*size*3)
	for j, b := range batches {
		x := tf.Data[float32](b[0])
		for i := range x {
			x[i] *= bright[(j*size+i/(side*side*3))*3+i%3]
		}
	}
	return batches
}
