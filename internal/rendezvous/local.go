package rendezvous

import (
	"context"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// Done receives the outcome of a receive, and owns the tensor.
type Done = func(t *core.Tensor, dead bool, err error)

// A Local is the table of one step in one process: under each key a queue of
// values that have not been asked for yet, or of receivers that wait. It is a
// [tf.Rendezvous], safe for concurrent use; Done functions are called without
// its lock, on the goroutine of the sender, of the receiver, or the one that
// aborts.
type Local struct {
	devices Devices

	mu    sync.Mutex
	table map[string]queue
	free  *item // items to use again
	err   error // set by Abort
}

// Devices finds a device of this process by its full name, nil for others.
type Devices interface {
	Lookup(name string) core.Device
}

// NewLocal returns an empty table. Values that cross between devices are
// copied by those devices; nil says that all devices share the host's memory.
func NewLocal(devices Devices) *Local {
	return &Local{devices: devices, table: map[string]queue{}}
}

// Send gives t, of which it takes a reference of its own, to the receiver of
// key. A dead value may have no tensor.
func (l *Local) Send(key string, t *core.Tensor, dead bool) error {
	if t != nil {
		t = t.Share()
	}
	w, err := l.meet(key, t, dead)
	switch {
	case err != nil:
		release(t)
		return err
	case w.done != nil:
		l.deliver(&w, key, t, dead)
	}
	return nil
}

// meet leaves the value under key, or returns the waiter for it.
func (l *Local) meet(key string, t *core.Tensor, dead bool) (item, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return item{}, l.err
	}
	if q := l.table[key]; q.waiting() {
		return l.pop(key, q), nil
	}
	l.push(key, item{t: t, dead: dead})
	return item{}, nil
}

// Recv takes one value from key, now or when it is sent. If ctx ends first,
// done hears that the receive is cancelled. A context that cannot end costs
// nothing: a step that aborts its rendezvous anyway may pass one.
func (l *Local) Recv(ctx context.Context, key string, done Done) {
	v, ok, err := l.takeOrWait(ctx, key, done)
	switch {
	case err != nil:
		done(nil, false, err)
	case ok:
		l.deliver(&item{done: done}, key, v.t, v.dead)
	}
}

func (l *Local) takeOrWait(ctx context.Context, key string, done Done) (v item, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return item{}, false, l.err
	}
	if q := l.table[key]; q.head != nil && !q.waiting() {
		return l.pop(key, q), true, nil
	}
	if ctx.Err() != nil {
		return item{}, false, cancelled(ctx)
	}
	w := l.push(key, item{done: done})
	if ctx.Done() != nil {
		w.stop = context.AfterFunc(ctx, func() { l.cancel(ctx, key, w) })
	}
	return item{}, false, nil
}

// deliver brings a value to where its receiver wants it.
func (l *Local) deliver(w *item, key string, t *core.Tensor, dead bool) {
	if w.stop != nil {
		w.stop()
	}
	t, err := l.transfer(key, t, dead)
	w.done(t, dead && err == nil, err)
}

// cancel answers the waiter w, unless it has been answered.
func (l *Local) cancel(ctx context.Context, key string, w *item) {
	l.mu.Lock()
	found := l.remove(key, w)
	l.mu.Unlock()
	if found {
		w.done(nil, false, cancelled(ctx))
	}
}

// cancelled is what TensorFlow reports. The end of a step cancels its
// receives, so this error is never the one that explains it.
func cancelled(ctx context.Context) error {
	return &core.Error{Code: core.Canceled, Msg: "RecvAsync is cancelled.", Err: context.Cause(ctx), Derived: true}
}

// Abort fails with err all waiters and all later calls. Only the first one
// counts.
func (l *Local) Abort(err error) {
	if err == nil {
		err = core.Errorf(core.Canceled, "the rendezvous was aborted without a reason")
	}
	l.mu.Lock()
	if l.err != nil {
		l.mu.Unlock()
		return
	}
	l.err = err
	table := l.table
	l.table = nil
	l.mu.Unlock()
	for _, q := range table {
		q.fail(err)
	}
}

// Reset makes l ready for another step. It must not be in use any more for the
// step before; values that were not received are dropped.
func (l *Local) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, q := range l.table {
		for q.head != nil {
			release(l.pop(key, q).t)
			q = l.table[key]
		}
	}
	if l.table == nil {
		l.table = map[string]queue{}
	}
	l.err = nil
}

func release(t *core.Tensor) {
	if t != nil {
		t.Release()
	}
}
