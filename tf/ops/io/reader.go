package io

import (
	"context"

	"github.com/gorge-tf/gorge/internal/queue"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A reader takes names of work, files mostly, from a queue and gives out the
// records that it finds there. Reads are served one after the other.
type reader struct {
	name   string
	format format
	turn   queue.Line
	busy   bool
	closed bool // it cannot be found any more: who reads closes what is open

	work     string // what is being read
	again    bool   // a step has ended before the work was open
	produced int64
	started  int64
	finished int64
}

// A format knows how records lie in a piece of work.
type format interface {
	// open begins a piece of work.
	open(ctx context.Context, work string) error
	// next returns the next record, or ok = false at the end.
	next(ctx context.Context) (key, value string, ok bool, err error)
	close()
	// hasState reports whether what the format has read is all in the
	// counters of its reader, so that it can be saved.
	hasState() bool
}

// foresight is what formats have that know with a record whether it is the last
// one of its work. For others the work ends when no more records come.
type foresight interface{ atEnd() bool }

var _ = resource.Declare[*reader]("tensorflow::ReaderInterface")

var errClosed = tf.Errorf(tf.Canceled, "Read operation was cancelled")

// Close ends a reader that cannot be found any more.
func (r *reader) Close() {
	r.turn.Close(errClosed)
	_ = r.turn.Change(func() error {
		if r.closed = true; !r.busy {
			r.format.close()
		}
		return nil
	})
}

// newReader returns a reader that has no work yet.
func newReader(name string, f format) *reader {
	return &reader{name: name, format: f, turn: queue.Line{InOrder: true}}
}

// records is what a read comes to.
type records struct{ keys, values []string }

// exclusively calls f when nothing else is reading. f ends its turn by release.
func (r *reader) exclusively(ctx context.Context, f func(), fail func(error)) {
	r.turn.Wait(ctx, "Read", func() (bool, error) {
		if r.busy || r.closed {
			return false, r.whyNever()
		}
		r.busy = true
		return true, nil
	}, func(err error) {
		if err != nil {
			fail(err)
			return
		}
		f()
	})
}

// whyNever returns why there is no turn to wait for; nil: there may be one.
func (r *reader) whyNever() error {
	if r.closed {
		return errClosed
	}
	return nil
}

func (r *reader) release() {
	_ = r.turn.Change(func() error {
		if r.busy = false; r.closed {
			r.format.close()
		}
		return nil
	})
}

// whenFree calls f when nothing else is reading, and done with its result.
func (r *reader) whenFree(ctx context.Context, f func() error, done func(error)) {
	r.exclusively(ctx, func() {
		err := core.Guard("a reader", f) // which others may use in any case
		r.release()
		done(err)
	}, done)
}

// read gives done up to n records. It waits for work only while it has none.
func (r *reader) read(ctx context.Context, q *queue.Queue, n int64, done func(records, error)) {
	r.exclusively(ctx, func() {
		r.readOn(ctx, q, n, func(got records, err error) {
			r.release()
			done(got, err)
		})
	}, func(err error) { done(records{}, err) })
}

// readOn reads from the work at hand, or from what the queue has next. Work
// without records leads to more work: from another goroutine's callback, or
// around the loop.
func (r *reader) readOn(ctx context.Context, q *queue.Queue, n int64, done func(records, error)) {
	for {
		if r.started > r.finished {
			got, err := r.fromWork(ctx, n)
			if err != nil || len(got.keys) > 0 {
				done(got, err)
				return
			}
			continue
		}
		if r.again {
			if err := r.openWork(ctx); err != nil {
				done(records{}, err)
				return
			}
			continue
		}
		var at handover
		q.Dequeue(ctx, func(t queue.Tuple, err error) {
			if err == nil {
				err = r.begin(ctx, t)
			}
			if err != nil {
				done(records{}, err)
				at.drop()
				return
			}
			if at.later() {
				r.readOn(ctx, q, n, done)
			}
		})
		if !at.now() {
			return
		}
	}
}

// begin starts on the work that came from the queue.
func (r *reader) begin(ctx context.Context, t queue.Tuple) error {
	switch {
	case len(t) != 1:
		return tf.Errorf(tf.InvalidArgument, "Expected single component queue")
	case t[0].DType() != tf.String:
		return tf.Errorf(tf.InvalidArgument, "Expected queue with single string component")
	case t[0].Len() != 1:
		return tf.Errorf(tf.InvalidArgument, "Expected to dequeue a one-element string tensor")
	}
	r.work = core.Data[string](t[0])[0]
	return r.openWork(ctx)
}

// openWork opens the work at hand. If the step ends before, the next one does: the queue
// does not have that work any more.
func (r *reader) openWork(ctx context.Context) error {
	err := core.Guard("a reader", func() error { return r.format.open(ctx, r.work) })
	if r.again = err != nil && ctx.Err() != nil; err == nil {
		r.started++
	}
	return err
}

// fromWork reads up to n records of the work at hand. It must not panic: others
// would wait for their turn for ever.
func (r *reader) fromWork(ctx context.Context, n int64) (got records, err error) {
	defer core.Recover(&err, "a reader")
	for int64(len(got.keys)) < n {
		if ctx.Err() != nil {
			return got, stepOver(ctx)
		}
		key, value, ok, err := r.format.next(ctx)
		if err != nil {
			return got, err
		}
		core.Room(len(key) + len(value))
		if !ok {
			r.finish()
			break
		}
		got.keys, got.values = append(got.keys, key), append(got.values, value)
		r.produced++
		if f, is := r.format.(foresight); is && f.atEnd() {
			r.finish()
			break
		}
	}
	return got, nil
}

// stepOver is the error of a read whose step has ended.
func stepOver(ctx context.Context) error {
	return &tf.Error{Code: tf.Canceled, Msg: "the step is over", Err: context.Cause(ctx), Derived: true}
}

// finish ends the work at hand.
func (r *reader) finish() {
	r.format.close()
	r.finished = r.started
}

// reset makes the reader as new.
func (r *reader) reset() {
	r.format.close()
	r.work, r.again, r.produced, r.started, r.finished = "", false, 0, 0, 0
}
