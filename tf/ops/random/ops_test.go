package random_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

// The vocabulary of samples, in short.
type sample = optest.Sample

var (
	addSamples = optest.Add
	failing    = optest.Failing
	onlyOwn    = optest.OnlyOwn
	i32        = optest.I32
)

func vec[T tf.Elem](v ...T) *core.Tensor        { return optest.Vec(v...) }
func mat[T tf.Elem](n int, v ...T) *core.Tensor { return optest.Mat(n, v...) }
func scalar[T tf.Elem](v T) *core.Tensor        { return core.Scalar(v) }

// nary adds an op by name, on inputs in order.
func nary(op string, opts ...tf.Option) func(*tf.Graph, []tf.Output) []tf.Output {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		o := tf.Apply(g, op, in, opts...)
		out := make([]tf.Output, len(o.OutTypes))
		for i := range out {
			out[i] = o.Output(i)
		}
		if len(out) == 0 {
			out = append(out, o.Output(0))
		}
		return out
	}
}
