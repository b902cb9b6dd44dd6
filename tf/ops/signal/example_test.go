package signal_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/signal"
)

// Frames overlap if the step is shorter than a frame.
func ExampleFrame() {
	g := eager.New()
	v, err := signal.Frame(ops.Const(g, []float32{1, 2, 3, 4, 5}), 3, 1, false).Value()
	fmt.Println(v, err)
	// Output: float32[3,3]{1, 2, 3, 2, 3, 4, 3, 4, 5} <nil>
}

// A spectrogram has a row for each frame and a column for each frequency.
func ExampleSTFT() {
	g := tf.NewGraph()
	sound := ops.Placeholder(g, tf.Float32, tf.Shape{16000})
	spectra := signal.STFT(sound, 400, 160, signal.STFTOptions{})
	fmt.Println(spectra.DType(), spectra.Shape(), g.Err())
	// Output: complex64 [98,257] <nil>
}
