package tf_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestFetchedSlicesStay keeps the elements of fetches and nothing else, while
// the session's memory is used again and again, and overwritten when package
// invariants is on.
func TestFetchedSlicesStay(t *testing.T) {
	g := tf.NewGraph()
	x := placeholder(g, "x", tf.Float32, tf.Shape{256})
	y := tf.Apply(nil, "Neg", []tf.Output{x}).Output(0)
	z := tf.Apply(nil, "Identity", []tf.Output{y}).Output(0)
	r := tf.Apply(nil, "Reshape", []tf.Output{y, constant(g, (*tf.Tensor)(fromSlice(t, []int32{16, 16})))}).Output(0)
	sum := mul(add(y, y), y)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	step := func(v float32, fetches ...tf.Fetchable) []*tf.Tensor {
		t.Helper()
		data := make([]float32, 256)
		for i := range data {
			data[i] = v
		}
		got, err := s.Run(context.Background(), session.Feeds{x: (*tf.Tensor)(fromSlice(t, data))}, fetches...)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	var kept [][]float32
	for _, got := range step(1, y, z, r) { // three names of one buffer
		kept = append(kept, tf.Data[float32](got))
	}
	for i := range 20 {
		step(float32(-i), sum)
		runtime.GC()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	for k, v := range kept {
		for i := range v {
			if v[i] != -1 {
				t.Fatalf("fetch %d: element %d became %v", k, i, v[i])
			}
		}
	}
}
