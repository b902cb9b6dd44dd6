package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
)

// Conv1D returns the convolution of rows [batch width channels] and a filter
// [width in out] that moves by stride. Padding is "SAME" or "VALID". The
// result is [batch positions out], where positions is width/stride rounded up
// for SAME. Both arguments hold int32 or floating-point numbers (float16,
// bfloat16, float32, float64) of one type, and channels is a multiple of in.
// Other shapes, and a stride that is not positive, are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step.
func Conv1D(x, filter tf.Output, stride int, padding string) tf.Output {
	return scoped("conv1d", x, func() tf.Output {
		y := Conv2D(ExpandDims(x, -3), ExpandDims(filter, 0), []int{1, 1, stride, 1}, padding)
		return Squeeze(y, []int{-3})
	})
}

// Conv1DTranspose returns the gradient of Conv1D for rows of the shape that
// is given: a "deconvolution" of x [batch width in] by a filter
// [width out in]. shape is [batch width out], the shape of the result; as a
// tensor it is of type int32. x and filter hold int32 or floating-point
// numbers of one type. x must have the shape that Conv1D gives for such rows.
// Other shapes are refused with INVALID_ARGUMENT.
func Conv1DTranspose[S tf.Ints](x, filter tf.Output, shape S, stride int, padding string) tf.Output {
	return scoped("conv1d_transpose", x, func() tf.Output {
		size, zero := author.AsInts(x, shape), intScalar(x, tf.Int32, 0)
		size = ConcatV2([]tf.Output{size.At(":1"), intVec(x, tf.Int32, 1), size.At("1:")}, zero)
		y := Conv2DBackpropInput(size, ExpandDims(filter, 0), ExpandDims(x, 1), []int{1, 1, stride, 1}, padding)
		return Squeeze(y, []int{1})
	})
}

// Conv2DTranspose returns the gradient of Conv2D for images of the shape that
// is given: a "deconvolution" of x [batch height width in] by a filter
// [height width out in]. Such convolutions are those of Zeiler et al. (CVPR
// 2010). Options are those of Conv2D; with WindowOpts.Dilations it is an
// atrous one. shape is that of the result; as a tensor it is of type int32. x
// and filter hold int32 or floating-point numbers of one type. x must have
// the shape that Conv2D gives for such images. Other shapes are refused with
// INVALID_ARGUMENT.
func Conv2DTranspose[S tf.Ints](x, filter tf.Output, shape S, strides []int, padding string, opts ...tf.Option) tf.Output {
	return scoped("conv2d_transpose", x, func() tf.Output {
		return Conv2DBackpropInput(author.AsInts(x, shape), filter, x, strides, padding, opts...)
	})
}

// Conv3DTranspose returns the gradient of Conv3D for volumes of the shape
// that is given, by a filter [depth height width out in]. Options are those
// of Conv3D. shape is that of the result, as a tensor of type int32 or int64.
// x and filter hold floating-point numbers of one type. x must have the shape
// that Conv3D gives for such volumes. Other shapes are refused with
// INVALID_ARGUMENT.
func Conv3DTranspose[S tf.Ints](x, filter tf.Output, shape S, strides []int, padding string, opts ...tf.Option) tf.Output {
	return scoped("conv3d_transpose", x, func() tf.Output {
		return Conv3DBackpropInputV2(author.AsInts(x, shape), filter, x, strides, padding, opts...)
	})
}

// SeparableConv2D filters each channel of images
// [batch height width channels] by depthwise
// [height width channels multiplier], and mixes the results by pointwise
// [1 1 channels·multiplier out]. It is DepthwiseConv2dNative, by strides and
// padding, and then Conv2D; the result has out channels. Such convolutions
// are those of Chollet (CVPR 2017, arXiv:1610.02357). All arguments hold
// floating-point numbers of one type. Shapes that do not fit, and strides
// that differ in height and width, are refused with INVALID_ARGUMENT, when
// the graph is built if they are known, else in the step.
func SeparableConv2D(x, depthwise, pointwise tf.Output, strides []int, padding string, o ...WindowOpts) tf.Output {
	return scoped("separable_conv2d", x, func() tf.Output {
		var first []tf.Option
		var second []tf.Option
		for _, w := range o {
			first, second = append(first, w), append(second, WindowOpts{DataFormat: w.DataFormat})
		}
		y := DepthwiseConv2dNative(x, depthwise, strides, padding, tf.Join(first, tf.Name("depthwise"))...)
		return Conv2D(y, pointwise, []int{1, 1, 1, 1}, "VALID", second...)
	})
}

// AvgPool1D returns the means of windows of rows [batch width channels] that
// move by stride. The padding is "SAME" or "VALID"; the positions that SAME
// adds do not count. x holds floating-point numbers, and the result
// [batch positions channels] has its type. An x of another rank, and a window
// or stride that is not positive, are refused with INVALID_ARGUMENT.
func AvgPool1D(x tf.Output, window, stride int, padding string) tf.Output {
	return scoped("avg_pool1d", x, func() tf.Output {
		y := AvgPool(ExpandDims(x, 1), []int{1, 1, window, 1}, []int{1, 1, stride, 1}, padding)
		return Squeeze(y, []int{1})
	})
}

// MaxPool1D returns the maxima of windows of rows [batch width channels] that
// move by stride. The padding is "SAME" or "VALID". The result
// [batch positions channels] has the type of x, which is one that MaxPool
// takes. An x of another rank, and a window or stride that is not positive,
// are refused with INVALID_ARGUMENT.
func MaxPool1D(x tf.Output, window, stride int, padding string) tf.Output {
	return scoped("max_pool1d", x, func() tf.Output {
		y := MaxPool(ExpandDims(x, 1), []int{1, 1, window, 1}, []int{1, 1, stride, 1}, padding)
		return Squeeze(y, []int{1})
	})
}

// Pool returns the means ("AVG") or maxima ("MAX") of windows that move by
// strides over one to three spatial dimensions: x is
// [batch spatial... channels], window and strides have a number for each
// spatial dimension. The padding is "SAME" or "VALID". The result is that of
// AvgPool1D, MaxPool1D, AvgPool, MaxPool, AvgPool3D or MaxPool3D. Another
// kind, and windows and strides of different or other lengths, are refused
// with INVALID_ARGUMENT when the graph is built.
func Pool(x tf.Output, window []int, kind, padding string, strides []int) tf.Output {
	return scoped("pool", x, func() tf.Output {
		if len(window) != len(strides) || len(window) < 1 || len(window) > 3 || kind != "AVG" && kind != "MAX" {
			return refused(x, "pool", "a pool is AVG or MAX and has windows and strides for 1 to 3 dimensions, got %q, %v, %v", kind, window, strides)
		}
		size, by := around(window), around(strides)
		switch {
		case len(window) == 1 && kind == "AVG":
			return AvgPool1D(x, window[0], strides[0], padding)
		case len(window) == 1:
			return MaxPool1D(x, window[0], strides[0], padding)
		case len(window) == 2 && kind == "AVG":
			return AvgPool(x, size, by, padding)
		case len(window) == 2:
			return MaxPool(x, size, by, padding)
		case kind == "AVG":
			return AvgPool3D(x, size, by, padding)
		}
		return MaxPool3D(x, size, by, padding)
	})
}

// around puts a 1 before and after v: batches and channels.
func around(v []int) []int { return append(append([]int{1}, v...), 1) }

// Erosion2D returns the least differences of images
// [batch height width channels] and a filter [height width channels] that
// moves over them: the dual of Dilation2D. It is -Dilation2D of -x and the
// filter in reverse order of height and width, so x holds floating-point
// numbers or signed integers. Errors are those of Dilation2D.
func Erosion2D(x, filter tf.Output, strides, rates []int, padding string) tf.Output {
	return scoped("erosion2d", x, func() tf.Output {
		return Neg(Dilation2D(Neg(x), Reverse(filter, []int{0, 1}), strides, rates, padding))
	})
}
