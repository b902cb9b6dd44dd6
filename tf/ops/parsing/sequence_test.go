package parsing_test

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/optest"
)

func sequence(context example.Example, lists map[string][]example.Feature) string {
	return string(example.Sequence{Context: context, Lists: lists}.Marshal())
}

var (
	common = example.Example{"f": example.Floats(1, 2), "i": example.Ints(3, 4, 5), "s": example.Strings("x")}
	many   = sequence(common, map[string][]example.Feature{
		"pairs": {example.Ints(1, 2), example.Ints(3, 4)}, "open": {example.Floats(1), {}, example.Floats(2, 3)}, "words": {example.Strings("a", "b"), {}, example.Strings("c")}, "maybe": {example.Strings("m")},
	})
	few = sequence(example.Example{"f": example.Floats(5, 6)}, map[string][]example.Feature{"pairs": {example.Ints(9, 9)}, "words": {}})
)

func spec(g *tf.Graph) parsing.SequenceSpec {
	floats, ints, strs := ops.Const(g, []float32{}), ops.Const(g, []int64{}), ops.Const(g, []string{})
	return parsing.SequenceSpec{
		Dense:  []parsing.Dense{{Key: "f", Shape: tf.Shape{2}, Default: floats}},
		Sparse: []parsing.Sparse{{Key: "i", Type: tf.Int64}}, Ragged: []parsing.Ragged{{Key: "s", Type: tf.String, Splits: tf.Int64}},
		DenseLists:   []parsing.Dense{{Key: "pairs", Shape: tf.Shape{2}, Default: ints}, {Key: "maybe", Shape: tf.Shape{}, Default: strs}},
		SparseLists:  []parsing.Sparse{{Key: "open", Type: tf.Float32}},
		RaggedLists:  []parsing.Ragged{{Key: "words", Type: tf.String, Splits: tf.Int32}},
		MayBeMissing: []bool{false, true},
	}
}

func parseSequences(g *tf.Graph, in []tf.Output) []tf.Output {
	return parsing.ParseSequenceExampleV2(in[0], in[1], spec(g))
}

// list parses one dense list of pairs.
func list(s parsing.SequenceSpec) function {
	return func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return parsing.ParseSequenceExampleV2(in[0], in[1], s)
	}
}

func init() {
	names := optest.Vec("n1", "n2")
	add("ParseSequenceExampleV2", "", parseSequences, optest.Vec(many, few, few), optest.Vec[string]())
	add("ParseSequenceExampleV2", "one", func(g *tf.Graph, in []tf.Output) []tf.Output {
		s := spec(g)
		s.Ragged, s.RaggedLists = nil, nil
		return list(s)(g, in)
	}, core.Scalar(many), core.Scalar("name"))
	pairs := func(shape tf.Shape, d tf.DType) function {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			def := tf.Apply(g, "Const", nil, tf.Attr("value", core.NewTensor(d, tf.Shape{0})), tf.Attr("dtype", d)).Output(0)
			return list(parsing.SequenceSpec{DenseLists: []parsing.Dense{{Key: "pairs", Shape: shape, Default: def}}})(g, in)
		}
	}
	absent := sequence(nil, map[string][]example.Feature{})
	uneven := sequence(nil, map[string][]example.Feature{"pairs": {example.Ints(1), example.Ints(2, 3, 4)}})
	mixed := sequence(nil, map[string][]example.Feature{"pairs": {example.Ints(1, 2), example.Floats(1)}})
	fails("ParseSequenceExampleV2", "missing", pairs(tf.Shape{2}, tf.Int64), optest.Vec(many, absent), names)
	fails("ParseSequenceExampleV2", "total", pairs(tf.Shape{3}, tf.Int64), optest.Vec(many, few), names)
	fails("ParseSequenceExampleV2", "step", pairs(tf.Shape{2}, tf.Int64), optest.Vec(many, uneven), names)
	fails("ParseSequenceExampleV2", "type", pairs(tf.Shape{2}, tf.Int64), optest.Vec(many, mixed), names)
	fails("ParseSequenceExampleV2", "sparse type", list(parsing.SequenceSpec{SparseLists: []parsing.Sparse{{Key: "pairs", Type: tf.String}}}), optest.Vec(many, few), names)
	fails("ParseSequenceExampleV2", "context type", list(parsing.SequenceSpec{Sparse: []parsing.Sparse{{Key: "f", Type: tf.String}}}), optest.Vec(many, few), names)
}

func init() {
	// plain parses what is not ragged.
	plain := func(parse func(serialized, names tf.Output, s parsing.SequenceSpec, opts ...tf.Option) []tf.Output) function {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			s := spec(g)
			s.Ragged, s.RaggedLists = nil, nil
			s.MayBeMissing[0] = true
			s.Dense[0].Default = ops.Const(g, []float32{7, 8})
			return parse(in[0], in[1], s)
		}
	}
	add("ParseSequenceExample", "", plain(parsing.ParseSequenceExample), optest.Vec(many, few, sequence(nil, nil)), optest.Vec[string]())
	add("ParseSingleSequenceExample", "", plain(parsing.ParseSingleSequenceExample), core.Scalar(many), core.Scalar("name"))
	add("ParseSingleSequenceExample", "empty", plain(parsing.ParseSingleSequenceExample), core.Scalar(sequence(nil, nil)), core.Scalar("name"))
	// TensorFlow does not pack the numbers: what is parsed is compared.
	json := func(g *tf.Graph, in []tf.Output) []tf.Output {
		both := []parsing.Sparse{{Key: "a", Type: tf.Int64}, {Key: "f", Type: tf.Float32}}
		return outputs(parsing.ParseExampleV2(parsing.DecodeJSONExample(in[0]), ops.Const(g, []string{}), nil, both, nil))
	}
	add("DecodeJSONExample", "", json, optest.Vec(`{"features": {"feature": {"a": {"int64List": {"value": ["1", 2]}}}}}`, `{"features":{"feature":{"f":{"float_list":{"value":[1.5]}}}}}`, "{}"))
}
