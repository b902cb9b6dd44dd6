package text_test

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

type function = func(g *tf.Graph, in []tf.Output) []tf.Output

// one makes a function with one output.
func one(f func(in []tf.Output) tf.Output) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(in)} }
}

func sample(op, name string, f function, in ...*core.Tensor) optest.Sample {
	return optest.Sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn}
}

func vec[T tf.Elem](v ...T) *core.Tensor { return optest.Vec(v...) }
