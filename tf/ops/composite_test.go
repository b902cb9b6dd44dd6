package ops_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
)

// Metadata of a sparse tensor and of a ragged one, and what is neither.
const (
	sparseSpec = "\x0a\x02\x08\x01"
	raggedSpec = "\x0a\x02\x08\x03"
	noSpec     = "\x0a\x05\x08"
)

func init() {
	both := []*core.Tensor{arr[float32](tf.Shape{2}, 7, 8), arr[int32](tf.Shape{3}, 1, 2, 3)}
	types := []tf.DType{tf.Float32, tf.Int32}
	through := func(from, to string, types ...tf.DType) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			return ops.CompositeTensorVariantToComponents(ops.CompositeTensorVariantFromComponents(g, in, from), to, types)
		}
	}
	own := func(g *tf.Graph, in []tf.Output) []tf.Output {
		return through(sparseSpec, sparseSpec, in[0].DType(), in[1].DType())(g, in)
	}
	squared := func(g *tf.Graph, in []tf.Output) []tf.Output {
		out := own(g, in)
		return []tf.Output{ops.Mul(out[0], out[0]), out[1]}
	}
	const from, to = "CompositeTensorVariantFromComponents", "CompositeTensorVariantToComponents"
	addSamples(
		sample{Op: from, In: both, F: own, Types: onlyOwn},
		sample{Op: to, In: both, F: squared, Types: onlyOwn},
		optest.Failing(to, "kind", through(sparseSpec, raggedSpec, types...), both...),
		optest.Failing(to, "number", through(sparseSpec, sparseSpec, tf.Float32), both...),
		optest.Failing(to, "types", through(sparseSpec, sparseSpec, tf.Int32, tf.Int32), both...),
		optest.Failing(from, "metadata", through(noSpec, sparseSpec, types...), both...),
		optest.Failing(to, "metadata", through(sparseSpec, noSpec, types...), both...),
		sample{Op: to, Name: "optional", In: both, Types: onlyOwn, Fails: true, NoGolden: "TensorFlow shows what the variant holds", F: func(g *tf.Graph, in []tf.Output) []tf.Output {
			return ops.CompositeTensorVariantToComponents(ops.OptionalFromValue(in), sparseSpec, types)
		}})
}
