package uniform_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/quantize/uniform"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

// The vocabulary of samples, in short.
type (
	sample   = optest.Sample
	tensors  = []*core.Tensor
	function = func(*tf.Graph, []tf.Output) []tf.Output
	numbers  = uniform.Numbers
)

var (
	vec   = optest.Vec[float32]
	zeros = optest.Vec[int32]
	whole = numbers{Min: -128, Max: 127}
	wide  = numbers{Min: -1 << 31, Max: 1<<31 - 1}
)

func scale(v float32) *core.Tensor { return optest.Scalar(v) }
func zero(v int32) *core.Tensor    { return optest.Scalar(v) }

// along are numbers with scales for the indices of a dimension.
func along(n numbers, axis int) numbers {
	n.PerAxis, n.Axis = true, axis
	return n
}

// spread returns numbers of a quantized type all over its range.
func spread(d tf.DType, s ...int) *core.Tensor {
	t := core.NewTensor(d, append(tf.Shape{}, s...))
	for i := range t.Len() {
		v := uint32(i)*2654435761 + 12345
		switch d {
		case tf.QUint8:
			core.Data[uint8](t)[i] = uint8(v >> 24)
		case tf.QInt8:
			core.Data[int8](t)[i] = int8(v >> 24)
		case tf.QInt32:
			core.Data[int32](t)[i] = int32(v) >> 9
		}
	}
	return t
}

// of returns a sample of an op.
func of(op, name string, in tensors, f function) sample {
	return sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn}
}

// swap is an input and its number.
type swap struct {
	i int
	t *core.Tensor
}

// bad returns samples of an op that refuses its inputs, one of which is another.
func bad(op string, f function, in tensors, swaps map[string]swap) (all []sample) {
	for name, w := range swaps {
		changed := append(tensors{}, in...)
		changed[w.i] = w.t
		all = append(all, optest.Failing(op, name, f, changed...))
	}
	return all
}
