package sparse_test

import (
	"embed"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
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
	applied    = optest.Applied

	i32 = optest.I32
	seq = optest.Seq
)

func vec[T tf.Elem](v ...T) *core.Tensor             { return optest.Vec(v...) }
func arr[T tf.Elem](s tf.Shape, v ...T) *core.Tensor { return optest.Arr(s, v...) }
func i64(v ...int64) *core.Tensor                    { return optest.Vec(v...) }

// at is a matrix of indices for rank n.
func at(n int, v ...int64) *core.Tensor { return optest.Mat(n, v...) }

// none is a matrix of no indices.
func none(n int) *core.Tensor { return core.NewTensor(tf.Int64, tf.Shape{0, n}) }

// sp is the sparse tensor that begins at input i.
func sp(in outputs, i int) sparse.Tensor {
	return sparse.Tensor{Indices: in[i], Values: in[i+1], DenseShape: in[i+2]}
}

// parts lists a sparse tensor's outputs.
func parts(t sparse.Tensor) outputs { return outputs{t.Indices, t.Values, t.DenseShape} }

// unordered is a sample that fails because indices do not ascend.
func unordered(op string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) sample {
	s := failing(op, "order", f, in...)
	s.NoGolden = "the last line of TensorFlow's message is empty"
	return s
}

// TestUnordered reads the message that samples cannot compare.
func TestUnordered(t *testing.T) {
	g := eager.New()
	set := sparse.Tensor{Indices: ops.Const(g, []int64{1, 0, 0, 0}, 2, 2), Values: ops.Const(g, []int32{1, 1}), DenseShape: ops.Const(g, []int64{2, 2})}
	_, err := sparse.SetSize(set).Value()
	const want = "indices[1] = [0,0] is out of order. Many sparse ops require sorted indices.\n    Use `tf.sparse.reorder` to create a correctly ordered copy.\n\n"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v", err)
	}
}

// valuesFirst is s with its first two inputs exchanged: samples are run with
// other types in place of that of the first input, which has to be the values'.
func valuesFirst(s sample) sample {
	f := s.F
	s.In = slices.Clone(s.In)
	s.In[0], s.In[1] = s.In[1], s.In[0]
	s.F = func(g *tf.Graph, in []tf.Output) []tf.Output {
		in = slices.Clone(in)
		in[0], in[1] = in[1], in[0]
		return f(g, in)
	}
	return s
}

// crashing is a sample that fails here, while TensorFlow's process ends.
func crashing(op, name string, f func(*tf.Graph, []tf.Output) []tf.Output, in ...*core.Tensor) sample {
	s := failing(op, name, f, in...)
	s.NoGolden = "TensorFlow crashes"
	return s
}
