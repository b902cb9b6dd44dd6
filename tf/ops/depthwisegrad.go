package ops

import (
	"github.com/gorge-tf/gorge/internal/kernel/conv"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// depthwiseBackArgs checks the shapes of images, filter and the gradient dy of
// the results.
func (a *windowAttrs) depthwiseBackArgs(of string, x, w, dy tf.Shape) (*conv.Depthwise, int, error) {
	bad := func(format string, args ...any) (*conv.Depthwise, int, error) {
		return nil, 0, tf.Errorf(tf.InvalidArgument, of+": "+format, args...)
	}
	switch {
	case len(x) != 4:
		return bad("input must be 4-dimensional")
	case len(w) != 4:
		return bad("filter must be 4-dimensional")
	case len(dy) != 4:
		return bad("out_backprop must be 4-dimensional")
	case x[0] != dy[0]:
		return bad("input and out_backprop must have the same batch size")
	case x[a.channel()] != w[2]:
		return bad("input and filter must have the same in_depth")
	case w[2]*w[3] != dy[a.channel()]:
		return bad("depth_multiplier * in_depth not equal to out_depth")
	}
	v, multiplier, err := a.depthwiseOf(x, w)
	if err != nil {
		return nil, 0, err
	}
	got := a.positions(dy)
	if got[1] != v.Out[1] {
		return bad("Number of rows of out_backprop doesn't match computed: actual = %d, computed = %d", got[1], v.Out[1])
	}
	if got[2] != v.Out[2] {
		return bad("Number of cols of out_backprop doesn't match computed: actual = %d, computed = %d", got[2], v.Out[2])
	}
	return v, multiplier, nil
}

// sizesInput reads the sizes of what a gradient is for.
func sizesInput(t *core.Tensor, of, name string) (tf.Shape, error) {
	if t.Rank() != 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "%s: %s input must be 1-dim, not %d", of, name, t.Rank())
	}
	s, err := shapeOf(t, name)
	if err != nil {
		return nil, err
	}
	return s, checkSizes(s)
}

func depthwiseBackInput[T numeric.Float](c *core.OpContext, a *windowAttrs, k computedIn[T]) error {
	const of = "DepthwiseConv2DBackpropInput"
	w, dy := c.Input(1), c.Input(2)
	s, err := sizesInput(c.Input(0), "Conv2DBackpropInput", "input_sizes")
	if err != nil {
		return err
	}
	v, multiplier, err := a.depthwiseBackArgs(of, s, w.Shape(), dy.Shape())
	if err != nil {
		return err
	}
	out, z, err := k.alloc(c, 0, w.DType(), s)
	if err != nil || len(z) == 0 {
		return err
	}
	grads := channelsLast(c, a.imageFormat, k.load(c, dy), dy.Shape())
	ownOrder(c, a.imageFormat, z, s, func(dx []T) { depthwiseImages(c, v, multiplier, dx, grads, k.load(c, w)) })
	k.finish(out, z)
	return nil
}

// depthwiseImages adds up what the results of each channel give back to it.
func depthwiseImages[T numeric.Float](c *core.OpContext, v *conv.Depthwise, multiplier int, dx, dy, w []T) {
	if multiplier == 1 {
		conv.DepthwiseBackInput(c.ParallelFor, v, dx, dy, w)
		return
	}
	all := core.Borrow[T](c, len(dx)*multiplier)
	if len(all) > 0 {
		conv.DepthwiseBackInput(c.ParallelFor, v, all, dy, w)
	}
	conv.FoldChannels(c.ParallelFor, dx, all, multiplier)
}

func depthwiseBackFilter[T numeric.Float](c *core.OpContext, a *windowAttrs, k computedIn[T]) error {
	const of = "DepthwiseConv2DBackpropFilter"
	x, dy := c.Input(0), c.Input(2)
	s, err := sizesInput(c.Input(1), "Conv2DBackpropFilter", "filter_sizes")
	if err != nil {
		return err
	}
	v, multiplier, err := a.depthwiseBackArgs(of, x.Shape(), s, dy.Shape())
	if err != nil {
		return err
	}
	out, z, err := k.alloc(c, 0, x.DType(), s)
	if err != nil || len(z) == 0 {
		return err
	}
	images := channelsRepeated(c, channelsLast(c, a.imageFormat, k.load(c, x), x.Shape()), multiplier)
	conv.DepthwiseBackFilter(c.ParallelFor, v, z, images, channelsLast(c, a.imageFormat, k.load(c, dy), dy.Shape()))
	k.finish(out, z)
	return nil
}

var depthwiseOps = convOps{"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter"}

func depthwiseGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, w := op.Input(0), op.Input(1)
	return tf.Grads(applyLike(op, depthwiseOps.backInput, Shape(x), w, dy[0]), applyLike(op, depthwiseOps.backFilter, x, Shape(w), dy[0]))
}

func depthwiseBackInputGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return depthwiseOps.backInputGrad(op, dy[0])
}

func depthwiseBackFilterGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	return depthwiseOps.backFilterGrad(op, dy[0])
}
