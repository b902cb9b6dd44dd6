package image_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops/image"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	const op = "ExtractVolumePatches"
	x := within(-9, 9, 2, 4, 5, 3, 2)
	f := func(k, strides []int, padding string) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return []tf.Output{image.ExtractVolumePatches(in[0], k, strides, padding)}
		}
	}
	one, two := []int{1, 1, 1, 1, 1}, []int{1, 2, 2, 2, 1}
	s := []sample{
		{In: tensors{x}, F: f([]int{1, 3, 2, 1, 1}, one, "SAME")},
		{Name: "steps", In: tensors{x}, F: f([]int{1, 2, 3, 2, 1}, []int{1, 1, 2, 1, 1}, "VALID")},
		{Name: "apart", In: tensors{x}, F: f(one, two, "VALID")},
		{Name: "wide", In: tensors{within(-1, 1, 1, 2, 2, 2, 1)}, F: f([]int{1, 5, 4, 3, 1}, two, "SAME")},
	}
	for i := range s {
		s[i].Op, s[i].Static = op, "its gradient is made of the shape"
	}
	addSamples(s...)
	addSamples(
		sample{Op: op, Name: "nothing", In: tensors{seq(0, 4, 5, 3, 2)}, F: f(two, two, "VALID"), Rough: "there is nothing", Static: "its gradient is made of the shape"},
		failing(op, "flat", f(one, one, "VALID"), seq(4, 5, 3, 2)))
}

// TestVolumeThreads wants equal bits whatever the threads.
func TestVolumeThreads(t *testing.T) {
	three := []int{1, 3, 3, 3, 1}
	optest.Threads(t, sample{Op: "ExtractVolumePatches", In: tensors{within(-1, 1, 2, 12, 12, 12, 4)},
		F: applied("ExtractVolumePatches", tf.Attr("ksizes", three), tf.Attr("strides", []int{1, 1, 1, 1, 1}), tf.Attr("padding", "SAME"))})
}
