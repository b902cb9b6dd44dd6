package main

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// convolution says what is convolved with what: SAME, channels last.
type convolution struct {
	n, size, in, out, kernel, stride, copies int
}

func (c convolution) name() string {
	stride := ""
	if c.stride > 1 {
		stride = fmt.Sprintf("s%d", c.stride)
	}
	return fmt.Sprintf("conv_%[1]dx%[1]d%[2]s_%[3]dx%[4]dx%[4]dx%[5]d_%[6]d", c.kernel, stride, c.n, c.size, c.in, c.out)
}

func convolutions() (out []kernelCase) {
	for _, c := range []convolution{{8, 56, 64, 64, 3, 1, 1}, {8, 28, 128, 512, 1, 1, 1}, {8, 56, 128, 128, 3, 2, 1}, {8, 224, 3, 64, 7, 2, 1}, {64, 28, 1, 32, 5, 1, 2}} {
		out = append(out, c.cases()...)
	}
	return out
}

// cases are the convolution and its two gradients.
func (c convolution) cases() []kernelCase {
	small := (c.size + c.stride - 1) / c.stride
	x, w, dy := u(1, c.n, c.size, c.size, c.in), u(2, c.kernel, c.kernel, c.in, c.out), u(3, c.n, small, small, c.out)
	work := 2 * float64(c.n*small*small*c.kernel*c.kernel) * float64(c.in*c.out)
	strides := []int{1, c.stride, c.stride, 1}
	shape := func(g *tf.Graph, t *tf.Tensor) tf.Output {
		s := make([]int32, len(t.Shape()))
		for i, d := range t.Shape() {
			s[i] = int32(d)
		}
		return ops.Const(g, s)
	}
	return []kernelCase{
		{c.name() + ".fwd", c.copies, []*tf.Tensor{x, w}, func(_ *tf.Graph, in []tf.Output) tf.Output {
			return ops.Conv2D(in[0], in[1], strides, "SAME")
		}, work, true},
		{c.name() + ".bwd_filter", c.copies, []*tf.Tensor{x, dy}, func(g *tf.Graph, in []tf.Output) tf.Output {
			return ops.Conv2DBackpropFilter(in[0], shape(g, w), in[1], strides, "SAME")
		}, work, true},
		{c.name() + ".bwd_input", c.copies, []*tf.Tensor{w, dy}, func(g *tf.Graph, in []tf.Output) tf.Output {
			return ops.Conv2DBackpropInput(shape(g, x), in[0], in[1], strides, "SAME")
		}, work, true},
	}
}

// filled is a vector of n equal numbers.
func filled(n int, v float32) *tf.Tensor {
	x := make([]float32, n)
	for i := range x {
		x[i] = v
	}
	return tensor(x, n)
}

// layerKernels are what stands between convolutions, and the ten largest of many.
func layerKernels() []kernelCase {
	x, y := u(1, 32, 32, 32, 64), u(2, 32, 32, 32, 64)
	big, table := u(1, 8, 112, 112, 64), u(1, 256, 10000)
	two, three := []int{1, 2, 2, 1}, []int{1, 3, 3, 1}
	return []kernelCase{
		{"batch_norm_train_32x32x32x64", 2, []*tf.Tensor{x, filled(64, 1), filled(64, 0)}, func(g *tf.Graph, in []tf.Output) tf.Output {
			none := ops.Const(g, []float32{}, 0)
			return ops.FusedBatchNormV3(in[0], in[1], in[2], none, none, tf.Attr("epsilon", float32(1e-5)))[0]
		}, float64(x.Len()), false},
		{"batch_norm_grad_32x32x32x64", 2, []*tf.Tensor{y, x, filled(64, 1), filled(64, 0), filled(64, 1./3)}, func(_ *tf.Graph, in []tf.Output) tf.Output {
			return tf.Apply(nil, "FusedBatchNormGradV3", []tf.Output{in[0], in[1], in[2], in[3], in[4], in[3]}, tf.Attr("epsilon", float32(1e-5))).Output(0)
		}, float64(x.Len()), false},
		{"max_pool_3x3s2_8x112x112x64", 1, []*tf.Tensor{big}, func(_ *tf.Graph, in []tf.Output) tf.Output {
			return ops.MaxPool(in[0], three, two, "SAME")
		}, float64(big.Len()), false},
		{"avg_pool_2x2s2_8x112x112x64", 1, []*tf.Tensor{big}, func(_ *tf.Graph, in []tf.Output) tf.Output {
			return ops.AvgPool(in[0], two, two, "SAME")
		}, float64(big.Len()), false},
		{"top_k_10_256x10000", 1, []*tf.Tensor{table}, func(g *tf.Graph, in []tf.Output) tf.Output {
			v, _ := ops.TopKV2(in[0], ops.Scalar(g, int32(10)))
			return v
		}, float64(table.Len()), false},
	}
}
