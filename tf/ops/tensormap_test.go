package ops_test

import (
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// Maps are no values that could be compared, so each sample ends in the tensors
// that its map holds.

func init() {
	two := func(g *tf.Graph, in []tf.Output) tf.Output {
		m := ops.TensorMapInsert(ops.EmptyTensorMap(g), ops.Const(g, []int32{1, 2}), in[0])
		return ops.TensorMapInsert(m, ops.Const(g, []int32{3, 4}), ops.Mul(in[0], in[0]))
	}
	values := vec[float32](7, -8)
	lookup := func(g *tf.Graph, m, x tf.Output, key ...int32) tf.Output {
		return ops.Mul(ops.TensorMapLookup(m, ops.Const(g, key), x.DType()), x)
	}
	add := func(op, name string, fails bool, f func(g *tf.Graph, in []tf.Output) []tf.Output, in ...*core.Tensor) {
		addSamples(sample{Op: op, Name: name, In: in, F: f, Fails: fails, Types: onlyOwn, Static: "a map's elements need a shape"})
	}
	add("TensorMapLookup", "", false, func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{lookup(g, two(g, in), in[0], 3, 4), lookup(g, two(g, in), in[0], 1, 2)}
	}, values)
	add("TensorMapInsert", "again", false, func(g *tf.Graph, in []tf.Output) []tf.Output {
		m := ops.TensorMapInsert(two(g, in), ops.Const(g, []int32{1, 2}), ops.Neg(in[0]))
		return []tf.Output{lookup(g, m, in[0], 1, 2), ops.TensorMapSize(m)}
	}, values)
	add("TensorMapErase", "", false, func(g *tf.Graph, in []tf.Output) []tf.Output {
		m := ops.TensorMapErase(two(g, in), ops.Const(g, []int32{1, 2}), in[0].DType())
		return []tf.Output{lookup(g, m, in[0], 3, 4), ops.TensorMapSize(m), ops.TensorMapHasKey(m, ops.Const(g, []int32{1, 2}))}
	}, values)
	add("TensorMapHasKey", "", false, func(g *tf.Graph, in []tf.Output) []tf.Output {
		m := ops.TensorMapInsert(ops.EmptyTensorMap(g), in[0], in[0])
		return []tf.Output{ops.TensorMapHasKey(m, in[0]), ops.TensorMapHasKey(m, ops.Const(g, []string{"a"})), ops.TensorMapHasKey(m, ops.Const(g, []string{"b", "a"}))}
	}, vec("a", "b"))
	add("TensorMapStackKeys", "", false, func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorMapStackKeys(ops.TensorMapErase(two(g, in), ops.Const(g, []int32{1, 2}), in[0].DType()), tf.Int32)}
	}, values)
	add("EmptyTensorMap", "size", false, func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorMapSize(ops.EmptyTensorMap(g)), ops.TensorMapSize(ops.ZerosLike(two(g, in)))}
	}, values)
	add("TensorMapSize", "two maps", true, func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorMapSize(ops.Pack([]tf.Output{two(g, in), two(g, in)}))}
	}, values)
	add("TensorMapLookup", "missing", true, func(g *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{lookup(g, two(g, in), in[0], 3, 5)} }, values)
	add("TensorMapErase", "missing", true, func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorMapSize(ops.TensorMapErase(ops.EmptyTensorMap(g), in[0], tf.Float32))}
	}, vec("a"))
	add("TensorMapStackKeys", "none", true, func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorMapStackKeys(ops.EmptyTensorMap(g), in[0].DType())}
	}, values)
	add("TensorMapStackKeys", "other type", true, func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorMapStackKeys(two(g, in), tf.Float32)}
	}, values)
	add("TensorMapStackKeys", "shapes", true, func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorMapStackKeys(ops.TensorMapInsert(two(g, in), ops.Scalar[int32](g, 1), in[0]), tf.Int32)}
	}, values)
}

// TestMapSum: gradients of maps are added key by key.
func TestMapSum(t *testing.T) {
	g := tf.NewGraph()
	of := func(key string, v float32) tf.Output {
		return ops.TensorMapInsert(ops.EmptyTensorMap(g), ops.Scalar(g, key), ops.Scalar(g, v))
	}
	sum := ops.AddN([]tf.Output{of("a", 1), of("b", 2), of("a", 5)})
	a, b := ops.TensorMapLookup(sum, ops.Scalar(g, "a"), tf.Float32), ops.TensorMapLookup(sum, ops.Scalar(g, "b"), tf.Float32)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(t.Context(), nil, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if x, y := tf.Data[float32](out[0])[0], tf.Data[float32](out[1])[0]; x != 6 || y != 2 {
		t.Errorf("sums %v and %v, want 6 and 2", x, y)
	}
}
