package tf_test

import (
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func fromSlice[T tf.Elem](t *testing.T, data []T, shape ...int) *core.Tensor {
	t.Helper()
	x, err := core.FromSlice(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestNilFeedIsRefused(t *testing.T) {
	var x *tf.Tensor
	if _, err := x.AsTensor(); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("a nil tensor: %v", err)
	}
	if _, err := tf.Values[float32](x); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("values of a nil tensor: %v", err)
	}
}

// TestWhoseMemory: a tensor over a slice is the slice; a step that takes it has a
// copy, unless the program has given the slice away.
func TestWhoseMemory(t *testing.T) {
	data := []float32{1, 2}
	x, err := tf.FromSlice(data)
	if err != nil {
		t.Fatal(err)
	}
	taken := (*core.Tensor)(x).Enter()
	data[0] = 7
	if got := tf.Data[float32](x); !slices.Equal(got, []float32{7, 2}) {
		t.Errorf("the tensor has %v, the slice %v", got, data)
	}
	if got := core.Data[float32](taken); !slices.Equal(got, []float32{1, 2}) {
		t.Errorf("what was taken became %v", got)
	}
	given, err := tf.Adopt(data)
	if err != nil {
		t.Fatal(err)
	}
	if taken := (*core.Tensor)(given).Enter(); &core.Data[float32](taken)[0] != &data[0] {
		t.Error("what was given away has been copied")
	}
}

// TestLeave: memory that someone else refers to is copied when it leaves.
func TestLeave(t *testing.T) {
	x := core.Scalar(float32(1))
	shared := x.Share()
	if left := shared.Leave(); &core.Data[float32](left)[0] == &core.Data[float32](x)[0] {
		t.Error("shared memory was handed out")
	}
	at := &core.Data[float32](x)[0]
	if left := x.Leave(); &core.Data[float32](left)[0] != at {
		t.Error("the last owner's memory was copied")
	}
	s := core.Wrap([]string{"a"}, core.Shape{1})
	if left := s.Share().Leave(); &core.Data[string](left)[0] == &core.Data[string](s)[0] {
		t.Error("strings have no count of references: they must be copied")
	}
}

func TestTooLargeTensors(t *testing.T) {
	for _, s := range []tf.Shape{{1 << 45}, {1 << 23, 1 << 22}} {
		if _, err := tf.NewTensor(tf.Float32, s); tf.CodeOf(err) != tf.ResourceExhausted {
			t.Errorf("%v: %v", s, err)
		}
	}
	if _, err := tf.NewTensor(tf.Float32, tf.Shape{-1}); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("an unknown size: %v", err)
	}
}

// A nil tensor, returned beside an error, can be printed.
func TestDataOfNil(t *testing.T) {
	if got := tf.Data[float32](nil); got != nil {
		t.Errorf("got %v, want nil", got)
	}
}

// TestTensorOfRaggedSlices: a first row that is longer than others asks for no memory for
// all of them.
func TestTensorOfRaggedSlices(t *testing.T) {
	rows := make([][]int8, 1<<22)
	rows[0] = make([]int8, 1<<22)
	if _, err := tf.TensorOf(rows); tf.CodeOf(err) != tf.InvalidArgument {
		t.Error(err)
	}
	if x, err := tf.TensorOf([][2][]uint{{{1}, {2}}, {{3}, {4}}}); err != nil || x.String() != "uint64[2,2,1]{1, 2, 3, 4}" {
		t.Errorf("%v, %v", x, err)
	}
}
