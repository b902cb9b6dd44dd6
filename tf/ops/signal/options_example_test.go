package signal_test

import (
	"fmt"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/signal"
)

// Magnitudes of frequencies in a window of samples, squared or not.
func ExampleAudioSpectrogram() {
	g := eager.New()
	x := ops.Const(g, []float32{1, -1, 1, -1}, 4, 1)
	for _, squared := range []bool{false, true} {
		y := signal.AudioSpectrogram(x, 4, 4, signal.AudioSpectrogramOpts{MagnitudeSquared: squared})
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[1,1,3]{0, 1, 2} <nil>
	// float32[1,1,3]{0, 1, 4} <nil>
}

// Of a file with one channel and three samples, two channels and two samples
// are read.
func ExampleDecodeWav() {
	g := eager.New()
	file := signal.EncodeWav(ops.Const(g, []float32{0, 0.5, -0.5}, 3, 1), ops.Scalar[int32](g, 8000))
	audio, rate := signal.DecodeWav(file, signal.DecodeWavOpts{Channels: 2, Samples: 2})
	for _, y := range []tf.Output{audio, rate} {
		v, err := y.Value()
		fmt.Println(v, err)
	}
	// Output:
	// float32[2,2]{0, 0, 0.5, 0.5} <nil>
	// int32[]{8000} <nil>
}

// Three frames of four samples, each of which overlaps half of the next, and
// the signal again but for its ends.
func ExampleMDCTOptions() {
	g := eager.New()
	x := ops.Const(g, []float32{1, 2, 3, 4, 5, 6, 7, 8})
	o := signal.MDCTOptions{Window: signal.KaiserBesselDerivedWindow(4), Ortho: true}
	y := signal.MDCT(x, 4, o)
	fmt.Println(y.Shape())
	v, err := signal.InverseMDCT(y, o).Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", tf.Data[float32](v)[2:6])
	// Output:
	// [3,2]
	// [3.00 4.00 5.00 6.00]
}

// Three coefficients of a spectrogram with one window, from ten bands.
func ExampleMfcc() {
	g := eager.New()
	spectrogram := ops.Fill([]int{1, 1, 129}, ops.Scalar[float32](g, 1)) // channels, windows, frequencies
	o := signal.MfccOpts{Lower: 100, Upper: 3500, Bands: 10, Coefficients: 3}
	v, err := signal.Mfcc(spectrogram, ops.Scalar[int32](g, 8000), o).Value()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f\n", tf.Data[float32](v))
	// Output: [9.755 -1.361 -0.001]
}

// A window makes the weights of a frame of any length.
func ExampleWindow() {
	g := eager.New()
	for _, window := range []signal.Window{signal.HannWindow(true), signal.HannWindow(false), signal.HammingWindow(false)} {
		v, err := window(g, 4, tf.Float32).Value()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.2f\n", tf.Data[float32](v))
	}
	// Output:
	// [0.00 0.50 1.00 0.50]
	// [0.00 0.75 0.75 0.00]
	// [0.08 0.77 0.77 0.08]
}
