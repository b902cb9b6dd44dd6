package xla

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/internal/stablehlo"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// result runs the operations that build adds, and returns the tensor of the value that it
// returns.
func result(t *testing.T, build func(w writer, in []*stablehlo.Value) *stablehlo.Value, in ...any) *tf.Tensor {
	t.Helper()
	l, b := newLowering(&stablehlo.Module{}, tf.NewGraph(), func(int) error { return nil }), &stablehlo.Block{}
	xs := make([]tf.Output, len(in))
	for i, v := range in {
		xs[i] = ops.Constant(l.g, v)
		typ := tensorOf(elems[xs[i].DType()])
		for _, d := range xs[i].Shape() {
			typ.Shape = append(typ.Shape, int64(d))
		}
		b.Args = append(b.Args, &stablehlo.Value{Type: typ, Index: i})
	}
	w := writer{b}
	w.ends(build(w, b.Args))
	out, err := l.block(b, xs)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.New(l.g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Run(context.Background(), nil, out[0])
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// TestNormalizeVectors: where a tensor has no dimension but that of features, each element is
// its own mean.
func TestNormalizeVectors(t *testing.T) {
	got := result(t, func(w writer, in []*stablehlo.Value) *stablehlo.Value {
		op := &stablehlo.Op{Name: "batch_norm_training", Operands: in, Attrs: attrs{"feature_index": intAttr(0), "epsilon": stablehlo.Float{Value: 1}}}
		for range 3 {
			op.Results = append(op.Results, &stablehlo.Value{Type: in[0].Type, Def: op})
		}
		w.b.Ops = append(w.b.Ops, op)
		return op.Results[1]
	}, []float32{1, 2, 4}, []float32{1, 1, 1}, []float32{0, 0, 0})
	if want := "float32[3]{1, 2, 4}"; got.String() != want {
		t.Errorf("means: want %s, got %s", want, got)
	}
}
