package data_test

import (
	"context"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/ops/queue"
	"github.com/gorge-tf/gorge/tf/session"
)

// TestOneShotWaitsForAsLongAsItIsWanted: a step that waits for another one, which makes the
// dataset, can be cancelled meanwhile.
func TestOneShotWaitsForAsLongAsItIsWanted(t *testing.T) {
	g := tf.NewGraph()
	shared := func(name string) tf.Output {
		return queue.FIFOQueueV2(g, []tf.DType{tf.Int64}, queue.Opts{SharedName: name})
	}
	f := tf.NewFunction(g, "factory", nil, func([]tf.Output) []tf.Output {
		inner := numbers(g, 1).d.Graph()
		in := func(name string) tf.Output {
			return queue.FIFOQueueV2(inner, []tf.DType{tf.Int64}, queue.Opts{SharedName: name})
		}
		begun := queue.QueueEnqueueV2(in("begun"), []tf.Output{ops.Scalar(inner, int64(1))})
		n := queue.QueueDequeueV2(in("gate"), []tf.DType{tf.Int64}, tf.After(begun))[0]
		return []tf.Output{tf.Apply(inner, "RangeDataset", []tf.Output{ops.Scalar(inner, int64(0)), n, ops.Scalar(inner, int64(1))}, numbers(inner, 1).about()...).Output(0)}
	})
	about := numbers(g, 1).about()
	it := author.CallLater("OneShotIterator", nil, []author.Callee{{Attr: "dataset_factory", F: f}}, nil, about...).Output(0)
	next := tf.Apply(nil, "IteratorGetNext", []tf.Output{it}, about...).Output(0)
	begun := queue.QueueDequeueV2(shared("begun"), []tf.DType{tf.Int64})[0]
	open := queue.QueueEnqueueV2(shared("gate"), []tf.Output{ops.Scalar(g, int64(9))})
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	first := make(chan error, 1)
	go func() {
		_, err := s.Run(t.Context(), nil, next)
		first <- err
	}()
	if _, err := s.Run(t.Context(), nil, begun); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Run(ctx, nil, next); err == nil {
		t.Error("a step that was cancelled gave an element")
	}
	if _, err := s.Run(t.Context(), nil, open); err != nil {
		t.Fatal(err)
	}
	if err := <-first; err != nil {
		t.Error(err)
	}
}
