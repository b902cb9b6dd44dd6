package batch_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/batch"
	"github.com/gorge-tf/gorge/tf/session"
)

// emptyRows runs f with rows that have no elements.
func emptyRows(t *testing.T, rows int, f func(x tf.Output) tf.Output) ([]*tf.Tensor, error) {
	t.Helper()
	g := tf.NewGraph()
	x := ops.Placeholder(g, tf.Float32, tf.Shape{-1, 0})
	y := f(x)
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	return s.Run(ctx, session.Feeds{x: (*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{rows, 0}))}, y)
}

// TestPartsWithoutBytes: what the parts of a request take is not hidden by rows that
// have no bytes.
func TestPartsWithoutBytes(t *testing.T) {
	defer memory.Limit(1 << 28)()
	_, err := emptyRows(t, 1<<21, func(x tf.Output) tf.Output {
		f := tf.NewFunction(x.Graph(), "same", []tf.ArgSpec{{DType: tf.Float32}}, func(in []tf.Output) []tf.Output { return []tf.Output{ops.Identity(in[0])} })
		o := batch.Opts{Threads: 1, MaxSize: 1 << 30, TimeoutMicros: 1000, AllowedSizes: []int{1}}
		return batch.Function(f, []tf.Output{x}, o, tf.Attr("enable_large_batch_splitting", true))[0]
	})
	if tf.CodeOf(err) != tf.ResourceExhausted {
		t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
	}
}

// TestPaddingWithoutBytes: padding of no bytes takes no time.
func TestPaddingWithoutBytes(t *testing.T) {
	out, err := emptyRows(t, 1, func(x tf.Output) tf.Output {
		xs, _, _ := batch.Batch([]tf.Output{x}, batch.Opts{Threads: 1, MaxSize: math.MaxInt32, TimeoutMicros: 1, AllowedSizes: []int{math.MaxInt32}}, 0)
		return xs[0]
	})
	if err != nil || out[0].Dim(0) != math.MaxInt32 {
		t.Errorf("got %v, %v", out, err)
	}
}
