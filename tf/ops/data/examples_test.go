package data_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/ops"
	_ "github.com/gorge-tf/gorge/tf/ops/ragged"
	"github.com/gorge-tf/gorge/tf/optest"
)

// parsed is a sample in which batches of examples become a dense, a sparse and
// perhaps a ragged tensor each.
func parsed(op string, attrs ...tf.Option) optest.Sample {
	records := optest.Vec(
		string(example.Example{"dense": example.Floats(1, 2), "sparse": example.Ints(7), "rag": example.Strings("a", "b")}.Marshal()),
		string(example.Example{"sparse": example.Ints(8, 9)}.Marshal()),
	)
	ragged := op != "ExperimentalParseExampleDataset"
	return optest.Sample{Op: op, In: []*core.Tensor{records}, Types: optest.OnlyOwn, F: func(g *tf.Graph, in []tf.Output) []tf.Output {
		p := slices(in[0]).of(tf.Shape{2}).then("BatchDataset", ints(g, 2))
		p = p.as([]tf.DType{tf.Float32, tf.Variant}, tf.Shape{2, 2}, tf.Shape{3})
		opts := append([]tf.Option{
			tf.Attr("sparse_keys", []string{"sparse"}), tf.Attr("dense_keys", []string{"dense"}), tf.Attr("sparse_types", []tf.DType{tf.Int64}),
			tf.Attr("Tdense", []tf.DType{tf.Float32}), tf.Attr("dense_shapes", []tf.Shape{{2}}),
		}, attrs...)
		if ragged {
			p = p.as([]tf.DType{tf.Float32, tf.Variant, tf.Variant}, tf.Shape{2, 2}, tf.Shape{}, tf.Shape{3})
			opts = append(opts, tf.Attr("ragged_keys", []string{"rag"}), tf.Attr("ragged_value_types", []tf.DType{tf.String}), tf.Attr("ragged_split_types", []tf.DType{tf.Int64}))
		}
		p = p.then(op, append(ints(g, 2), ops.Const(g, []float32{3, 4})), opts...)
		e := tf.Apply(nil, "DatasetToSingleElement", []tf.Output{p.d}, p.about()...)
		sparse := tf.Apply(nil, "DeserializeSparse", []tf.Output{e.Output(len(p.types) - 1)}, tf.Attr("dtype", tf.Int64))
		out := []tf.Output{e.Output(0), sparse.Output(0), sparse.Output(1), sparse.Output(2)}
		if ragged {
			r := tf.Apply(nil, "RaggedTensorFromVariant", []tf.Output{e.Output(1)}, tf.Attr("input_ragged_rank", 1), tf.Attr("output_ragged_rank", 1), tf.Attr("Tvalues", tf.String))
			out = append(out, r.Output(0), r.Output(1))
		}
		return out
	}}
}

func init() {
	optest.Add(parsed("ParseExampleDataset", tf.Attr("sloppy", true)), parsed("ParseExampleDatasetV2"), parsed("ExperimentalParseExampleDataset"))
}
