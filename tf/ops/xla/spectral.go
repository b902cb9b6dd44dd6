package xla

import (
	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/signal"
)

func init() { add(map[string]rule{"fft": checked(1, fft)}) }

type (
	plainTransform  func(x tf.Output, opts ...tf.Option) tf.Output
	lengthTransform func(x, length tf.Output, opts ...tf.Option) tf.Output
)

// transforms has TensorFlow's ops by the number of dimensions.
var (
	plainTransforms = map[string][]plainTransform{
		"FFT":  {signal.FFT, signal.FFT2D, signal.FFT3D},
		"IFFT": {signal.IFFT, signal.IFFT2D, signal.IFFT3D},
	}
	lengthTransforms = map[string][]lengthTransform{
		"RFFT":  {signal.RFFT, signal.RFFT2D, signal.RFFT3D},
		"IRFFT": {signal.IRFFT, signal.IRFFT2D, signal.IRFFT3D},
	}
)

func fft(l *lowering, op *stablehlo.Op, in []tf.Output) ([]tf.Output, error) {
	r := &reading{op: op}
	kind := r.word("fft_type")
	length := r.atLeast("fft_length", r.ints("fft_length"), 0)
	t := op.Operands[0].Type
	n := len(length)
	if n < 1 || n > 3 || n > len(t.Shape) {
		r.fail("fft_length must have 1 to 3 elements and at most the operand's rank %d, got %d", len(t.Shape), n)
	}
	if r.err != nil {
		return nil, r.err
	}
	for i, k := range length {
		d := t.Shape[len(t.Shape)-n+i]
		if kind == "IRFFT" && i == n-1 {
			k = k/2 + 1
		}
		if d >= 0 && d != int64(k) {
			return nil, refused(op, "fft_length must be the sizes of the last dimensions, got %v for shape %v", length, t.Shape)
		}
	}
	if f, ok := plainTransforms[kind]; ok {
		return one(f[n-1](in[0])), nil
	}
	if f, ok := lengthTransforms[kind]; ok {
		return one(f[n-1](in[0], int32s(l.g, length))), nil
	}
	return nil, refused(op, "fft_type must be FFT, IFFT, RFFT or IRFFT, got %q", kind)
}
