package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
)

// Conv1D returns the convolution of rows [batch width channels] and a filter
// [width in out] that moves by stride. Padding is "SAME" or "VALID".
func Conv1D(x, filter tf.Output, stride int, padding string) tf.Output {
	return scoped("conv1d", x, func() tf.Output {
		y := Conv2D(ExpandDims(x, -3), ExpandDims(filter, 0), []int{1, 1, stride, 1}, padding)
		return Squeeze(y, []int{-3})
	})
}

// Conv1DTranspose returns the gradient of Conv1D for rows of the shape that is
// given: a "deconvolution" of x [batch width in] by a filter [width out in].
func Conv1DTranspose[S tf.Ints](x, filter tf.Output, shape S, stride int, padding string) tf.Output {
	return scoped("conv1d_transpose", x, func() tf.Output {
		size, zero := author.AsInts(x, shape), intScalar(x, tf.Int32, 0)
		size = ConcatV2([]tf.Output{size.At(":1"), intVec(x, tf.Int32, 1), size.At("1:")}, zero)
		y := Conv2DBackpropInput(size, ExpandDims(filter, 0), ExpandDims(x, 1), []int{1, 1, stride, 1}, padding)
		return Squeeze(y, []int{1})
	})
}

// Conv2DTranspose returns the gradient of Conv2D for images of the shape that is
// given: a "deconvolution" of x [batch height width in] by a filter
// [height width out in]. Options are those of Conv2D; with WindowOpts.Dilations it
// is an atrous one.
func Conv2DTranspose[S tf.Ints](x, filter tf.Output, shape S, strides []int, padding string, opts ...tf.Option) tf.Output {
	return scoped("conv2d_transpose", x, func() tf.Output {
		return Conv2DBackpropInput(author.AsInts(x, shape), filter, x, strides, padding, opts...)
	})
}

// Conv3DTranspose returns the gradient of Conv3D for volumes of the shape that is
// given, by a filter [depth height width out in]. Options are those of Conv3D.
func Conv3DTranspose[S tf.Ints](x, filter tf.Output, shape S, strides []int, padding string, opts ...tf.Option) tf.Output {
	return scoped("conv3d_transpose", x, func() tf.Output {
		return Conv3DBackpropInputV2(author.AsInts(x, shape), filter, x, strides, padding, opts...)
	})
}

// SeparableConv2D filters each channel of images [batch height width channels] by
// depthwise [height width channels multiplier], and mixes the results by pointwise
// [1 1 channels·multiplier out].
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

// AvgPool1D returns the means of windows of rows [batch width channels] that move by
// stride.
func AvgPool1D(x tf.Output, window, stride int, padding string) tf.Output {
	return scoped("avg_pool1d", x, func() tf.Output {
		y := AvgPool(ExpandDims(x, 1), []int{1, 1, window, 1}, []int{1, 1, stride, 1}, padding)
		return Squeeze(y, []int{1})
	})
}

// MaxPool1D returns the maxima of windows of rows [batch width channels] that move
// by stride.
func MaxPool1D(x tf.Output, window, stride int, padding string) tf.Output {
	return scoped("max_pool1d", x, func() tf.Output {
		y := MaxPool(ExpandDims(x, 1), []int{1, 1, window, 1}, []int{1, 1, stride, 1}, padding)
		return Squeeze(y, []int{1})
	})
}

// Pool returns the means ("AVG") or maxima ("MAX") of windows that move by strides
// over one to three spatial dimensions: x is [batch spatial... channels], window and
// strides have a number for each spatial dimension.
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

// Erosion2D returns the least differences of images [batch height width channels]
// and a filter [height width channels] that moves over them: the dual of
// Dilation2D.
func Erosion2D(x, filter tf.Output, strides, rates []int, padding string) tf.Output {
	return scoped("erosion2d", x, func() tf.Output {
		return Neg(Dilation2D(Neg(x), Reverse(filter, []int{0, 1}), strides, rates, padding))
	})
}
