package data_test

import (
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// ahead puts an iterator on a dataset without end, which is computed in advance, takes an
// element and returns the iterator.
func ahead(t *testing.T, g *tf.Graph, op string) tf.Output {
	t.Helper()
	p := numbers(g, 3).then("RepeatDataset", ints(g, -1))
	f := p.function("double", func(x []tf.Output) []tf.Output { return []tf.Output{ops.Add(x[0], x[0])} })
	p = p.calling("ParallelMapDatasetV2", []author.Callee{{Attr: "f", F: f}}, nil, ints(g, 2)).then("PrefetchDataset", ints(g, 2))
	it := p.named(op)
	next := tf.Apply(nil, "IteratorGetNext", []tf.Output{it}, append(p.about(), tf.After(p.started(it)))...)
	if err := next.Err(); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
	return it
}

// TestDeletedIteratorsEnd: what an iterator of an eager graph does in advance ends when the
// iterator is deleted.
func TestDeletedIteratorsEnd(t *testing.T) {
	for _, op := range []string{"IteratorV2", "AnonymousIterator", "AnonymousIteratorV2", "AnonymousIteratorV3"} {
		before := goleak.IgnoreCurrent()
		g := eager.New()
		it := ahead(t, g, op)
		if err := ops.DestroyResourceOp(it, ops.DestroyResourceOpts{MustExist: true}).Err(); err != nil {
			t.Errorf("%s: %v", op, err)
		}
		if err := leaktest.Find(before); err != nil {
			t.Errorf("%s: %v", op, err)
		}
		runtime.KeepAlive(g)
	}
}

// TestDroppedIteratorsEnd: an iterator that goes with its handle, as TensorFlow's do, ends
// when the program has no handle any more.
func TestDroppedIteratorsEnd(t *testing.T) {
	for _, op := range []string{"AnonymousIteratorV2", "AnonymousIteratorV3"} {
		before := goleak.IgnoreCurrent()
		g := eager.New()
		ahead(t, g, op)
		var err error
		for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
			runtime.GC()
			if err = goleak.Find(before); err == nil { // which waits a little
				break
			}
		}
		if err != nil {
			t.Errorf("%s: %v", op, err)
		}
		runtime.KeepAlive(g)
	}
}

// TestHeldIteratorsStay: a copy of the handle holds the iterator.
func TestHeldIteratorsStay(t *testing.T) {
	g := eager.New()
	it := ops.Identity(ahead(t, g, "AnonymousIteratorV3"))
	about := (pipe{types: []tf.DType{tf.Int64}, shapes: []tf.Shape{{}}}).about()
	for range 5 {
		runtime.GC()
		if err := tf.Apply(nil, "IteratorGetNext", []tf.Output{it}, about...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	if err := ops.DestroyResourceOp(it).Err(); err != nil {
		t.Error(err)
	}
}
