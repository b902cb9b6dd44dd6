package ragged_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
)

func init() {
	// through puts a ragged tensor, values first, into variants and takes it out
	// again.
	through := func(batched bool, inner, outer int) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			v := ragged.RaggedTensorToVariant(in[1:], in[0], batched, ragged.SplitsOpts{Type: splitsType(in)})
			splits, values := ragged.RaggedTensorFromVariant(v, inner, outer, in[0].DType(), ragged.SplitsOpts{Type: splitsType(in)})
			return append(splits, values)
		}
	}
	pass := func(op, name string, batched bool, inner, outer int, in ...*core.Tensor) sample {
		return sample{Op: op, Name: name, In: in, F: through(batched, inner, outer), Types: onlyOwn}
	}
	const to, from = "RaggedTensorToVariant", "RaggedTensorFromVariant"
	nested := tensors{seq(5, 2), i32(0, 2, 2, 3), i32(0, 1, 3, 5)}
	whole := pass(to, "", false, 2, 2, nested...)
	whole.Types = []tf.DType{tf.String, tf.QInt16}
	addSamples(
		whole,
		pass(to, "rows", true, 0, 1, seq(4), i64(0, 2, 2, 4)),
		pass(to, "nested rows", true, 1, 2, nested...),
		pass(to, "inferred", true, -1, 2, nested...),
		pass(to, "dense", false, 0, 0, seq(4, 2)),
		pass(to, "no rows", true, 0, 1, seq(0), i64(0)),
		pass(from, "", true, 0, 1, seq(4), i64(0, 2, 2, 4)),
		failing(to, "no splits", through(true, 0, 1), seq(4), i64()),
		failing(from, "parts' rank", through(true, 1, 2), seq(4), i64(0, 4)),
		failing(to, "long row", through(true, 0, 1), seq(4), i64(0, 5)),
		failing(to, "order", through(true, 0, 1), seq(4), i64(0, 3, 2)),
		failing(to, "first", through(true, 0, 1), seq(4), i64(1, 4)),
		failing(to, "scalar", through(true, 0, 1), core.Scalar(float32(1)), i64(0, 1)),
		failing(to, "inner splits", through(true, 1, 2), seq(4), i64(0, 3), i64(0, 1)),
	)
	addSamples(failing(from, "type", func(_ *tf.Graph, in []tf.Output) []tf.Output {
		splits, values := ragged.RaggedTensorFromVariant(ragged.RaggedTensorToVariant(in[1:], in[0], false), 1, 1, tf.Int32)
		return append(splits, values)
	}, seq(4), i64(0, 4)))
	addSamples(failing(from, "shapes", func(_ *tf.Graph, in []tf.Output) []tf.Output {
		a, b := ragged.RaggedTensorToVariant(nil, in[0], false), ragged.RaggedTensorToVariant(nil, in[1], false)
		splits, values := ragged.RaggedTensorFromVariant(ops.Pack([]tf.Output{a, b}), 0, 1, tf.Float32)
		return append(splits, values)
	}, seq(2, 2), seq(2, 3)))
	addSamples(sample{Op: from, Name: "matrix", In: tensors{seq(4), i64(0, 1, 1, 3, 4)}, Types: onlyOwn, Rough: "TensorFlow has no gradient for a matrix", F: func(g *tf.Graph, in []tf.Output) []tf.Output {
		v := ops.Reshape(ragged.RaggedTensorToVariant(in[1:], in[0], true), ops.Const(g, []int32{2, 2}))
		splits, values := ragged.RaggedTensorFromVariant(v, 0, 2, tf.Float32)
		return append(splits, values)
	}})
	addSamples(sample{Op: "RaggedTensorToVariantGradient", In: tensors{seq(4), i64(0, 2, 2, 4)}, Types: onlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
		v := ragged.RaggedTensorToVariant(in[1:], in[0], true)
		return outputs{tf.Apply(nil, "RaggedTensorToVariantGradient", []tf.Output{v, in[1], ops.Const(g, []int32{4})}, tf.Attr("Tvalues", tf.Float32)).Output(0)}
	}})
}

// splitsType is the type of the first row splits.
func splitsType(in []tf.Output) tf.DType {
	if len(in) == 1 {
		return tf.Int64
	}
	return in[1].DType()
}
