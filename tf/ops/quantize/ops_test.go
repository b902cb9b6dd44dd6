package quantize_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
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
)

var (
	addSamples = optest.Add
	applied    = optest.Applied

	within = optest.Within
	vec    = optest.Vec[float32]
)

func scalar(v float32) *core.Tensor { return optest.Scalar(v) }

// bad adds samples of an op that refuses its inputs, one of which is another.
func bad(op string, f function, in tensors, swaps map[string]swap) {
	for name, w := range swaps {
		changed := append(tensors{}, in...)
		changed[w.i] = w.t
		addSamples(optest.Failing(op, name, f, changed...))
	}
}

// swap is an input and its number.
type swap struct {
	i int
	t *core.Tensor
}
