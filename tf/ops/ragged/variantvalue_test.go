package ragged_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/parsing"
	"github.com/gorge-tf/gorge/tf/ops/ragged"
)

// sent is what TensorFlow 2.21's SerializeTensor made of a variant with the ragged
// tensor [[1.5 2.5] [-3]], whose splits are int32.
const sent = "\b\x15\x12\x00\"=<\n\x13RaggedTensorVariant\x1a\r\b\x03\x12\x04\x12\x02\b\x03:\x03\x00\x02\x03\x1a\x16\b\x01\x12\x04\x12\x02\b\x03*\f\x00\x00\xc0?\x00\x00 @\x00\x00@\xc0"

func init() {
	addVariantSums()
	addDenseStacks()
	addGradients()
}

// opened returns the splits and values of a scalar variant of rank row splits, int32.
func opened(v tf.Output, rank int, d tf.DType) []tf.Output {
	splits, values := ragged.RaggedTensorFromVariant(v, rank, rank, d, ragged.SplitsOpts{Type: tf.Int32})
	return append(splits, values)
}

func addVariantSums() {
	const from = "RaggedTensorFromVariant"
	encode := func(values tf.Output, splits ...tf.Output) tf.Output {
		return ragged.RaggedTensorToVariant(splits, values, false, ragged.SplitsOpts{Type: tf.Int32})
	}
	add := func(in []tf.Output, n int) []tf.Output {
		a, b := encode(in[0], in[1]), encode(in[2], in[3:]...)
		return opened(ops.AddN([]tf.Output{a, b}), n, in[0].DType())
	}
	sum := func(_ *tf.Graph, in []tf.Output) []tf.Output { return add(in, 1) }
	addSamples(
		sample{Op: from, Name: "sum", In: tensors{seq(3), i32(0, 2, 3), seq(3), i32(0, 2, 3)}, F: sum, Types: onlyOwn},
		sample{Op: from, Name: "zero", In: tensors{seq(3), i32(0, 2, 3)}, Types: onlyOwn, F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return opened(ops.ZerosLike(encode(in[0], in[1])), 1, in[0].DType())
		}},
		failing(from, "sum of splits", sum, seq(3), i32(0, 2, 3), seq(3), i32(0, 1, 3)),
		failing(from, "sum of ranks", sum, seq(3), i32(0, 2, 3), seq(3), i32(0, 1, 2), i32(0, 2, 3)),
		failing(from, "sum of shapes", sum, seq(3, 2), i32(0, 2, 3), seq(3), i32(0, 2, 3)),
		failing(from, "sum of types", sum, seq(3), i32(0, 2, 3), i32(1, 2, 3), i32(0, 2, 3)),
		failing(from, "sum of strings", func(_ *tf.Graph, in []tf.Output) []tf.Output {
			v := encode(in[0], in[1])
			return opened(ops.AddN([]tf.Output{v, v}), 1, tf.String)
		}, vec("a", "b"), i32(0, 2)),
		sample{Op: from, Name: "sent by TensorFlow", In: tensors{core.Scalar(sent)}, Types: onlyOwn, Rough: "strings have no gradient", F: func(_ *tf.Graph, in []tf.Output) []tf.Output {
			return opened(parsing.ParseTensor(in[0], tf.Variant), 1, tf.Float32)
		}},
		failing(from, "a list", func(g *tf.Graph, in []tf.Output) []tf.Output {
			list := tf.Apply(nil, "EmptyTensorList", []tf.Output{in[0], ops.Scalar(g, int32(1))}, tf.Attr("element_dtype", tf.Float32), tf.Attr("shape_type", tf.Int32))
			return opened(list.Output(0), 1, tf.Float32)
		}, i32(2)),
	)
}

// addDenseStacks has results without row splits: the values of all elements are stacked.
func addDenseStacks() {
	const from = "RaggedTensorFromVariant"
	stack := func(outer, inner int) func(g *tf.Graph, in []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			parts := make([]tf.Output, len(in))
			for i, x := range in {
				parts[i] = ragged.RaggedTensorToVariant(nil, x, false)
			}
			splits, values := ragged.RaggedTensorFromVariant(ops.Pack(parts), inner, outer, in[0].DType())
			return append(splits, values)
		}
	}
	addSamples(
		sample{Op: from, Name: "dense", In: tensors{seq(3, 2), seq(3, 2)}, F: stack(0, -1), Types: onlyOwn, Rough: "TensorFlow has no gradient for it"},
		failing(from, "dense shapes", stack(0, -1), seq(3, 2), seq(2, 2)),
		failing(from, "ranks", stack(1, 0), seq(3, 2), seq(3)),
	)
}

func addGradients() {
	const op = "RaggedTensorToVariantGradient"
	grad := func(d tf.DType, batched bool) func(*tf.Graph, []tf.Output) []tf.Output {
		return func(_ *tf.Graph, in []tf.Output) []tf.Output {
			v := ragged.RaggedTensorToVariant(in[1:2], in[0], batched, ragged.SplitsOpts{Type: tf.Int32})
			return outputs{tf.Apply(nil, op, []tf.Output{v, in[2], in[3]}, tf.Attr("Tvalues", d)).Output(0)}
		}
	}
	x, splits := seq(4), i32(0, 2, 4)
	addSamples(
		failing(op, "no splits", grad(tf.Float32, true), x, splits, i32(), i32(4)),
		failing(op, "first", grad(tf.Float32, true), x, splits, i32(1, 2, 4), i32(4)),
		failing(op, "order", grad(tf.Float32, true), x, splits, i32(0, 2, 1), i32(4)),
		failing(op, "size", grad(tf.Float32, true), x, splits, i32(1, 2, 4), i32(-4)),
		crashing(op, "types", grad(tf.Int32, true), x, splits, splits, i32(4)),
	)
}

// TestGradientOfAnotherType: the words are those of TensorFlow 2.21.
func TestGradientOfAnotherType(t *testing.T) {
	g := eager.New()
	splits := ops.Const(g, []int32{0, 1})
	v := ragged.RaggedTensorToVariant([]tf.Output{splits}, ops.Const(g, []float32{1}), false)
	_, err := tf.Apply(nil, "RaggedTensorToVariantGradient", []tf.Output{v, splits, ops.Const(g, []int32{1})}, tf.Attr("Tvalues", tf.Int32)).Output(0).Value()
	if want := "Output 0 of type float does not match declared output type int32 for node {{node "; tf.CodeOf(err) != tf.Internal || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want INTERNAL: %s", err, want)
	}
}

// TestDamagedVariants: whatever a peer sends as a ragged tensor is refused or can be used.
func TestDamagedVariants(t *testing.T) {
	accepted := 0
	for i := range len(sent) {
		for _, by := range []byte{1, 2, 0x80, 0xff} {
			b := []byte(sent)
			b[i] ^= by
			y := opened(parsing.ParseTensor(ops.Scalar(eager.New(), string(b)), tf.Variant), 1, tf.Float32)
			if _, err := y[1].Value(); err == nil {
				accepted++
			}
		}
	}
	if accepted == 0 {
		t.Error("no damage to values alone was accepted")
	}
}
