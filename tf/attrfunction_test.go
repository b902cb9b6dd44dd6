package tf_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestFunctionsAsAttributes calls a function by an operation that is added by hand:
// the library has the function, and the operation waits for what it waits for.
func TestFunctionsAsAttributes(t *testing.T) {
	g := tf.NewGraph()
	x, two := ops.Const(g, []float32{1, 2}), ops.Scalar[float32](g, 2)
	f := tf.NewFunction(g, "f", tf.SpecOf(x), func(in []tf.Output) []tf.Output { return []tf.Output{in[0].Mul(two)} })
	in := append([]tf.Output{x}, f.Captures()...)
	y := tf.Apply(g, "PartitionedCall", in, tf.Attr("f", f), tf.Attr("Tout", []tf.DType{tf.Float32})).Output(0)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := session.Fetch[float32](t.Context(), s, nil, y)
	if err != nil || !slices.Equal(got, []float32{2, 4}) {
		t.Error(got, err)
	}
}

func TestNoFunctionAsAttribute(t *testing.T) {
	g := tf.NewGraph()
	x := ops.Const(g, []float32{1})
	bad := tf.NewFunction(tf.NewGraph(), "bad", nil, nil)
	for _, f := range []*tf.Function{nil, bad} {
		y := tf.Apply(g, "PartitionedCall", []tf.Output{x}, tf.Attr("f", f), tf.Attr("Tout", []tf.DType{tf.Float32}))
		if tf.CodeOf(y.Err()) != tf.InvalidArgument || !strings.Contains(y.Err().Error(), "function") {
			t.Errorf("%v: %v", f == nil, y.Err())
		}
	}
}

// TestGradientsOfReads: every Value of an eager graph's variable is a read of its
// own; the error says what to ask for.
func TestGradientsOfReads(t *testing.T) {
	g := eager.New()
	v := tf.NewVariable(ops.Const(g, []float32{1, 2}), tf.VariableOptions{Name: "v"})
	var y tf.Output
	tape := eager.Record(g, func() { y = v.Value().Square() })
	if _, err := tape.Gradients(y, v.Value()); err == nil || !strings.Contains(err.Error(), "its Handle") {
		t.Error(err)
	}
	if _, err := tape.Gradients(y, v.Handle()); err != nil {
		t.Error(err)
	}
}

type (
	id    int32
	ids   []id
	label string
)

// TestLiteralsOfOwnTypes makes tensors of types that a program defines.
func TestLiteralsOfOwnTypes(t *testing.T) {
	for want, v := range map[string]any{
		"int32[]{3}":                         id(3),
		"int32[2]{1, 2}":                     ids{1, 2},
		"int32[2,1]{4, 5}":                   [][]id{{4}, {5}},
		`string[1,2]{"a", "b"}`:              [1][]label{{"a", "b"}},
		"uint64[2]{1, 18446744073709551615}": []uint{1, 1<<64 - 1},
		"uint64[]{7}":                        uint(7),
	} {
		x, err := tf.TensorOf(v)
		if err != nil || x.String() != want {
			t.Errorf("%T: got %v %v, want %s", v, x, err, want)
		}
	}
	for _, v := range []any{struct{}{}, []any{1}, map[string]int{}, uintptr(1), make(chan int)} {
		if _, err := tf.TensorOf(v); tf.CodeOf(err) != tf.InvalidArgument {
			t.Errorf("%T: %v", v, err)
		}
	}
}
