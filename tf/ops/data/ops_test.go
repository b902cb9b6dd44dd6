package data_test

import (
	"embed"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/data"
	_ "github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

//go:embed testdata/golden
var golden embed.FS

func TestOps(t *testing.T) { optest.Run(t, golden) }

func TestMain(m *testing.M) { leaktest.Main(m) }

// pipe is a dataset in a graph, with what is known of its elements.
type pipe struct {
	d      tf.Output
	types  []tf.DType
	shapes []tf.Shape
}

func (p pipe) about() []tf.Option {
	return []tf.Option{tf.Attr("output_types", p.types), tf.Attr("output_shapes", p.shapes)}
}

// numbers is a dataset of the numbers from 0 to n.
func numbers(g *tf.Graph, n int64) pipe {
	p := pipe{types: []tf.DType{tf.Int64}, shapes: []tf.Shape{{}}}
	p.d = tf.Apply(g, "RangeDataset", []tf.Output{ops.Scalar(g, int64(0)), ops.Scalar(g, n), ops.Scalar(g, int64(1))}, p.about()...).Output(0)
	return p
}

// then adds an op over p whose elements have the same types.
func (p pipe) then(op string, more []tf.Output, opts ...tf.Option) pipe {
	p.d = tf.Apply(nil, op, append([]tf.Output{p.d}, more...), append(p.about(), opts...)...).Output(0)
	return p
}

// of says that the elements have other shapes.
func (p pipe) of(shapes ...tf.Shape) pipe {
	p.shapes = shapes
	return p
}

// as says that the elements have other types and shapes.
func (p pipe) as(types []tf.DType, shapes ...tf.Shape) pipe {
	p.types, p.shapes = types, shapes
	return p
}

// calling adds an op over p that calls functions.
func (p pipe) calling(op string, fs []author.Callee, first, last []tf.Output, opts ...tf.Option) pipe {
	p.d = author.CallLater(op, append([]tf.Output{p.d}, first...), fs, last, append(p.about(), opts...)...).Output(0)
	return p
}

// all returns all elements as one batch.
func (p pipe) all() []tf.Output {
	g := p.d.Graph()
	shapes := make([]tf.Shape, len(p.shapes))
	for i, s := range p.shapes {
		if s != nil {
			shapes[i] = append(tf.Shape{-1}, s...)
		}
	}
	p = p.of(shapes...).then("BatchDatasetV2", []tf.Output{ops.Scalar(g, int64(1000)), ops.Scalar(g, false)})
	return p.taken(tf.Apply(nil, "DatasetToSingleElement", []tf.Output{p.d}, p.about()...))
}

// taken returns the components of an element, also of an op that has failed.
func (p pipe) taken(op *tf.Operation) []tf.Output {
	out := make([]tf.Output, len(p.types))
	for i := range out {
		out[i] = op.Output(i)
	}
	return out
}

// ints are inputs of datasets.
func ints(g *tf.Graph, v ...int64) []tf.Output {
	out := make([]tf.Output, len(v))
	for i, x := range v {
		out[i] = ops.Scalar(g, x)
	}
	return out
}

// made is a sample of an op, whose dataset is looked at as a whole.
func made(op, name string, f func(g *tf.Graph, x tf.Output) pipe) optest.Sample {
	return optest.Sample{Op: op, Name: name, In: []*core.Tensor{optest.Vec[int64](5, 3, 4, 5, 1, 9, 2, 6)}, Types: optest.OnlyOwn,
		F: func(g *tf.Graph, in []tf.Output) []tf.Output { return f(g, in[0]).all() }}
}

// broken is a sample that is refused.
func broken(op, name string, f func(g *tf.Graph, x tf.Output) pipe) optest.Sample {
	return optest.Failing(op, name, func(g *tf.Graph, in []tf.Output) []tf.Output { return f(g, in[0]).all() }, optest.Vec[int64](5, 3))
}

// slices is a dataset of the elements of x.
func slices(x tf.Output) pipe {
	p := pipe{types: []tf.DType{x.DType()}, shapes: []tf.Shape{{}}}
	if len(x.Shape()) > 1 {
		p.shapes[0] = x.Shape()[1:]
	}
	p.d = tf.Apply(nil, "TensorSliceDataset", []tf.Output{x}, tf.Attr("Toutput_types", p.types), tf.Attr("output_shapes", p.shapes)).Output(0)
	return p
}
