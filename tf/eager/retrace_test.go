package eager_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// sums returns a Func that adds up, and where the shapes go that it is traced for.
func sums(g *tf.Graph, o eager.FuncOptions) (*eager.Func, *[]string) {
	var traced []string
	return eager.NewFunc(g, "f", func(a []tf.Output, static ...any) []tf.Output {
		traced = append(traced, fmt.Sprintf("%v%v %v", a[0].DType(), a[0].Shape(), static))
		return []tf.Output{a[0].Square().Sum()}
	}).With(o), &traced
}

// TestReduceRetracing has the traces that TensorFlow makes with reduce_retracing=True.
func TestReduceRetracing(t *testing.T) {
	g := eager.New()
	f, traced := sums(g, eager.FuncOptions{ReduceRetracing: true})
	for _, s := range [][]int{{1}, {2}, {3}, {2, 2}, {3, 2}, {2, 2, 2}, {9}} {
		x := ops.Fill(s, ops.Scalar(g, float32(2)))
		var y []tf.Output
		tape := eager.Record(g, func() { y = f.Call([]tf.Output{x}) })
		if got := tf.Data[float32](value(t, y[0]))[0]; got != float32(4*x.Shape().NumElements()) {
			t.Error(s, got)
		}
		dx, err := tape.Gradients(y[0], x)
		if err != nil || !dx[0].Shape().Equal(x.Shape()) {
			t.Error(s, dx, err)
		}
	}
	for _, s := range [][]int{{2}, {3}, {5, 2}, {5, 4}} {
		f.Call([]tf.Output{ops.Fill(s, ops.Scalar(g, int32(1)))})
	}
	f.Call([]tf.Output{ops.Const(g, []float32{1, 2})}, 7) // other values in Go: other traces
	want := []string{"float32[1] []", "float32[?] []", "float32<unknown> []", "int32[2] []", "int32[?] []", "int32<unknown> []", "float32[2] [7]"}
	if !slices.Equal(*traced, want) {
		t.Errorf("got %q, want %q", *traced, want)
	}
}

// TestSignature: one trace for all that fits, an error for the rest.
func TestSignature(t *testing.T) {
	g := eager.New()
	f, traced := sums(g, eager.FuncOptions{Signature: []tf.ArgSpec{{Name: "x", DType: tf.Float32, Shape: tf.Shape{-1, 2}}}})
	for n := range 5 {
		x := ops.Fill([]int{n + 1, 2}, ops.Scalar(g, float32(1)))
		if got := tf.Data[float32](value(t, f.Call([]tf.Output{x})[0]))[0]; got != float32(2*n+2) {
			t.Error(n, got)
		}
	}
	if want := []string{"float32[?,2] []"}; !slices.Equal(*traced, want) {
		t.Errorf("got %q, want %q", *traced, want)
	}
	const rule = "the arguments of a function must be as its signature says: "
	one := ops.Const(g, []float32{1, 2})
	for want, args := range map[string][]tf.Output{
		"argument 0 of f is float32[?,2], got float32[2]": {one},
		"argument 0 of f is float32[?,2], got int32[1,2]": {ops.Const(g, []int32{1, 2}, 1, 2)},
		"that of f has 1, got 0":                          {},
		"that of f has 1, got 2":                          {one, one},
	} {
		err := f.Call(args)[0].Err()
		if tf.CodeOf(err) != tf.InvalidArgument || !strings.Contains(err.Error(), rule+want) || !strings.HasPrefix(err.Error(), "retrace_test.go:") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestFrequentTraces are warned of as often as by TensorFlow.
func TestFrequentTraces(t *testing.T) {
	var log bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(was)
	g := eager.New()
	call := func(f *eager.Func, n int) { f.Call([]tf.Output{ops.Const(g, make([]float32, n))}) }
	f, _ := sums(g, eager.FuncOptions{})
	for n := range 4 {
		call(f, n+1)
	}
	if log.Len() > 0 {
		t.Error(log.String())
	}
	for n := range 20 {
		call(f, n+5)
	}
	if s := log.String(); strings.Count(s, "triggered retracing") != 2 || !strings.Contains(s, "5 out of the last 5 calls to f ") || !strings.Contains(s, "6 out of the last 6 calls to f ") {
		t.Error(s)
	}
	log.Reset()
	f, _ = sums(g, eager.FuncOptions{})
	for n := range 5 { // rarely enough
		for range 4 {
			call(f, n+1)
		}
	}
	if log.Len() > 0 {
		t.Error(log.String())
	}
}
