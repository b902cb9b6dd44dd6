package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/normalization"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const in, out = "y_backprop: T; x: T; scale: float; reserve_space_1: U; reserve_space_2: U", "x_backprop: T; scale_backprop: U; offset_backprop: U; "
	core.Register(core.OpDef{
		Name: "FusedBatchNormGrad", In: "y_backprop: T; x: T; scale: T; reserve_space_1: T; reserve_space_2: T",
		Out:   "x_backprop: T; scale_backprop: T; offset_backprop: T; reserve_space_3: T; reserve_space_4: T",
		Attrs: "T: {float}; " + normEpsilon + imageOrders + training,
		Shape: batchNormGradShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", only(normGradKernels(), tf.Float32)),
	})
	core.Register(core.OpDef{
		Name: "FusedBatchNormGradV2", In: in, Out: out + "reserve_space_3: U; reserve_space_4: U", Attrs: normTypes + "U: {float}; " + normEpsilon + imageOrders + training,
		Shape: batchNormGradShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", normGradKernels()),
	})
	core.Register(core.OpDef{
		Name: "FusedBatchNormGradV3", In: in + "; reserve_space_3: U", Out: out + "reserve_space_4: U; reserve_space_5: U", Attrs: normTypes + "U: {float}; " + normEpsilon + anyOrders + training,
		Shape: batchNormGradShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", normGradKernels()),
	})
}

func batchNormGradShape(c *core.Infer) error {
	s, ok := c.In(0).Merge(c.In(1))
	if !ok {
		return tf.Errorf(tf.InvalidArgument, "Shapes must be equal: y_backprop has shape %v, x %v", c.In(0), c.In(1))
	}
	channels := -1
	if s != nil {
		if len(s) != 4 && len(s) != 5 {
			return tf.Errorf(tf.InvalidArgument, "Shape must be rank 4 or 5: x has shape %v", s)
		}
		channels = s[imageFormatOf(c.Node, len(s)).channel()]
	}
	c.Set(0, s)
	c.Set(1, tf.Shape{channels})
	c.Set(2, tf.Shape{channels})
	c.Set(3, tf.Shape{0})
	c.Set(4, tf.Shape{0})
	return nil
}

// normGradKernels returns the kernels of gradients. That of float32 images with the channels last
// can take in the gradient of a rectifier.
func normGradKernels() byType {
	all := batchNormKernels(func(c *core.OpContext, k computedIn[float32]) error { return batchNormBack(c, k, nil) })
	whole := all[tf.Float32]
	all[tf.Float32] = func(n *core.Node) (core.Kernel, error) {
		k, err := whole(n)
		run, ok := core.AsCompute(k)
		if err != nil || !ok || !n.Bool("is_training") || n.Str("data_format")[1] == 'C' {
			return k, err
		}
		return &core.ChannelGradKernel{Compute: run, Gated: gatedNormBack}, nil
	}
	return all
}

// gatedNormBack has the offset as its last input.
func gatedNormBack(c *core.OpContext, r core.Rectifier) error {
	last := len(c.In) - 1
	channels := c.Input(1).Shape()
	offset, err := channelVector(c, last, "offset", "", channels[len(channels)-1])
	if err != nil {
		return err
	}
	return batchNormBack(c, asItself[float32](), &normalization.Gate{Offset: offset, Most: r.Most})
}

func batchNormBack(c *core.OpContext, k computedIn[float32], gate *normalization.Gate) error {
	dy, x := c.Input(0), c.Input(1)
	f, b, err := normOf(c.Node, x.Shape())
	if err != nil {
		return err
	}
	if !dy.Shape().Equal(x.Shape()) {
		return tf.Errorf(tf.InvalidArgument, "x and y_backprop must have same shape, but x has shape %s and y_backprop has shape %s", x.Shape().String(), dy.Shape().String())
	}
	var vectors [3][]float32
	for i, name := range []string{"scale", "saved_mean", "saved_variance"} {
		if vectors[i], err = channelVector(c, 2+i, name, "", b.C); err != nil {
			return err
		}
	}
	from, images := channelsLast(c, f, k.load(c, dy), x.Shape()), channelsLast(c, f, k.load(c, x), x.Shape())
	out, z, err := k.allocFrom(c, 0, 0, x.DType(), x.Shape())
	if err != nil {
		return err
	}
	var grads [4][]float32
	for i, n := range []int{b.C, b.C, 0, 0} {
		t, err := c.Alloc(1+i, tf.Float32, tf.Shape{n})
		if err != nil {
			return err
		}
		grads[i] = core.Data[float32](t)
	}
	ownOrder(c, f, z, x.Shape(), func(dx []float32) {
		b.Grad(c.ParallelFor, c.Node.Bool("is_training"), gate, dx, grads[0], grads[1], from, images, vectors[0], vectors[1], vectors[2])
	})
	k.finish(out, z)
	return nil
}

func batchNormGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return normBack(op, "FusedBatchNormGrad", dy[0])
}

func batchNormV2Grad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return normBack(op, "FusedBatchNormGradV2", dy[0])
}

func batchNormV3Grad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return normBack(op, "FusedBatchNormGradV3", dy[0], op.Output(5))
}

// normBack differentiates y. Where the moments are given, images are put in
// the order NHWC first, the only one that TensorFlow computes that in.
func normBack(op *tf.Operation, name string, dy tf.Output, more ...tf.Output) []tf.Gradient {
	x, format, isTraining := op.Input(0), op.Str("data_format"), op.Bool("is_training")
	mean, variance := op.Output(3), op.Output(4)
	var back func(tf.Output) tf.Output
	if !isTraining {
		mean, variance = op.Input(3), op.Input(4)
		if f := imageFormatOf(&op.Node, len(format)); f.channelsFirst {
			back = func(d tf.Output) tf.Output { return Transpose(d, intVec(d, tf.Int32, f.toFirst()...)) }
			x, dy = Transpose(x, intVec(x, tf.Int32, f.toLast()...)), Transpose(dy, intVec(dy, tf.Int32, f.toLast()...))
			format = map[int]string{4: "NHWC", 5: "NDHWC"}[f.rank]
		}
	}
	in := append([]tf.Output{dy, x, op.Input(1), mean, variance}, more...)
	opts := []tf.Option{tf.Attr("epsilon", op.Float("epsilon")), tf.Attr("data_format", format), tf.Attr("is_training", isTraining)}
	d := tf.Apply(nil, name, in, opts...).Outputs()
	if len(d) < 3 { // it could not be added
		return tf.Grads(tf.Apply(nil, name, in, opts...).Output(0), tf.Output{}, tf.Output{}, tf.Output{}, tf.Output{})
	}
	if back != nil {
		d[0] = back(d[0])
	}
	return tf.Grads(d[0], d[1], d[2], tf.Output{}, tf.Output{})
}
