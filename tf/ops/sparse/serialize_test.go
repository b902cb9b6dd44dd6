package sparse_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/sparse"
	"github.com/gorge-tf/gorge/tf/optest"
)

func init() {
	const one, many = "SerializeSparse", "SerializeManySparse"
	numbers := tensors{at(2, 0, 1, 0, 3, 3, 0), vec[float32](1, 2, 3), i64(4, 5)}
	words := tensors{at(2, 0, 1, 0, 3, 3, 0), vec("a", "", "some words"), i64(4, 5)}
	serialize := func(_ *tf.Graph, in []tf.Output) []tf.Output { return outputs{sparse.SerializeSparse(sp(in, 0))} }
	serializeMany := func(_ *tf.Graph, in []tf.Output) []tf.Output { return outputs{sparse.SerializeManySparse(sp(in, 0))} }
	// through serializes and takes what comes out apart again.
	through := func(variant bool) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			s := sparse.SerializeSparse(sp(in, 0), sparse.SerializeOpts{Variant: variant})
			return parts(sparse.DeserializeSparse(s, in[1].DType(), tf.Attr("Tserialized", s.DType())))
		}
	}
	nested := func(variant bool, shape ...int32) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			s := ops.Reshape(sparse.SerializeManySparse(sp(in, 0), sparse.SerializeOpts{Variant: variant}), ops.Const(g, shape))
			return parts(sparse.DeserializeSparse(s, in[1].DType(), tf.Attr("Tserialized", s.DType())))
		}
	}
	plain := func(op, name string, f func(*tf.Graph, []tf.Output) []tf.Output, in tensors) sample {
		return sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn, Rough: "the encoding ends the path"}
	}
	addSamples(
		plain(one, "", serialize, numbers),
		plain(one, "words", serialize, words),
		plain(many, "", serializeMany, numbers),
		plain(many, "words", serializeMany, words),
		plain("DeserializeSparse", "", through(false), words),
		plain("DeserializeSparse", "variant", through(true), numbers),
		plain("DeserializeSparse", "rows", nested(false, 4, 3), words),
		plain("DeserializeSparse", "nested variants", nested(true, 2, 2, 3), numbers),
		failing(one, "indices", serialize, i64(1), vec[float32](1), i64(1)),
		failing(one, "values", serialize, at(1, 1), core.Scalar(float32(1)), i64(1)),
		failing(one, "shape", serialize, at(1, 1), vec[float32](1), at(1, 1)),
		failing(many, "indices", serializeMany, i64(1), vec[float32](1), i64(1)),
		failing(many, "rank", serializeMany, at(1, 1), vec[float32](1), i64(3)),
		failing(many, "number", serializeMany, at(2, 1, 1), vec[float32](1, 2), i64(3, 3)),
		failing(many, "bounds", serializeMany, at(2, 1, 3), vec[float32](1), i64(3, 3)),
		unordered(many, serializeMany, at(2, 1, 2, 0, 1), vec[float32](1, 2), i64(2, 9)),
	)
	load := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return parts(sparse.DeserializeSparse(in[0], tf.Float32))
	}
	loadMany := func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return parts(sparse.DeserializeManySparse(in[0], tf.Float32))
	}
	addSamples(
		plain("DeserializeManySparse", "", func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return parts(sparse.DeserializeManySparse(sparse.SerializeManySparse(sp(in, 0)), tf.Float32))
		}, numbers),
		failing("DeserializeManySparse", "proto", loadMany, optest.Mat(3, "x", "y", "z")),
		failing("DeserializeManySparse", "none", loadMany, core.NewTensor(tf.String, tf.Shape{0, 3})),
		failing("DeserializeSparse", "scalar", load, core.Scalar("x")),
		failing("DeserializeSparse", "columns", load, vec("x")),
		failing("DeserializeSparse", "proto", load, vec("x", "y", "z")),
		failing("DeserializeSparse", "empty", load, vec("", "", "")),
		failing("DeserializeSparse", "type", func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return parts(sparse.DeserializeSparse(sparse.SerializeSparse(sp(in, 0)), tf.Int32))
		}, numbers...),
		failing("DeserializeSparse", "values", func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return parts(sparse.DeserializeSparse(sparse.SerializeSparse(sp(in, 0)), tf.Float32))
		}, at(1, 1, 2), vec[float32](1), i64(3)),
		failing("DeserializeSparse", "shape", func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return parts(sparse.DeserializeSparse(sparse.SerializeSparse(sp(in, 0)), tf.Float32))
		}, at(1, 1), vec[float32](1), i64(3, 4)),
	)
}
