package ragged_test

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
	sample  = optest.Sample
	tensors = []*core.Tensor
	outputs = []tf.Output
)

var (
	addSamples = optest.Add
	failing    = optest.Failing
	onlyOwn    = optest.OnlyOwn

	i32 = optest.I32
	seq = optest.Seq
)

func vec[T tf.Elem](v ...T) *core.Tensor { return optest.Vec(v...) }
func i64(v ...int64) *core.Tensor        { return optest.Vec(v...) }

// crashing is a sample that fails here, while TensorFlow's process ends or reads
// what it should not.
func crashing(op, name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) sample {
	s := failing(op, name, f, in...)
	s.NoGolden = "TensorFlow does not check"
	return s
}
