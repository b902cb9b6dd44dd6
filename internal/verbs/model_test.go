package verbs_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/verbstest"
	"github.com/gorge-tf/gorge/tf/core"
)

// TestRandomWalk does to two tasks whatever can be done, in random order, and
// holds what happens against a model that knows little: a receive is answered
// once; with the value that was sent under its key, or with an error that
// something which was done explains; and in the end all memory is free.
func TestRandomWalk(t *testing.T) {
	for seed := range walks() {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWalk(t, uint64(seed))
			for range 60 {
				w.act()
			}
			w.end()
		})
	}
}

// walks is how many random walks there are, more of them if the environment says
// so.
func walks() int {
	if n, err := strconv.Atoi(os.Getenv("GORGE_WALKS")); err == nil {
		return n
	}
	return 6
}

type walk struct {
	t     *testing.T
	r     *rand.Rand
	c     *cluster
	p     rendezvoustest.Pair
	dev   *verbstest.Faulty // A's
	memo  counted
	id    int64
	s     *step
	sent  map[string]byte // in this step: what the value is made of
	ended bool            // something was done to this step that fails receives
	asked map[string]*asked
}

// An asked value is one that a receive wants.
type asked struct {
	cancel context.CancelFunc
	done   chan outcome
	given  bool // up, by its context
}

// A counted allocator knows how many buffers are in use.
type counted struct {
	mu   sync.Mutex
	live int
	none sync.Cond
}

func (k *counted) alloc(d core.DType, s core.Shape) (*memory.Buffer, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.live++
	return memory.Adopt(make([]byte, s.NumElements()*d.Size()), func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.live--
		k.none.Broadcast()
	}), nil
}

func newWalk(t *testing.T, seed uint64) *walk {
	w := &walk{t: t, r: rand.New(rand.NewPCG(seed, 7)), c: newCluster()}
	w.memo.none.L = &w.memo.mu
	w.c.wrap = func(d verbs.Device) verbs.Device {
		w.dev = verbstest.Wrap(d)
		return w.dev
	}
	w.p.B = w.c.join(t, rendezvoustest.TaskB, rendezvoustest.TaskA)
	w.p.A = w.c.join(t, rendezvoustest.TaskA, rendezvoustest.TaskB)
	w.p.B.Session.Alloc = w.memo.alloc
	w.begin()
	return w
}

func (w *walk) begin() {
	w.id++
	w.s, w.sent, w.asked, w.ended = begin(w.t, w.p, w.id), map[string]byte{}, map[string]*asked{}, false
}

// act does something at random; values on the same edge change their size from
// step to step, so that what is remembered is right or wrong.
func (w *walk) act() {
	edge := fmt.Sprint("edge", w.r.IntN(4))
	switch n := w.r.IntN(20); {
	case n < 7:
		w.send(edge)
	case n < 14:
		w.recv(edge)
	case n < 15:
		w.giveUp(edge)
	case n < 16:
		w.dev.Hold(contents)
	case n < 17:
		w.must(w.dev.Release())
	case n < 18:
		w.ended = true
		w.must(w.dev.Break())
		w.must(w.dev.Release())
	case n < 19:
		w.ended = true
		w.s.b.Abort(core.Errorf(core.Aborted, "the walk goes on"))
		w.finish()
	default:
		w.restart()
	}
}

func (w *walk) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *walk) send(edge string) {
	if _, again := w.sent[edge]; again {
		return
	}
	with := byte(1 + w.r.IntN(200))
	w.sent[edge] = with
	_ = w.s.a.Send(key(edge), full([]int{1, 100, 5000, 300_000}[w.r.IntN(4)], with), false) // fails in a step that was aborted
}

func (w *walk) recv(edge string) {
	if w.asked[edge] != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	a := &asked{cancel: cancel, done: make(chan outcome, 2)}
	w.asked[edge] = a
	w.s.b.Recv(ctx, key(edge), func(v *core.Tensor, _ bool, err error) { a.done <- outcome{v, err} })
}

func (w *walk) giveUp(edge string) {
	if a := w.asked[edge]; a != nil {
		a.given = true
		a.cancel()
	}
}

// restart ends the sender and starts it anew.
func (w *walk) restart() {
	w.ended = true
	w.must(w.dev.Release())
	w.p.A.Manager.CleanupAll()
	w.must(manager(w.p.A).Close())
	w.p.A = w.c.join(w.t, rendezvoustest.TaskA, rendezvoustest.TaskB)
	w.finish()
}

// finish ends a step: what was sent and asked for is answered; what nobody sends
// is given up.
func (w *walk) finish() {
	w.must(w.dev.Release())
	for edge, a := range w.asked {
		if _, ok := w.sent[edge]; !ok || w.ended {
			a.given = true
			a.cancel()
		}
		w.check(edge, a)
	}
	w.p.A.Manager.Cleanup(w.id)
	w.p.B.Manager.Cleanup(w.id)
	if w.ended { // what was broken is found out by somebody
		w.id++
		begin(w.t, w.p, w.id).eventually()
	}
	w.begin()
}

// check holds the answer of a receive against the model.
func (w *walk) check(edge string, a *asked) {
	o := <-a.done
	a.cancel()
	if len(a.done) > 0 {
		w.t.Errorf("step %d: %s is answered twice", w.id, edge)
	}
	if o.err == nil {
		if got := o.t.Buffer().Bytes(); got[0] != w.sent[edge] || got[len(got)-1] != w.sent[edge] {
			w.t.Errorf("step %d: %s is made of %d to %d, want %d", w.id, edge, got[0], got[len(got)-1], w.sent[edge])
		}
		o.t.Release()
		return
	}
	switch code := core.CodeOf(o.err); {
	case code == core.Canceled && a.given, (code == core.Unavailable || code == core.Aborted) && w.ended:
	default:
		w.t.Errorf("step %d: %s gives %v", w.id, edge, o.err)
	}
}

// end finds out whether anything is left.
func (w *walk) end() {
	w.finish()
	w.must(manager(w.p.A).Close())
	w.must(manager(w.p.B).Close())
	w.memo.mu.Lock()
	defer w.memo.mu.Unlock()
	for w.memo.live > 0 {
		w.memo.none.Wait() // for ever, if memory is lost
	}
}
