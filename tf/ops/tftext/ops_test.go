package tftext_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops/tftext"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

// TestOps compares with TensorFlow Text's values: testdata/golden.py makes them.
func TestOps(t *testing.T) { optest.Run(t, golden) }

type function = func(g *tf.Graph, in []tf.Output) []tf.Output

func sample(op, name string, f function, in ...*core.Tensor) optest.Sample {
	return optest.Sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn}
}

func parts(t tftext.Tokens) []tf.Output { return []tf.Output{t.Text, t.Begin, t.End, t.Splits} }
