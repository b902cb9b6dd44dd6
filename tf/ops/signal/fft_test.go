package signal_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/signal"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

// double is the other type of the ops, which have one kernel for both.
func double(t *core.Tensor) *core.Tensor {
	if t.DType().IsComplex() {
		z := core.NewTensor(tf.Complex128, t.Shape())
		for i, v := range core.Data[complex64](t) {
			core.Data[complex128](z)[i] = complex128(v)
		}
		return z
	}
	return optest.Convert(t, tf.Float64)
}

// both adds a sample with numbers of both sizes.
func both(s sample) {
	s.Tol = 1e-5
	wide := s
	wide.Name += " double"
	wide.In = append(tensors{double(s.In[0])}, s.In[1:]...)
	wide.Tol = 0
	addSamples(s, wide)
}

const old = "TensorFlow has no kernel"

func init() {
	addComplex()
	addReal()
	addAxes()
}

func addComplex() {
	shapes := map[int]map[string]tf.Shape{
		1: {"power": {2, 8}, "odd": {15}, "prime": {37}, "factors": {2, 42}, "one": {2, 1}, "nothing": {2, 0}, "four": {16}},
		2: {"": {3, 4}, "batch": {2, 5, 6}, "nothing": {0, 3}},
		3: {"": {2, 3, 4}, "batch": {2, 2, 2, 3}},
	}
	for op, f := range map[string]func(tf.Output, ...tf.Option) tf.Output{
		"FFT": signal.FFT, "IFFT": signal.IFFT, "FFT2D": signal.FFT2D, "IFFT2D": signal.IFFT2D, "FFT3D": signal.FFT3D, "IFFT3D": signal.IFFT3D,
	} {
		rank := rankOf(op)
		for name, s := range shapes[rank] {
			both(sample{Op: op, Name: name, In: tensors{spectra(s...)}, F: unary(f)})
		}
		addSamples(
			failing(op, "rank", applied(op), spectra(shapes[rank]["batch"][:0]...)),
			sample{Op: "Batch" + op, In: tensors{spectra(2, 3, 4)}, F: applied("Batch" + op), NoGolden: old})
	}
}

func rankOf(op string) int {
	switch op[len(op)-2:] {
	case "2D":
		return 2
	case "3D":
		return 3
	}
	return 1
}

func addReal() {
	type use struct {
		name    string
		real    tf.Shape
		lengths []int32
	}
	uses := map[int][]use{
		1: {{"even", tf.Shape{2, 8}, []int32{8}}, {"odd", tf.Shape{7}, []int32{7}}, {"cut", tf.Shape{2, 9}, []int32{6}}, {"one", tf.Shape{1}, []int32{1}},
			{"nothing", tf.Shape{2, 0}, []int32{0}}},
		2: {{"even", tf.Shape{3, 4}, []int32{3, 4}}, {"odd", tf.Shape{2, 4, 5}, []int32{4, 5}}},
		3: {{"", tf.Shape{2, 3, 4}, []int32{2, 3, 4}}, {"cut", tf.Shape{3, 3, 4}, []int32{2, 3, 3}}},
	}
	for op, f := range map[string]func(x, lengths tf.Output, opts ...tf.Option) tf.Output{
		"RFFT": signal.RFFT, "IRFFT": signal.IRFFT, "RFFT2D": signal.RFFT2D, "IRFFT2D": signal.IRFFT2D, "RFFT3D": signal.RFFT3D, "IRFFT3D": signal.IRFFT3D,
	} {
		for _, u := range uses[rankOf(op)] {
			x := seq(u.real...)
			if op[0] == 'I' {
				s := u.real.Clone()
				if n := &s[len(s)-1]; *n > 0 {
					*n = *n/2 + 1
				}
				x = spectra(s...)
			}
			rough := "the numeric gradient is of real numbers"
			both(sample{Op: op, Name: u.name, In: tensors{x, i32(u.lengths...)}, F: binary(f), Rough: rough})
		}
		x := seq(2, 2, 4)
		if op[0] == 'I' {
			x = spectra(2, 2, 3)
		}
		addSamples(
			failing(op, "rank", applied(op), scalarOf(x.DType()), i32([]int32{4, 4, 4}[:rankOf(op)]...)),
			failing(op, "number of lengths", applied(op), x, i32(1, 2, 3, 4)),
			failing(op, "length", applied(op), x, i32([]int32{-1, -1, -1}[:rankOf(op)]...)),
			failing(op, "short", applied(op), x, i32([]int32{9, 9, 9}[:rankOf(op)]...)))
	}
}

func scalarOf(d tf.DType) *core.Tensor {
	return optest.Convert(core.Scalar(float32(1)), d)
}

// addAxes compares with the ops of fixed rank: TensorFlow has no kernels.
func addAxes() {
	axes := i32(1, 2)
	for op, f := range map[string]func(x, lengths, axes tf.Output, opts ...tf.Option) tf.Output{
		"FFTND": signal.FFTND, "IFFTND": signal.IFFTND, "RFFTND": signal.RFFTND, "IRFFTND": signal.IRFFTND,
	} {
		x := spectra(2, 3, 4)
		if op[0] == 'R' {
			x = seq(2, 3, 4)
		}
		addSamples(sample{Op: op, In: tensors{x, i32(3, 4), axes}, F: ternary(f), NoGolden: old})
	}
}

// TestBatchForms: the names of before TensorFlow 1.0 compute what today's do.
func TestBatchForms(t *testing.T) {
	for old, now := range map[string]string{
		"BatchFFT": "FFT", "BatchFFT2D": "FFT2D", "BatchFFT3D": "FFT3D", "BatchIFFT": "IFFT", "BatchIFFT2D": "IFFT2D", "BatchIFFT3D": "IFFT3D",
	} {
		g := tf.NewGraph()
		x := ops.ConstTensor(g, (*tf.Tensor)(spectra(2, 3, 4, 5)))
		s, err := session.New(g)
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Run(t.Context(), nil, tf.Apply(nil, old, []tf.Output{x}).Output(0), tf.Apply(nil, now, []tf.Output{x}).Output(0))
		if err != nil {
			t.Fatal(old, err)
		}
		if !slices.Equal(tf.Data[complex64](out[0]), tf.Data[complex64](out[1])) {
			t.Errorf("%s: %v, %s: %v", old, out[0], now, out[1])
		}
		s.Close()
	}
}
