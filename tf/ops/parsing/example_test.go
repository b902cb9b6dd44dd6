package parsing_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/example"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/optest"
)

func record(e example.Example) string { return string(e.Marshal()) }

var (
	full = record(example.Example{
		"f": example.Floats(1, 2, 3, 4), "i": example.Ints(-1, 1<<40), "s": example.Strings("a", "", "c\xff"), "open": example.Floats(7, 8, 9, 10), "other": example.Ints(5),
	})
	half  = record(example.Example{"f": example.Floats(5, 6, 7, 8), "i": {}, "open": example.Floats(11, 12)})
	none  = record(example.Example{})
	wrong = record(example.Example{"f": example.Ints(1)})
	short = record(example.Example{"f": example.Floats(1)})
	long  = record(example.Example{"f": example.Floats(1, 2, 3, 4, 5)})
)

// features are those that the samples ask for, with a default or not.
func features(g *tf.Graph, required bool) (dense []parsing.Dense, sparse []parsing.Sparse, ragged []parsing.Ragged) {
	def := ops.ConstValue(g, optest.Mat[float32](2, 0.5, 0.25, 0.125, 0))
	if required {
		def = ops.Const(g, []float32{})
	}
	dense = []parsing.Dense{
		{Key: "f", Shape: tf.Shape{2, 2}, Default: def},
		{Key: "open", Shape: tf.Shape{-1, 2}, Default: ops.Const(g, []float32{-1})},
	}
	return dense, []parsing.Sparse{{Key: "i", Type: tf.Int64}, {Key: "none", Type: tf.String}}, []parsing.Ragged{{Key: "s", Type: tf.String, Splits: tf.Int32}, {Key: "other", Type: tf.Int64, Splits: tf.Int64}}
}

func outputs(p parsing.Parsed) []tf.Output {
	out := append([]tf.Output{}, p.Dense...)
	for _, s := range p.Sparse {
		out = append(out, s.Indices, s.Values, s.Shape)
	}
	for _, r := range p.Ragged {
		out = append(out, r.Values, r.Splits)
	}
	return out
}

// second parses inputs 0, examples, and 1, their names.
func second(required bool) function {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		dense, sparse, ragged := features(g, required)
		return outputs(parsing.ParseExampleV2(in[0], in[1], dense, sparse, ragged))
	}
}

func first(required bool) function {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		dense, sparse, _ := features(g, required)
		return outputs(parsing.ParseExample(in[0], in[1], dense, sparse))
	}
}

func single(required bool) function {
	return func(g *tf.Graph, in []tf.Output) []tf.Output {
		dense, sparse, _ := features(g, required)
		return outputs(parsing.ParseSingleExample(in[0], dense, sparse))
	}
}

func init() {
	nameless := optest.Vec[string]()
	add("ParseExampleV2", "", second(false), optest.Vec(full, none, half), nameless)
	add("ParseExampleV2", "one", second(false), core.Scalar(full), nameless)
	add("ParseExampleV2", "none", second(false), optest.Vec[string](), nameless)
	add("ParseExampleV2", "required", second(true), optest.Vec(full, half), optest.Vec("n1", "n2"))
	add("ParseExample", "", first(false), optest.Vec(full, none, half), nameless)
	add("ParseSingleExample", "", single(false), core.Scalar(full))
	add("ParseSingleExample", "empty", single(false), core.Scalar(none))
	only := func(key string) function {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			r := []parsing.Ragged{{Key: key, Type: tf.Float32, Splits: tf.Int32}}
			return outputs(parsing.ParseExampleV2(in[0], in[1], nil, nil, r))
		}
	}
	names := optest.Vec("n1", "n2")
	fails("ParseExampleV2", "missing", second(true), optest.Vec(full, none), names)
	fails("ParseExampleV2", "missing, nameless", second(true), optest.Vec(full, none), nameless)
	fails("ParseExampleV2", "missing from one", second(true), core.Scalar(none), nameless)
	fails("ParseExampleV2", "few values", second(true), optest.Vec(full, short), names)
	fails("ParseExampleV2", "many values", second(true), optest.Vec(long, full), names)
	fails("ParseExampleV2", "type", second(true), optest.Vec(full, wrong), names)
	fails("ParseExampleV2", "ragged type", only("i"), optest.Vec(full), nameless)
	fails("ParseExampleV2", "names", only("f"), optest.Vec(full), names)
	fails("ParseExampleV2", "rank", only("f"), optest.Mat(1, full), nameless)
	odd := record(example.Example{"f": example.Floats(1, 2, 3, 4), "open": example.Floats(1, 2, 3)})
	fails("ParseExampleV2", "stride", second(true), optest.Vec(full, odd), names)
	fails("ParseExampleV2", "open type", second(true), optest.Vec(full, record(example.Example{"f": example.Floats(1, 2, 3, 4), "open": example.Strings("a")})), names)
	one := func(key string, s tf.Shape) function {
		return func(g *tf.Graph, in []tf.Output) []tf.Output {
			return outputs(parsing.ParseSingleExample(in[0], []parsing.Dense{{Key: key, Shape: s, Default: ops.Const(g, make([]float32, max(-s[0], 0)))}}, nil))
		}
	}
	fails("ParseSingleExample", "missing", one("none", tf.Shape{1}), core.Scalar(full))
	fails("ParseSingleExample", "few values", one("f", tf.Shape{8}), core.Scalar(full))
	fails("ParseSingleExample", "many values", one("f", tf.Shape{2}), core.Scalar(full))
	fails("ParseSingleExample", "type", one("i", tf.Shape{2}), core.Scalar(full))
	fails("ParseSingleExample", "open type", one("i", tf.Shape{-1}), core.Scalar(full))
	fails("ParseSingleExample", "stride", one("open", tf.Shape{-1, 3}), core.Scalar(full))
	fails("ParseSingleExample", "sparse type", func(_ *tf.Graph, in []tf.Output) []tf.Output {
		return outputs(parsing.ParseSingleExample(in[0], nil, []parsing.Sparse{{Key: "f", Type: tf.Int64}}))
	}, core.Scalar(full))
}

// TestMalformed has records that are no examples, or whose lists are cut off.
func TestMalformed(t *testing.T) {
	list := func(kind string) string { return "\x0a\x0d\x0a\x0b\x0a\x01a\x12\x06" + kind + "\x04\x0a\x09ab" }
	for bad, want := range map[string]string{
		"\x0a\x05a":  "Could not parse example input, value: '\n\x05a'",
		list("\x0a"): "Name: <unknown>, Key: a, Index: 0.  Can't parse serialized Example.",
		list("\x12"): "Data types don't match. Expected type: string, Actual type: float",
	} {
		g := eager.New()
		r := []parsing.Sparse{{Key: "a", Type: tf.String}}
		p := parsing.ParseExampleV2(ops.Const(g, []string{bad}), ops.Const(g, []string{}), nil, r, nil)
		if err := p.Sparse[0].Values.Err(); tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", bad, err, want)
		}
	}
}

// TestShapes has shapes that no feature can have.
func TestShapes(t *testing.T) {
	for _, s := range []tf.Shape{nil, {2, -1}, {-1, 0}, {-1, -1}, {1 << 40, 1 << 40}} {
		g := eager.New()
		dense := []parsing.Dense{{Key: "f", Shape: s, Default: ops.Const(g, []float32{1})}}
		p := parsing.ParseExampleV2(ops.Const(g, []string{full}), ops.Const(g, []string{}), dense, nil, nil)
		if err := p.Dense[0].Err(); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%v: %v", s, err)
		}
	}
}
