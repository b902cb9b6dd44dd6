package signal

import (
	"math/bits"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// scoped returns what f builds of x in a scope, or x itself if it cannot be
// computed.
func scoped(scope string, x tf.Output, f func() tf.Output) (y tf.Output) {
	if x.Err() != nil {
		return x
	}
	x.Graph().Scope(scope, func() { y = f() })
	return y
}

// refused returns an Output that carries an error: that of x if it has one, since nothing is
// known of the shape of such an x.
func refused(x tf.Output, name, format string, args ...any) tf.Output {
	if x.Err() != nil {
		return x
	}
	return tf.Failed(x.Graph(), name, invalid(format, args...)).Output(0)
}

func count(x tf.Output, v int) tf.Output { return ops.Scalar(x.Graph(), int32(v)) }

// last returns the size of the last dimension, an int32 scalar.
func last(x tf.Output) tf.Output {
	if s := x.Shape(); len(s) > 0 && s[len(s)-1] >= 0 {
		return count(x, s[len(s)-1])
	}
	return ops.Shape(x).At("-1")
}

// extended puts n zeros behind the elements of the last dimension.
func extended(x, n tf.Output) tf.Output {
	rank := len(x.Shape())
	none := ops.Const(x.Graph(), make([]int32, 2*(rank-1)), rank-1, 2)
	end := ops.Reshape(ops.Stack([]tf.Output{count(x, 0), n}, 0), []int{1, 2})
	return ops.Pad(x, ops.Concat(0, []tf.Output{none, end}))
}

// atLeast fills the last dimension up with zeros to n elements. An x that has been
// refused has no shape; it stays as it is, so that its error is told.
func atLeast(x tf.Output, n int) tf.Output {
	if x.Err() != nil {
		return x
	}
	s := x.Shape()
	size := s[len(s)-1]
	switch {
	case size >= n:
		return x
	case size < 0:
		return extended(x, ops.Maximum(count(x, 0), ops.Sub(count(x, n), last(x))))
	}
	p := make([][2]int, len(s))
	p[len(s)-1][1] = n - size
	return ops.Pad(x, p)
}

// realFFT is RFFT of n elements, zeros behind those that are there.
func realFFT(x tf.Output, n int) tf.Output {
	return RFFT(atLeast(x, n), ops.Const(x.Graph(), []int32{int32(n)}))
}

// inverseRealFFT is IRFFT to n elements.
func inverseRealFFT(x tf.Output, n int) tf.Output {
	return IRFFT(atLeast(x, n/2+1), ops.Const(x.Graph(), []int32{int32(n)}))
}

// Frame returns the frames of length elements that begin every step elements
// along the last dimension of x: [... samples] becomes [... frames length].
// With pad the last frames are filled up with zeros, else they are left out.
// The result has the type of x. A length or step below 1, and an unknown rank
// or a scalar, are refused with INVALID_ARGUMENT when the graph is built.
func Frame(x tf.Output, length, step int, pad bool) tf.Output {
	return scoped("frame", x, func() tf.Output {
		if length <= 0 || step <= 0 || len(x.Shape()) == 0 {
			return refused(x, "frame", "frames have a length and a step of at least 1, and signals a known rank: got %d, %d, shape %v", length, step, x.Shape())
		}
		n, shape := last(x), x.Shape()
		frames := ops.Maximum(count(x, 0), ops.FloorDiv(n.Sub(length), count(x, step)).Add(1))
		if pad {
			frames = ops.FloorDiv(n.Add(step-1), count(x, step))
			missing := ops.Maximum(count(x, 0), frames.Sub(1).Mul(step).Add(length).Sub(n))
			x = extended(x, missing)
		}
		begins := ops.Range(nil, count(x, 0), frames, count(x, 1)).Mul(step)
		within := ops.Range(nil, count(x, 0), count(x, length), count(x, 1))
		y := ops.Gather(x, ops.AddV2(ops.ExpandDims(begins, 1), within), -1)
		y.SetShape(framed(shape, length, step, pad))
		return y
	})
}

// framed returns the shape that Frame makes of s.
func framed(s tf.Shape, length, step int, pad bool) tf.Shape {
	n, frames := s[len(s)-1], -1
	switch {
	case n >= 0 && pad:
		frames = (n + step - 1) / step
	case n >= 0:
		frames = max(0, (n-length+step)/step)
	}
	return append(s[:len(s)-1:len(s)-1], frames, length)
}

// OverlapAndAdd is the reverse of Frame: the sum of frames
// [... frames length], each of which begins step elements after the one
// before: [... samples]. x has a numeric type, which the result keeps. A step
// below 1, and a rank that is unknown or below 2, are refused with
// INVALID_ARGUMENT when the graph is built.
func OverlapAndAdd(x tf.Output, step int) tf.Output {
	return scoped("overlap_and_add", x, func() tf.Output {
		if step <= 0 || len(x.Shape()) < 2 {
			return refused(x, "overlap_and_add", "signal must have rank at least 2 and the step must be at least 1, got shape %v, step %d", x.Shape(), step)
		}
		shape := ops.Shape(x)
		frames, length := shape.At("-2"), shape.At("-1")
		n := ops.Maximum(count(x, 0), frames.Sub(1).Mul(step).Add(length))
		begins := ops.Range(nil, count(x, 0), frames, count(x, 1)).Mul(step)
		places := ops.AddV2(ops.ExpandDims(begins, 1), ops.Range(nil, count(x, 0), length, count(x, 1)))
		signals := ops.Prod(shape.At(":-2"), []int{0}) // -1 would mean any number if there are no elements
		rows := ops.Reshape(x, ops.Stack([]tf.Output{signals, frames.Mul(length)}, 0))
		sums := ops.UnsortedSegmentSum(rows.Transpose(1, 0), ops.Reshape(places, []int{-1}), n)
		y := ops.Reshape(sums.Transpose(1, 0), ops.Concat(0, []tf.Output{shape.At(":-2"), ops.Reshape(n, []int{1})}))
		if s := x.Shape(); s.Known() {
			y.SetShape(append(s[:len(s)-2:len(s)-2], max(0, (s[len(s)-2]-1)*step+s[len(s)-1])))
		}
		return y
	})
}

// STFTOptions adjust STFT and InverseSTFT.
type STFTOptions struct {
	// FFTLength is how many elements are transformed at once; 0: the smallest
	// power of 2 that holds a frame.
	FFTLength int
	// Window weights the frames; nil: a periodic Hann window. NoWindow: none.
	Window   Window
	NoWindow bool
	// PadEnd fills the last frames up with zeros instead of leaving them out.
	PadEnd bool
}

func (o STFTOptions) size(length int) int {
	if o.FFTLength > 0 {
		return o.FFTLength
	}
	return 1 << bits.Len(uint(max(length, 1)-1))
}

// apply multiplies frames by the window.
func (o STFTOptions) apply(frames tf.Output, length int) tf.Output {
	if o.NoWindow {
		return frames
	}
	w := o.Window
	if w == nil {
		w = HannWindow(true)
	}
	return ops.Mul(frames, w(frames.Graph(), length, frames.DType().Base()))
}

// STFT returns the short-time Fourier transforms of signals [... samples]:
// spectra [... frames bins] of frames of length elements that begin every
// step elements. x is float32 or float64, spectra are complex64 or complex128
// with FFTLength/2 + 1 bins. Lengths and steps below 1, and an unknown rank,
// are refused with INVALID_ARGUMENT when the graph is built.
func STFT(x tf.Output, length, step int, o STFTOptions) tf.Output {
	return scoped("stft", x, func() tf.Output {
		frames := o.apply(Frame(x, length, step, o.PadEnd), length)
		return realFFT(frames, o.size(length))
	})
}

// InverseSTFT returns the signals whose STFT are x, where the frames overlap
// as the step says. The window should be what InverseSTFTWindow makes of that
// of STFT. x is complex64 or complex128 [... frames bins], the result float32
// or float64 [... samples]. A rank that is unknown or below 2, and a step
// below 1, are refused with INVALID_ARGUMENT when the graph is built.
func InverseSTFT(x tf.Output, length, step int, o STFTOptions) tf.Output {
	return scoped("inverse_stft", x, func() tf.Output {
		size := o.size(length)
		if len(x.Shape()) < 2 {
			return refused(x, "inverse_stft", "spectra [... frames bins] must have a known rank, got shape %v", x.Shape())
		}
		frames := inverseRealFFT(x, size)
		if length < size {
			frames = frames.At("..., :?", count(x, length))
		}
		frames = atLeast(frames, length)
		return OverlapAndAdd(o.apply(frames, length), step)
	})
}

// InverseSTFTWindow returns the window with which InverseSTFT undoes an STFT
// with the window forward, nil for the periodic Hann window, and the same
// step. It is 0 where the windows of all frames are. A step below 1 is refused
// with INVALID_ARGUMENT when the window is added to a graph.
func InverseSTFTWindow(step int, forward Window) Window {
	if forward == nil {
		forward = HannWindow(true)
	}
	return func(g *tf.Graph, length int, d tf.DType) tf.Output {
		w := forward(g, length, d)
		if step <= 0 {
			return refused(w, "inverse_stft_window_fn", "the step must be at least 1, got %d", step)
		}
		return scoped("inverse_stft_window_fn", w, func() tf.Output {
			overlaps := (length + step - 1) / step
			sum := ops.Pad(ops.Square(w), ops.Const(g, []int32{0, int32(overlaps*step - length)}, 1, 2))
			sum = ops.Sum(ops.Reshape(sum, []int{overlaps, step}), []int{0}, ops.ReduceOpts{KeepDims: true})
			all := ops.Reshape(ops.Tile(sum, []int{overlaps, 1}), []int{overlaps * step})
			return ops.DivNoNan(w, ops.Slice(all, []int{0}, []int{length})) // no frame weights an element at all
		})
	}
}

// FFTShift moves the element of frequency 0 from the beginning to the middle
// along axes, of all dimensions if there are none. The rank must be known.
// The result has the shape and the type of x. A negative axis counts from the
// end. An unknown rank is refused with INVALID_ARGUMENT when the graph is
// built.
func FFTShift(x tf.Output, axes ...int) tf.Output { return shifted("fftshift", x, axes, 1) }

// IFFTShift undoes FFTShift. Arguments and errors are those of FFTShift.
func IFFTShift(x tf.Output, axes ...int) tf.Output { return shifted("ifftshift", x, axes, -1) }

func shifted(name string, x tf.Output, axes []int, sign int) tf.Output {
	return scoped(name, x, func() tf.Output {
		if x.Shape() == nil {
			return refused(x, name, "the rank must be known")
		}
		if len(axes) == 0 {
			for i := range x.Shape() {
				axes = append(axes, i)
			}
		}
		by, shape := make([]tf.Output, len(axes)), ops.Shape(x)
		for i, a := range axes {
			if a < 0 {
				a += len(x.Shape())
			}
			by[i] = ops.FloorDiv(ops.Gather(shape, count(x, a), 0), count(x, 2)).Mul(sign)
		}
		if len(by) == 0 {
			return ops.Identity(x)
		}
		return ops.Roll(x, ops.Stack(by, 0), axes)
	})
}
