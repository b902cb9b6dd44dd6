package ops_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/optest"
	"github.com/gorge-tf/gorge/tf/session"
)

// Lists are no values that could be compared, so each sample ends in the
// tensors that its list holds.

func init() {
	unknown := func(g *tf.Graph) tf.Output { return ops.Scalar[int32](g, -1) }
	pair := func(g *tf.Graph) tf.Output { return ops.Const(g, []int32{2}) }
	matrix := arr[float32](tf.Shape{3, 2}, 1, 2, 3, 4, 5, 6)
	vec := arr[float32](tf.Shape{2}, 7, 8)
	list := func(g *tf.Graph, t tf.Output) tf.Output { return ops.TensorListFromTensor(t, pair(g)) }
	stack := func(g *tf.Graph, l, like tf.Output) tf.Output {
		return ops.TensorListStack(l, pair(g), like.DType())
	}
	add := func(op, name string, f func(g *tf.Graph, in []tf.Output) []tf.Output, in ...*core.Tensor) {
		optest.Add(optest.Sample{Op: op, Name: name, In: in, F: f, Types: optest.OnlyOwn, Static: "a list's elements need a shape"})
	}
	add("TensorListStack", "of rows", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{stack(g, list(g, in[0]), in[0])}
	}, matrix)
	add("TensorListFromTensor", "weighted", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.Mul(stack(g, ops.TensorListFromTensor(in[0], unknown(g)), in[0]), in[0])}
	}, matrix)
	add("TensorListPushBack", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		l := ops.TensorListPushBack(list(g, in[0]), in[1])
		return []tf.Output{stack(g, ops.TensorListPushBack(l, ops.Neg(in[1])), in[0])}
	}, matrix, vec)
	add("TensorListPopBack", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		rest, last := ops.TensorListPopBack(list(g, in[0]), pair(g), in[0].DType())
		return []tf.Output{stack(g, rest, in[0]), last}
	}, matrix)
	add("EmptyTensorList", "pushed to", func(g *tf.Graph, in []tf.Output) []tf.Output {
		l := ops.EmptyTensorList(pair(g), ops.Scalar[int32](g, 4), in[0].DType())
		return []tf.Output{stack(g, ops.TensorListPushBack(l, in[0]), in[0])}
	}, vec)
	add("TensorListReserve", "partly set", func(g *tf.Graph, in []tf.Output) []tf.Output {
		l := ops.TensorListReserve(pair(g), ops.Scalar[int32](g, 3), in[0].DType())
		return []tf.Output{stack(g, ops.TensorListSetItem(l, ops.Scalar[int32](g, 1), in[0]), in[0])}
	}, vec)
	add("TensorListLength", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorListLength(list(g, in[0]))}
	}, matrix)
	add("TensorListElementShape", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorListElementShape(list(g, in[0]), tf.Int64), ops.TensorListElementShape(ops.TensorListFromTensor(in[0], unknown(g)), tf.Int32)}
	}, matrix)
	add("TensorListConcatLists", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		d := in[0].DType()
		return []tf.Output{stack(g, ops.TensorListConcatLists(list(g, in[0]), list(g, ops.StopGradient(in[0])), d), in[0])}
	}, arr[int32](tf.Shape{2, 2}, 1, 2, 3, 4))
	add("TensorListResize", "longer", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{stack(g, ops.TensorListResize(list(g, in[0]), ops.Scalar[int32](g, 4)), in[0])}
	}, matrix)
	add("TensorListResize", "shorter", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{stack(g, ops.TensorListResize(list(g, in[0]), ops.Scalar[int32](g, 2)), in[0])}
	}, matrix)
	add("TensorListGetItem", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorListGetItem(list(g, in[0]), ops.Scalar[int32](g, 1), pair(g), in[0].DType())}
	}, matrix)
	add("TensorListSetItem", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{stack(g, ops.TensorListSetItem(list(g, in[0]), ops.Scalar[int32](g, 2), in[1]), in[0])}
	}, matrix, vec)
	add("TensorListGather", "twice one", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{ops.TensorListGather(list(g, in[0]), ops.Const(g, []int32{2, 0}), pair(g), in[0].DType())}
	}, matrix)
	add("TensorListScatter", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{stack(g, ops.TensorListScatter(in[0], ops.Const(g, []int32{3, 0, 1}), pair(g)), in[0])}
	}, matrix)
	add("TensorListScatterV2", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		return []tf.Output{stack(g, ops.TensorListScatterV2(in[0], ops.Const(g, []int32{3, 0, 1}), pair(g), ops.Scalar[int32](g, 5)), in[0])}
	}, matrix)
	add("TensorListScatterIntoExistingList", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		l := ops.TensorListScatterIntoExistingList(list(g, in[0]), in[1], ops.Const(g, []int32{2, 0}))
		return []tf.Output{stack(g, l, in[0])}
	}, matrix, arr[float32](tf.Shape{2, 2}, 7, 8, 9, 10))
	add("TensorListSplit", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		l := ops.TensorListSplit(in[0], ops.Const(g, []int32{-1, 2}), ops.Const(g, []int64{1, 2}))
		joined, lengths := ops.TensorListConcatV2(l, ops.Const(g, []int32{-1, 2}), ops.Const(g, []int64{}), in[0].DType())
		return []tf.Output{joined, lengths}
	}, matrix)
	add("TensorListConcatV2", "of equals", func(g *tf.Graph, in []tf.Output) []tf.Output {
		joined, _ := ops.TensorListConcatV2(list(g, in[0]), pair(g), ops.Const(g, []int64{}), in[0].DType())
		return []tf.Output{ops.Mul(joined, joined)}
	}, matrix)
	add("TensorListConcat", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		o := tf.Apply(g, "TensorListConcat", []tf.Output{list(g, in[0])}, tf.Attr("element_dtype", in[0].DType()), tf.Attr("element_shape", tf.Shape{2}))
		return o.Outputs()
	}, matrix)
	add("TensorListPushBackBatch", "", func(g *tf.Graph, in []tf.Output) []tf.Output {
		e := func() tf.Output { return ops.EmptyTensorList(pair(g), unknown(g), in[0].DType()) }
		lists := ops.TensorListPushBackBatch(ops.Pack([]tf.Output{e(), e()}), in[0])
		l := ops.Unpack(lists, 2)
		return []tf.Output{stack(g, l[0], in[0]), stack(g, l[1], in[0])}
	}, arr[int32](tf.Shape{2, 2}, 1, 2, 3, 4))
	addListFailures()
}

// addListFailures: the words are TensorFlow's.
func addListFailures() {
	vec := arr[float32](tf.Shape{2}, 7, 8)
	fail := func(op, name string, f func(g *tf.Graph, x tf.Output) tf.Output) {
		optest.Add(optest.Failing(op, name, func(g *tf.Graph, in []tf.Output) []tf.Output { return []tf.Output{f(g, in[0])} }, vec))
	}
	list := func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListFromTensor(x, ops.Const(g, []int32{}))
	}
	unknownList := func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListFromTensor(x, ops.Scalar[int32](g, -1))
	}
	fail("TensorListGetItem", "beyond", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListGetItem(list(g, x), ops.Scalar[int32](g, 2), ops.Const(g, []int32{}), tf.Float32)
	})
	fail("TensorListSetItem", "beyond", func(g *tf.Graph, x tf.Output) tf.Output {
		l := ops.TensorListSetItem(list(g, x), ops.Scalar[int32](g, -1), ops.Scalar[float32](g, 1))
		return ops.TensorListLength(l)
	})
	fail("TensorListPopBack", "empty", func(g *tf.Graph, x tf.Output) tf.Output {
		_, last := ops.TensorListPopBack(ops.EmptyTensorList(ops.Shape(x), ops.Scalar[int32](g, -1), tf.Float32), ops.Shape(x), tf.Float32)
		return last
	})
	fail("TensorListPushBack", "full", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListLength(ops.TensorListPushBack(ops.EmptyTensorList(ops.Shape(x), ops.Scalar[int32](g, 0), tf.Float32), x))
	})
	fail("TensorListPushBackBatch", "shape", func(g *tf.Graph, x tf.Output) tf.Output {
		lists := ops.Pack([]tf.Output{list(g, x), list(g, x)})
		pushed := ops.TensorListPushBackBatch(lists, ops.ExpandDims(x, ops.Scalar[int32](g, 1)))
		return ops.TensorListLength(ops.Unpack(pushed, 2)[1])
	})
	fail("TensorListGather", "rank", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListGather(unknownList(g, x), ops.Const(g, []int32{0}), ops.Const(g, []int32{-1}), tf.Float32)
	})
	fail("TensorListGather", "beyond", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListGather(unknownList(g, x), ops.Const(g, []int32{-1}), ops.Scalar[int32](g, -1), tf.Float32)
	})
	fail("TensorListGather", "none", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListGather(unknownList(g, x), ops.Const(g, []int32{}), ops.Scalar[int32](g, -1), tf.Float32)
	})
	fail("TensorListGather", "unset", func(g *tf.Graph, x tf.Output) tf.Output {
		l := ops.TensorListReserve(ops.Scalar[int32](g, -1), ops.Size(x), tf.Float32)
		return ops.TensorListGather(l, ops.Const(g, []int32{1}), ops.Const(g, []int32{-1}), tf.Float32)
	})
	fail("TensorListScatterV2", "rows", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListLength(ops.TensorListScatterV2(x, ops.Const(g, []int32{0, 1, 2}), ops.Const(g, []int32{}), ops.Scalar[int32](g, -1)))
	})
	fail("TensorListScatterV2", "sizes", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListLength(ops.TensorListScatterV2(x, ops.Const(g, []int32{0, 1}), ops.Const(g, []int32{}), ops.Shape(x)))
	})
	fail("TensorListScatterIntoExistingList", "rows", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListLength(ops.TensorListScatterIntoExistingList(list(g, x), x, ops.Const(g, []int32{0})))
	})
	fail("TensorListSplit", "scalars", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListLength(ops.TensorListSplit(x, ops.Const(g, []int32{}), ops.Const(g, []int64{2})))
	})
	fail("TensorListConcatV2", "unset", func(g *tf.Graph, x tf.Output) tf.Output {
		l := ops.TensorListReserve(ops.Const(g, []int32{-1}), ops.Size(x), tf.Float32)
		joined, _ := ops.TensorListConcatV2(l, ops.Const(g, []int32{-1}), ops.Const(g, []int64{}), tf.Float32)
		return joined
	})
	fail("TensorListConcatLists", "shapes", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListLength(ops.TensorListConcatLists(list(g, x), unknownList(g, x), tf.Float32))
	})
	fail("TensorListStack", "too few", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListStack(list(g, x), ops.Const(g, []int32{}), tf.Float32, tf.Attr("num_elements", 3))
	})
	fail("TensorListStack", "other shape", func(g *tf.Graph, x tf.Output) tf.Output {
		l := ops.TensorListPushBack(ops.EmptyTensorList(ops.Shape(x), ops.Scalar[int32](g, -1), tf.Float32), x)
		return ops.TensorListStack(l, ops.Const(g, []int32{3}), tf.Float32)
	})
	fail("TensorListResize", "negative", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListLength(ops.TensorListResize(list(g, x), ops.Scalar[int32](g, -1)))
	})
	fail("TensorListReserve", "negative", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListLength(ops.TensorListReserve(ops.Shape(x), ops.Scalar[int32](g, -2), tf.Float32))
	})
	fail("TensorListSplit", "unused", func(g *tf.Graph, x tf.Output) tf.Output {
		return ops.TensorListLength(ops.TensorListSplit(x, ops.Const(g, []int32{-1}), ops.Const(g, []int64{1})))
	})
}

// TestListsAreValues: what has been pushed to a list does not show in another
// one that grows out of the same.
func TestListsAreValues(t *testing.T) {
	g := tf.NewGraph()
	base := ops.TensorListFromTensor(ops.Const(g, []float32{1}), ops.Const(g, []int32{}))
	var all []tf.Output
	for _, v := range []float32{2, 3, 4} {
		l := ops.TensorListPushBack(ops.TensorListPushBack(base, ops.Scalar(g, v)), ops.Scalar(g, -v))
		all = append(all, ops.TensorListStack(l, ops.Const(g, []int32{}), tf.Float32))
	}
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(t.Context(), nil, all[0], all[1], all[2])
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []float32{2, 3, 4} {
		if got := tf.Data[float32](out[i]); len(got) != 3 || got[0] != 1 || got[1] != v || got[2] != -v {
			t.Errorf("list %d is %v", i, got)
		}
	}
}

// TestListsAdd: gradients of lists are added element by element; one that is
// not set is zero.
func TestListsAdd(t *testing.T) {
	g := tf.NewGraph()
	scalar := ops.Const(g, []int32{})
	a := ops.TensorListFromTensor(ops.Const(g, []float32{1, 2, 3}), scalar)
	b := ops.TensorListSetItem(ops.TensorListReserve(scalar, ops.Scalar[int32](g, 3), tf.Float32), ops.Scalar[int32](g, 1), ops.Scalar[float32](g, 10))
	sum := ops.TensorListStack(ops.AddN([]tf.Output{a, b, a}), scalar, tf.Float32)
	zero := ops.TensorListStack(ops.ZerosLike(a), scalar, tf.Float32)
	bad := ops.AddN([]tf.Output{a, ops.TensorListResize(a, ops.Scalar[int32](g, 2))})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out, err := s.Run(t.Context(), nil, sum, zero)
	if err != nil {
		t.Fatal(err)
	}
	if got := out[0].String() + out[1].String(); got != "float32[3]{2, 14, 6}float32[3]{0, 0, 0}" {
		t.Errorf("got %s", got)
	}
	if _, err := s.Run(t.Context(), nil, ops.TensorListLength(bad)); err == nil || !strings.Contains(err.Error(), "different lengths. One is 3 and the other is 2") {
		t.Errorf("got %v", err)
	}
}
