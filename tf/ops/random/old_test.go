package random_test

import (
	"context"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// twice runs an op two times in one session and returns both results.
func twice(t *testing.T, build func(g *tf.Graph) tf.Output) (out [2]*core.Tensor) {
	t.Helper()
	g := tf.NewGraph()
	y := build(g)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range out {
		v, err := s.Run(context.Background(), nil, y)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = (*core.Tensor)(v[0])
	}
	return out
}

// TestCropPlaces compares places with those of TensorFlow given a graph of
// version 7: where the first element of the part came from.
func TestCropPlaces(t *testing.T) {
	out := twice(t, func(g *tf.Graph) tf.Output {
		return nary("RandomCrop", seeds()...)(g, []tf.Output{ops.ConstValue(g, numbered(9, 7, 2)), ops.ConstValue(g, vec[int64](3, 2))})[0]
	})
	for i, want := range []float32{52, 90} {
		if got := core.Data[float32](out[i])[0]; got != want {
			t.Errorf("run %d begins with element %v, want %v", i, got, want)
		}
	}
}

// TestPoissonV1 compares with TensorFlow given a graph of version 24.
func TestPoissonV1(t *testing.T) {
	out := twice(t, func(g *tf.Graph) tf.Output {
		return nary("RandomPoisson", seeds()...)(g, []tf.Output{ops.ConstValue(g, i32(7)), ops.ConstValue(g, vec[float32](0.5, 3, 30, 0))})[0]
	})
	want := [2][]float32{
		{1, 1, 32, 0, 0, 3, 36, 0, 0, 3, 32, 0, 1, 1, 26, 0, 0, 3, 22, 0, 0, 5, 39, 0, 1, 3, 25, 0},
		{2, 1, 27, 0},
	}
	for i, w := range want {
		if got := core.Data[float32](out[i])[:len(w)]; !slices.Equal(got, w) {
			t.Errorf("run %d: got %v, want %v", i, got, w)
		}
	}
}

// numbered returns a tensor whose elements are their numbers.
func numbered(dims ...int) *core.Tensor {
	x := core.NewTensor(tf.Float32, tf.Shape(dims))
	for i := range core.Data[float32](x) {
		core.Data[float32](x)[i] = float32(i)
	}
	return x
}
