package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ClipByValue", Traits: core.Elementwise | core.Cheap, In: "t: T; clip_value_min: T; clip_value_max: T", Out: "output: T", Attrs: "T: {" + reducibleTypes + "}",
		Shape: core.UnchangedShape, Grad: tf.GradFunc(clipGrad),
		Kernels: core.ByType("T", byType{
			tf.Float32: clipKernel(clip[float32]), tf.Float64: clipKernel(clip[float64]),
			tf.Float16: clipKernel(halfClip[tf.Half]), tf.BFloat16: clipKernel(halfClip[tf.BF16]),
			tf.Int8: clipKernel(clip[int8]), tf.Int16: clipKernel(clip[int16]), tf.Int32: clipKernel(clip[int32]), tf.Int64: clipKernel(clip[int64]),
			tf.Uint8: clipKernel(clip[uint8]), tf.Uint16: clipKernel(clip[uint16]),
			tf.Complex64: clipKernel(complexClip[complex64]), tf.Complex128: clipKernel(complexClip[complex128]),
		}),
	})
}

// ClipByValue returns t bounded to [low, high]. The bounds are scalars or have
// the shape of t. The real and the imaginary part of complex numbers are
// bounded each. t and the bounds have one type: floating-point or complex
// numbers, or integers but for uint32 and uint64, which fail the step with
// NOT_FOUND. NaN stays NaN, and where low is greater than high the result is
// low. Bounds of another shape fail the step with INVALID_ARGUMENT.
func ClipByValue(t, low, high tf.Output, opts ...tf.Option) tf.Output {
	return apply("ClipByValue", opts, t, low, high)
}

// clip sets z to x bounded by lo and hi, whose elements repeat if there is
// one only.
func clip[T numeric.Real](z, x, lo, hi []T) {
	if len(lo) == 1 && len(hi) == 1 {
		elementwise.ClipTo(z, x, lo[0], hi[0])
		return
	}
	for i, v := range x {
		z[i] = elementwise.Clipped(v, lo[i%len(lo)], hi[i%len(hi)])
	}
}

func complexClip[T numeric.Complex](z, x, lo, hi []T) {
	for i, v := range x {
		v, low, high := complex128(v), complex128(lo[i%len(lo)]), complex128(hi[i%len(hi)])
		z[i] = T(complex(max(min(real(v), real(high)), real(low)), max(min(imag(v), imag(high)), imag(low))))
	}
}

func halfClip[H numeric.HalfFloat](z, x, lo, hi []H) {
	wide := func(v []H) []float32 {
		out := make([]float32, len(v))
		elementwise.Widen(out, v)
		return out
	}
	out := core.Make[float32](len(z))
	clip(out, wide(x), wide(lo), wide(hi))
	elementwise.Narrow(z, out)
}

func clipKernel[T tf.Elem](f func(z, x, lo, hi []T)) core.NewKernel {
	run := func(c *core.OpContext) error {
		x, lo, hi := c.Input(0), c.Input(1), c.Input(2)
		if _, err := clippedShape(c.Node, []tf.Shape{x.Shape(), lo.Shape(), hi.Shape()}); err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), x.Shape())
		if err != nil || x.Len() == 0 {
			return err
		}
		z, v, low, high := core.Data[T](out), core.Data[T](x), core.Data[T](lo), core.Data[T](hi)
		c.ParallelFor(len(z), elementGrain, func(from, to int) {
			f(z[from:to], v[from:to], boundsOf(low, from, to), boundsOf(high, from, to))
		})
		return nil
	}
	k := &core.ElementKernel{Compute: run, Shape: clippedShape, Repeats: true, Loop: func(z []byte, in []core.Operand) {
		f(core.Elements[T](z), core.Elements[T](in[0].Data), core.Elements[T](in[1].Data), core.Elements[T](in[2].Data))
	}}
	return func(*core.Node) (core.Kernel, error) { return k, nil }
}

// boundsOf returns the bounds of some elements: the one that all share, or their own.
func boundsOf[T any](b []T, from, to int) []T {
	if len(b) == 1 {
		return b
	}
	return b[from:to]
}

// clippedShape is that of the first input. The bounds are scalars or have it, too.
func clippedShape(_ *core.Node, in []tf.Shape) (tf.Shape, error) {
	for _, bound := range in[1:] {
		if len(bound) != 0 && !slices.Equal(bound, in[0]) {
			return nil, tf.Errorf(tf.InvalidArgument, "clip_value_min and clip_value_max must be either of the same shape as input, or a scalar. input shape: %sclip_value_min shape: %sclip_value_max shape: %s",
				in[0].String(), in[1].String(), in[2].String())
		}
	}
	return in[0], nil
}

// clipGrad sends dy to the bound that was hit, or else to t.
func clipGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, lo, hi := op.Input(0), op.Input(1), op.Input(2)
	zeros := ZerosLike(dy[0])
	below, above := Less(x, lo), Greater(x, hi)
	dx := SelectV2(LogicalOr(below, above), zeros, dy[0])
	dlo := unbroadcast(x, lo, tf.Output{}, SelectV2(below, dy[0], zeros))
	dhi := unbroadcast(x, hi, tf.Output{}, SelectV2(above, dy[0], zeros))
	return []tf.Gradient{tf.Dense(dx), dlo[1], dhi[1]}
}
