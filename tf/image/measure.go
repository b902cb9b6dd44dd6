package image

import (
	"math"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

// inner are the dimensions of height, width and channels of an image.
func inner(g *tf.Graph) tf.Output { return ints(g, -3, -2, -1) }

// PerImageStandardization returns images, as float32, of mean 0 and deviation 1;
// images that are all the same become 0.
func PerImageStandardization(x tf.Output) tf.Output {
	return scoped(x, "per_image_standardization", func() tf.Output {
		g, keep := x.Graph(), ops.ReduceOpts{KeepDims: true}
		y := ops.Cast(x, tf.Float32)
		pixels := ops.Prod(ops.Slice(ops.Shape(x), ints(g, first(x)), ints(g, 3)), ops.Scalar(g, int32(0)))
		centered := ops.Sub(y, ops.Mean(y, inner(g), keep))
		deviation := ops.Sqrt(ops.Mean(ops.Square(centered), inner(g), keep))
		return ops.RealDiv(centered, ops.Maximum(deviation, ops.Rsqrt(ops.Cast(pixels, tf.Float32))))
	})
}

// neighbours returns what each pixel has more than the one before it in
// dimension d.
func neighbours(x tf.Output, d int) tf.Output {
	g, n := x.Graph(), len(x.Shape())
	begin := make([]int, n)
	begin[d] = 1
	all := ops.Shape(x)
	next := ops.Slice(x, ints(g, begin...), ops.Sub(all, ints(g, begin...)))
	before := ops.Slice(x, ints(g, make([]int, n)...), ops.Sub(all, ints(g, begin...)))
	return ops.Sub(next, before)
}

// TotalVariation returns the sum of the differences between neighbouring pixels:
// a scalar of an image, a vector of a batch.
func TotalVariation(x tf.Output) tf.Output {
	return scoped(x, "total_variation", func() tf.Output {
		sum := func(d int) tf.Output { return ops.Sum(ops.Abs(neighbours(x, first(x)+d)), inner(x.Graph())) }
		return ops.Add(sum(0), sum(1))
	})
}

// Gradients returns, for a batch of images, the difference from each pixel to the next one
// below it, and to the next one on its right, in the shape of x; 0 at the edge. An x of
// another rank is refused with INVALID_ARGUMENT.
func Gradients(x tf.Output) (dy, dx tf.Output) {
	if x.Err() == nil && len(x.Shape()) != 4 {
		x = failed(x, "image_gradients", "image_gradients expects a 4D tensor [batch_size, h, w, d], not %v.", x.Shape())
	}
	if x.Err() != nil {
		return x, x
	}
	x.Graph().Scope("image_gradients", func() {
		to := func(d int) tf.Output {
			pads := make([]int, 8)
			pads[2*d+1] = 1
			return ops.Pad(neighbours(x, d), ops.Reshape(ints(x.Graph(), pads...), ints(x.Graph(), 4, 2)))
		}
		dy, dx = to(1), to(2)
	})
	return dy, dx
}

// compatible adds what refuses images of different sizes.
func compatible(a, b tf.Output, name string) error {
	s, t := a.Shape(), b.Shape()
	if len(s) < 3 || len(t) < 3 {
		return tf.Errorf(tf.InvalidArgument, "%s: images must have rank 3 at least, got shapes %v and %v", name, s, t)
	}
	for i := 1; i <= min(len(s), len(t)); i++ {
		m, n := s[len(s)-i], t[len(t)-i]
		if m >= 0 && n >= 0 && m != n && (i <= 3 || m != 1 && n != 1) {
			return tf.Errorf(tf.InvalidArgument, "Two images are not compatible: %v and %v", s, t)
		}
	}
	return nil
}

// compared adds what f adds of two images in float32 and the greatest value that
// pixels may have.
func compared(a, b tf.Output, limit float64, name string, f func(a, b, limit tf.Output) tf.Output) (y tf.Output) {
	for _, x := range []tf.Output{a, b} {
		if x.Err() != nil {
			return x
		}
	}
	if err := compatible(a, b, name); err != nil {
		return tf.Failed(a.Graph(), name, err).Output(0)
	}
	a.Graph().Scope(name, func() {
		top := ConvertDType(as(a, limit), tf.Float32, false)
		y = f(ConvertDType(a, tf.Float32, false), ConvertDType(b, tf.Float32, false), top)
	})
	return y
}

// PSNR returns the ratio of signal to noise of images a and b in decibels, by
// image. Pixels are between 0 and limit.
func PSNR(a, b tf.Output, limit float64) tf.Output {
	return compared(a, b, limit, "PSNR", func(a, b, limit tf.Output) tf.Output {
		mse := ops.Mean(ops.SquaredDifference(a, b), inner(a.Graph()))
		signal := ops.RealDiv(ops.Mul(as(a, 20), ops.Log(limit)), as(a, math.Log(10)))
		return ops.Sub(signal, ops.Mul(as(a, 10/math.Log(10)), ops.Log(mse)))
	})
}

// SSIMOptions adjust the index of similarity; what is 0 is TensorFlow's default.
type SSIMOptions struct {
	FilterSize  int     // of the window: 11
	FilterSigma float64 // how fast pixels count less off its middle: 1.5
	K1, K2      float64 // 0.01 and 0.03
}

func (o SSIMOptions) complete() SSIMOptions {
	set := func(v *float64, to float64) {
		if *v == 0 {
			*v = to
		}
	}
	set(&o.FilterSigma, 1.5)
	set(&o.K1, 0.01)
	set(&o.K2, 0.03)
	if o.FilterSize == 0 {
		o.FilterSize = 11
	}
	return o
}

// SSIM returns how similar images a and b are in structure, by image: 1 for
// equal ones. The measure is that of Wang et al. (2004). Pixels are between 0
// and limit; images are not smaller than the window.
func SSIM(a, b tf.Output, limit float64, o SSIMOptions) tf.Output {
	return compared(a, b, limit, "SSIM", func(a, b, limit tf.Output) tf.Output {
		similar, _ := o.complete().byChannel(a, b, limit)
		return ops.Mean(similar, ints(a.Graph(), -1))
	})
}

// multiscale are the weights of the scales.
var multiscale = []float64{0.0448, 0.2856, 0.3001, 0.2363, 0.1333}

// SSIMMultiscale is SSIM over five scales, each half as large as the one
// before, of batches whose sizes are known. The measure is that of Wang,
// Simoncelli and Bovik (2003).
func SSIMMultiscale(a, b tf.Output, limit float64, o SSIMOptions) tf.Output {
	return compared(a, b, limit, "MS-SSIM", func(a, b, limit tf.Output) tf.Output {
		g := a.Graph()
		var parts []tf.Output
		for k, weight := range multiscale {
			if k > 0 {
				a, b = halved(a), halved(b)
			}
			similar, contrast := o.complete().byChannel(a, b, limit)
			if k < len(multiscale)-1 {
				similar = contrast
			}
			parts = append(parts, ops.Pow(ops.Relu(similar), ops.Scalar(g, float32(weight))))
		}
		product := parts[0]
		for _, p := range parts[1:] {
			product = ops.Mul(product, p)
		}
		return ops.Mean(product, ints(g, -1))
	})
}

// halved returns images of half the size; odd ones are extended before.
func halved(x tf.Output) tf.Output {
	return batched(x, func(x tf.Output) tf.Output {
		g, s := x.Graph(), x.Shape()
		if len(s) != 4 || s[1] < 0 || s[2] < 0 {
			return failed(x, "MS-SSIM", "sizes of images have to be known, got shape %v", s)
		}
		pads := ops.Reshape(ints(g, 0, 0, 0, s[1]%2, 0, s[2]%2, 0, 0), ints(g, 4, 2))
		return ops.AvgPool(ops.MirrorPad(x, pads, "SYMMETRIC"), []int{1, 2, 2, 1}, []int{1, 2, 2, 1}, "VALID")
	})
}

// window returns the weights of the window.
func (o SSIMOptions) window() []float32 {
	n := o.FilterSize
	w, sum := make([]float64, n*n), 0.0
	for i := range w {
		y, x := float64(i/n)-float64(n-1)/2, float64(i%n)-float64(n-1)/2
		w[i] = math.Exp(-(y*y + x*x) / (2 * o.FilterSigma * o.FilterSigma))
		sum += w[i]
	}
	out := make([]float32, n*n)
	for i, v := range w {
		out[i] = float32(v / sum)
	}
	return out
}

// covered returns images that are as large as the window at least: where they are not,
// there is nothing that could be compared.
func (o SSIMOptions) covered(x tf.Output) tf.Output {
	if x.Err() != nil {
		return x
	}
	if o.FilterSize < 0 {
		return failed(x, "SSIM", "the size of the window must be positive, got %d", o.FilterSize)
	}
	h, w := x.Shape()[first(x)], x.Shape()[first(x)+1]
	if min(h, w) >= o.FilterSize {
		return x
	}
	if h >= 0 && h < o.FilterSize || w >= 0 && w < o.FilterSize {
		return failed(x, "SSIM", "images must not be smaller than the window of size %d, got shape %v", o.FilterSize, x.Shape())
	}
	return ops.Identity(x, tf.After(ops.AssertGreaterEqual(heightAndWidth(x), int32(o.FilterSize))))
}

// byChannel returns the similarity of images by channel, and that of their
// contrasts and structures alone.
func (o SSIMOptions) byChannel(a, b, limit tf.Output) (similar, contrast tf.Output) {
	g := a.Graph()
	if a = o.covered(a); a.Err() != nil {
		return a, a // the window may be of any size
	}
	window := ops.Const(g, o.window(), o.FilterSize, o.FilterSize, 1, 1)
	channels := ops.Reshape(sizeAt(a, len(a.Shape())-1), ints(g, 1))
	filter := ops.Tile(window, ops.ConcatV2([]tf.Output{ints(g, 1, 1), channels, ints(g, 1)}, ops.Scalar(g, int32(0))))
	local := func(x tf.Output) tf.Output {
		shape := ops.Shape(x)
		n := len(x.Shape())
		tail := ops.Slice(shape, ints(g, n-3), ints(g, 3))
		flat := ops.Reshape(x, ops.ConcatV2([]tf.Output{ints(g, -1), tail}, ops.Scalar(g, int32(0))))
		y := ops.DepthwiseConv2dNative(flat, filter, []int{1, 1, 1, 1}, "VALID")
		head := ops.Slice(shape, ints(g, 0), ints(g, n-3))
		rest := ops.Slice(ops.Shape(y), ints(g, 1), ints(g, 3))
		return ops.Reshape(y, ops.ConcatV2([]tf.Output{head, rest}, ops.Scalar(g, int32(0))))
	}
	c1, c2 := ops.Square(ops.Mul(limit, as(limit, o.K1))), ops.Square(ops.Mul(limit, as(limit, o.K2)))
	two := as(a, 2)
	meanA, meanB := local(a), local(b)
	crossed := ops.Mul(ops.Mul(meanA, meanB), two)
	squares := ops.Add(ops.Square(meanA), ops.Square(meanB))
	luminance := ops.RealDiv(ops.Add(crossed, c1), ops.Add(squares, c1))
	above := ops.Add(ops.Sub(ops.Mul(local(ops.Mul(a, b)), two), crossed), c2)
	below := ops.Add(ops.Sub(local(ops.Add(ops.Square(a), ops.Square(b))), squares), c2)
	structure := ops.RealDiv(above, below)
	plane := ints(g, -3, -2)
	return ops.Mean(ops.Mul(luminance, structure), plane), ops.Mean(structure, plane)
}

// SobelEdges returns the slopes of a batch in a new last dimension of 2: downward,
// then to the right.
func SobelEdges(x tf.Output) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	if len(x.Shape()) != 4 {
		return failed(x, "sobel_edges", "'image' (shape %v) must have 4 dimensions.", x.Shape())
	}
	x.Graph().Scope("sobel_edges", func() {
		g := x.Graph()
		kernels := []float64{-1, -1, -2, 0, -1, 1, 0, -2, 0, 0, 0, 2, 1, -1, 2, 0, 1, 1} // down and right in turn
		t := core.NewTensor(tf.Float64, tf.Shape{3, 3, 1, 2})
		copy(core.Data[float64](t), kernels)
		channels := ops.Reshape(sizeAt(x, 3), ints(g, 1))
		filter := ops.Tile(ops.Cast(ops.ConstValue(g, t), x.DType()), ops.ConcatV2([]tf.Output{ints(g, 1, 1), channels, ints(g, 1)}, ops.Scalar(g, int32(0))))
		pads := ops.Reshape(ints(g, 0, 0, 1, 1, 1, 1, 0, 0), ints(g, 4, 2))
		flat := ops.DepthwiseConv2dNative(ops.MirrorPad(x, pads, "REFLECT"), filter, []int{1, 1, 1, 1}, "VALID")
		y = ops.Reshape(flat, ops.ConcatV2([]tf.Output{ops.Shape(x), ints(g, 2)}, ops.Scalar(g, int32(0))))
		y = ops.EnsureShape(y, append(x.Shape().Clone(), 2))
	})
	return y
}
