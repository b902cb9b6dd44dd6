package signal_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/signal"
	"github.com/gorge-tf/gorge/tf/tftest"
)

// TestRefusedFrames: what the first step of a transform refuses, the next ones do not
// look at.
func TestRefusedFrames(t *testing.T) {
	unknown := ops.Placeholder(tf.NewGraph(), tf.Float32, nil)
	whole := ops.Const(eager.New(), []int32{1, 2, 3, 4}, 2, 2)
	for name, y := range map[string]func() tf.Output{
		"STFT, unknown rank":   func() tf.Output { return signal.STFT(unknown, 4, 2, signal.STFTOptions{}) },
		"STFT, integers":       func() tf.Output { return signal.STFT(whole, 2, 1, signal.STFTOptions{}) },
		"STFT, length":         func() tf.Output { return signal.STFT(whole, 0, 1, signal.STFTOptions{NoWindow: true}) },
		"InverseSTFT, no type": func() tf.Output { return signal.InverseSTFT(whole, 2, 1, signal.STFTOptions{}) },
		"DCT, integers":        func() tf.Output { return signal.DCT(whole, 3, false) },
		"IDCT, integers":       func() tf.Output { return signal.IDCT(whole, 2, true) },
	} {
		if err := y().Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%s: got %v, want INVALID_ARGUMENT", name, err)
		}
	}
}

// TestOverlapAndAddOfNothing: where there are no frames or no elements in them, the
// results are zeros, as many as in TensorFlow 2.21.
func TestOverlapAndAddOfNothing(t *testing.T) {
	g := eager.New()
	for _, c := range []struct {
		in   tf.Shape
		step int
		want tf.Shape
	}{
		{tf.Shape{0, 4}, 2, tf.Shape{2}},
		{tf.Shape{0, 2}, 4, tf.Shape{0}},
		{tf.Shape{2, 0, 4}, 2, tf.Shape{2, 2}},
		{tf.Shape{2, 3, 0}, 2, tf.Shape{2, 4}},
		{tf.Shape{0, 3, 4}, 2, tf.Shape{0, 8}},
	} {
		y, err := signal.OverlapAndAdd(ops.Const(g, []float32{}, c.in...), c.step).Value()
		if err != nil || !y.Shape().Equal(c.want) {
			t.Errorf("frames %v, step %d: got %v, %v, want zeros %v", c.in, c.step, y, err, c.want)
		}
	}
}

// TestElementsThatNoFrameHas: where all frames have weights of 0 there is nothing to undo.
func TestElementsThatNoFrameHas(t *testing.T) {
	g := eager.New()
	for _, d := range []tf.DType{tf.Float16, tf.Float32, tf.Float64} {
		v, err := ops.Cast(signal.InverseSTFTWindow(4, nil)(g, 4, d), tf.Float64).Value()
		if err != nil {
			t.Fatal(err)
		}
		tftest.Elements(t, v, []float64{0, 2, 1, 2}, tftest.Within(1e-3, 1e-3))
	}
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6, 7, 8})
	y := signal.InverseSTFT(signal.STFT(x, 4, 4, signal.STFTOptions{}), 4, 4, signal.STFTOptions{Window: signal.InverseSTFTWindow(4, nil)})
	v, err := y.Value()
	if err != nil {
		t.Fatal(err)
	}
	tftest.Elements(t, v, []float32{0, 2, 3, 4, 0, 6, 7, 8}, tftest.Within(1e-5, 1e-5))
}
