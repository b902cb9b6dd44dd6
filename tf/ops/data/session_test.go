package data_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/ops"
	"github.com/gorge-tf/gorge/tf/session"
)

// iterator adds an iterator over p and returns its initializer and its next
// element.
func (p pipe) iterator() (start *tf.Operation, next tf.Output) {
	it := tf.Apply(p.d.Graph(), "IteratorV2", nil, append(p.about(), tf.Attr("shared_name", ""), tf.Attr("container", ""))...).Output(0)
	return tf.Apply(nil, "MakeIterator", []tf.Output{p.d, it}), tf.Apply(nil, "IteratorGetNext", []tf.Output{it}, p.about()...).Output(0)
}

// doubled calls a function in parallel and in advance, so that much is under way
// between the steps.
func doubled(g *tf.Graph) pipe {
	p := numbers(g, 5)
	f := p.function("double", func(x []tf.Output) []tf.Output { return []tf.Output{ops.Add(x[0], x[0])} })
	return p.calling("ParallelMapDatasetV2", []author.Callee{{Attr: "f", F: f}}, nil, ints(g, 3)).then("PrefetchDataset", ints(g, 2))
}

func TestIteratorGoesOnFromStepToStep(t *testing.T) {
	g := tf.NewGraph()
	start, next := doubled(g).iterator()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		if _, err := s.Run(t.Context(), nil, start); err != nil {
			t.Fatal(err)
		}
		var got []int64
		for {
			v, err := s.Run(t.Context(), nil, next)
			if tf.CodeOf(err) == tf.OutOfRange {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, tf.Data[int64](v[0])[0])
		}
		if want := "[0 2 4 6 8]"; fmt.Sprint(got) != want {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

// TestSessionEndsWhatIsUnderWay closes a session in the middle of a dataset: no
// goroutine may stay, see TestMain.
func TestSessionEndsWhatIsUnderWay(t *testing.T) {
	g := tf.NewGraph()
	start, next := doubled(g).iterator()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), nil, start); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), nil, next); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestCancelledStepDoesNotWait(t *testing.T) {
	g := tf.NewGraph()
	p := numbers(g, 1).then("RepeatDataset", ints(g, -1))
	never := p.function("never", func(x []tf.Output) []tf.Output {
		return []tf.Output{ops.Less(x[0], ops.Scalar(x[0].Graph(), int64(0)))}
	})
	start, next := p.calling("FilterDataset", []author.Callee{{Attr: "predicate", F: never}}, nil, nil).iterator()
	s, err := session.New(g)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Run(t.Context(), nil, start); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := s.Run(ctx, nil, next)
		ended <- err
	}()
	cancel()
	if err := <-ended; tf.CodeOf(err) != tf.Canceled {
		t.Error(err)
	}
}

// TestSessionEndsBesideIterator closes a session while an iterator computes in advance, in
// calls that threads share, what never becomes an element.
func TestSessionEndsBesideIterator(t *testing.T) {
	g := tf.NewGraph()
	p := numbers(g, 1).then("RepeatDataset", ints(g, -1))
	never := p.function("never", func(x []tf.Output) []tf.Output {
		many := ops.Fill([]int{1 << 18}, ops.Cast(x[0], tf.Float32))
		return []tf.Output{ops.Less(ops.Sum(ops.Exp(many), []int{0}), ops.Scalar(many.Graph(), float32(0)))}
	})
	start, next := p.calling("FilterDataset", []author.Callee{{Attr: "predicate", F: never}}, nil, nil).then("PrefetchDataset", ints(g, 1)).iterator()
	s, err := session.New(g, session.Threads(2))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), nil, start); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := s.Run(ctx, nil, next); tf.CodeOf(err) != tf.DeadlineExceeded {
		t.Error(err)
	}
	ended := make(chan error)
	go func() { ended <- s.Close() }()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("Close waits for the iterator")
	}
}
