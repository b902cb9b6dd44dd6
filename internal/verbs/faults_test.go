package verbs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/invariants"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/verbstest"
	"github.com/gorge-tf/gorge/tf/core"
)

// A step is what both tasks of a pair do together: A sends, B receives.
type step struct {
	t    testing.TB
	id   int64
	a, b *rendezvous.Remote
}

func begin(t testing.TB, p rendezvoustest.Pair, id int64) *step {
	t.Helper()
	s := &step{t: t, id: id, a: p.A.Manager.Find(id), b: p.B.Manager.Find(id)}
	if err := errors.Join(s.a.Initialize(p.A.Session), s.b.Initialize(p.B.Session)); err != nil {
		t.Fatal(err)
	}
	return s
}

func key(edge string) string {
	return rendezvous.Key{Src: rendezvoustest.TaskA + "/device:CPU:0", SrcIncarnation: 1, Dst: rendezvoustest.TaskB + "/device:CPU:0", Edge: edge}.String()
}

func (s *step) send(edge string, v *core.Tensor) {
	s.t.Helper()
	if err := s.a.Send(key(edge), v, false); err != nil {
		s.t.Fatal(err)
	}
}

type outcome struct {
	t   *core.Tensor
	err error
}

func (s *step) recv(edge string) <-chan outcome {
	c := make(chan outcome, 2)
	s.b.Recv(context.Background(), key(edge), func(t *core.Tensor, _ bool, err error) { c <- outcome{t, err} })
	return c
}

// works sends a value and receives it.
func (s *step) works(v *core.Tensor) {
	s.t.Helper()
	s.send("works", v)
	o := <-s.recv("works")
	if o.err != nil || !bytes.Equal(o.t.Buffer().Bytes(), v.Buffer().Bytes()) {
		s.t.Fatalf("a transfer in step %d gives %v, %v, want %v", s.id, o.t, o.err, v)
	}
	o.t.Release()
}

func full(n int, with byte) *core.Tensor {
	return core.TensorOf(core.Uint8, core.Shape{n}, memory.Adopt(bytes.Repeat([]byte{with}, n), func() {}))
}

// A faulty is a pair whose device at A can be told to misbehave.
type faulty struct {
	rendezvoustest.Pair
	*cluster
	dev *verbstest.Faulty
}

func newFaulty(t *testing.T, arena bool) *faulty {
	t.Helper()
	f := &faulty{cluster: newCluster()}
	f.arena = arena
	f.wrap = func(d verbs.Device) verbs.Device {
		if f.dev != nil { // B
			return d
		}
		f.dev = verbstest.Wrap(d)
		return f.dev
	}
	f.Pair = f.pair(t)
	return f
}

// contents matches the writes of tensors.
func contents(wr verbs.SendWR) bool { return wr.Op == verbs.OpWriteImm && wr.Imm < 0xFFFFFFFE }

// A watched allocator tells when its memory is free again.
type watched struct {
	mu   sync.Mutex
	mem  [][]byte
	free []chan struct{}
}

func (w *watched) alloc(d core.DType, s core.Shape) (*memory.Buffer, error) {
	b, c := make([]byte, s.NumElements()*d.Size()), make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mem, w.free = append(w.mem, b), append(w.free, c)
	return memory.Adopt(b, func() { close(c) }), nil
}

func (w *watched) last() ([]byte, chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mem[len(w.mem)-1], w.free[len(w.free)-1]
}

func isFree(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// TestAbortWithWriteInFlight: the memory of a receive that nobody waits for any
// more stays as it is until the peer's write has arrived.
func TestAbortWithWriteInFlight(t *testing.T) {
	for _, known := range []bool{false, true} { // whether B remembers what comes
		t.Run(fmt.Sprint(known), func(t *testing.T) {
			f := newFaulty(t, false)
			w := &watched{}
			f.B.Session.Alloc = w.alloc
			if known {
				s := begin(t, f.Pair, 0)
				s.send("e", full(10000, 1))
				(<-s.recv("e")).t.Release()
			}
			f.dev.Hold(contents)
			s := begin(t, f.Pair, 1)
			s.send("e", full(10000, 7))
			c := s.recv("e")
			f.dev.AwaitHeld(1)
			s.b.Abort(core.Errorf(core.Aborted, "step 1 is over"))
			if o := <-c; core.CodeOf(o.err) != core.Aborted {
				t.Errorf("the aborted receive gives %v", o.err)
			}
			mem, free := w.last()
			if isFree(free) {
				t.Error("memory is free that the peer will write to")
			}
			if err := f.dev.Release(); err != nil {
				t.Fatal(err)
			}
			<-free
			if !bytes.Equal(mem, bytes.Repeat([]byte{7}, 10000)) {
				t.Error("the memory was freed before the write had arrived")
			}
			begin(t, f.Pair, 2).works(full(100, 3))
		})
	}
}

// TestLostWithWriteInFlight: when the connection goes, nothing arrives any
// more, and the memory is free.
func TestLostWithWriteInFlight(t *testing.T) {
	f := newFaulty(t, false)
	w := &watched{}
	f.B.Session.Alloc = w.alloc
	f.dev.Hold(contents)
	s := begin(t, f.Pair, 1)
	s.send("e", full(10000, 7))
	aborted := s.recv("e")
	f.dev.AwaitHeld(1)
	_, free := w.last()
	s.b.Abort(core.Errorf(core.Aborted, "step 1 is over"))
	<-aborted
	if err := f.dev.Break(); err != nil {
		t.Fatal(err)
	}
	<-free
	f.dev.Hold(nil)
	begin(t, f.Pair, 2).works(full(10000, 3))
}

// TestAbortTouchesNoFreedMemory does the same in an arena, whose freed memory
// is poisoned when assertions are on.
func TestAbortTouchesNoFreedMemory(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("freed memory is poisoned only with the race detector or -tags invariants")
	}
	f := newFaulty(t, true)
	var given *memory.Buffer
	inner := f.B.Session.Alloc
	f.B.Session.Alloc = func(d core.DType, s core.Shape) (*memory.Buffer, error) {
		b, err := inner(d, s)
		given = b
		return b, err
	}
	f.dev.Hold(contents)
	s := begin(t, f.Pair, 1)
	s.send("e", full(10000, 7))
	c := s.recv("e")
	f.dev.AwaitHeld(1)
	r, off := given.Region()
	mem := r.Base[off:][:10000]
	s.b.Abort(core.Errorf(core.Aborted, "step 1 is over"))
	<-c
	if bytes.Contains(mem, []byte{0xDB, 0xDB}) {
		t.Error("memory was freed while the peer can write there")
	}
	if err := f.dev.Release(); err != nil {
		t.Fatal(err)
	}
	begin(t, f.Pair, 2).works(full(100, 3)) // comes after the late write
	if err := f.dev.Break(); err != nil {
		t.Fatal(err)
	}
	begin(t, f.Pair, 3).eventually()
	if !bytes.Equal(mem[100:], bytes.Repeat([]byte{0xDB}, len(mem)-100)) {
		t.Error("memory was written after it was freed")
	}
}

// eventually is works for a connection that may still be breaking.
func (s *step) eventually() {
	s.t.Helper()
	for i := range 100 {
		edge := fmt.Sprint("e", i)
		s.send(edge, full(10, 1))
		o := <-s.recv(edge)
		if o.err == nil {
			o.t.Release()
			return
		}
		if core.CodeOf(o.err) != core.Unavailable {
			s.t.Fatal(o.err)
		}
	}
	s.t.Fatal("a broken connection is not replaced")
}

// TestBreak: what waits on a connection fails with it, and only that. The next
// receive gets a new one.
func TestBreak(t *testing.T) {
	f := newFaulty(t, false)
	s := begin(t, f.Pair, 1)
	s.works(full(10, 1))
	waiting := []<-chan outcome{s.recv("x"), s.recv("y")}
	s.send("held", full(10000, 1))
	f.dev.Hold(contents)
	waiting = append(waiting, s.recv("held"))
	f.dev.AwaitHeld(1)
	if err := f.dev.Break(); err != nil {
		t.Fatal(err)
	}
	for _, c := range waiting {
		o := <-c
		if core.CodeOf(o.err) != core.Unavailable || !strings.Contains(o.err.Error(), "RDMA connection to "+rendezvoustest.TaskA+" lost") {
			t.Errorf("a receive on a broken connection gives %v, want UNAVAILABLE", o.err)
		}
	}
	f.dev.Hold(nil)
	begin(t, f.Pair, 2).eventually()
}

// TestPeerComesBack: a task that was restarted is found at its new place, from
// either side.
func TestPeerComesBack(t *testing.T) {
	for _, who := range []string{"sender asks first", "receiver asks first"} {
		t.Run(who, func(t *testing.T) {
			c := newCluster()
			p := c.pair(t)
			begin(t, p, 1).works(full(10, 1))
			p.A.Session.Transport.(*verbs.Manager).Close()
			p.A = c.join(t, rendezvoustest.TaskA, rendezvoustest.TaskB)
			if who == "sender asks first" {
				back := make(chan rendezvous.Result, 1)
				p.A.Session.Transport.Recv(context.Background(), rendezvoustest.TaskB, 1, "not a key", rendezvous.Allocate, func(r rendezvous.Result) { back <- r })
				if r := <-back; r.Err == nil {
					t.Error("a key that is none gives a tensor")
				}
			}
			begin(t, p, 2).eventually()
		})
	}
}

// TestPeerComesLate: a receive waits for a task that is not there yet (TensorFlow's
// issue 18630: the first server gave up).
func TestPeerComesLate(t *testing.T) {
	c := newCluster()
	var p rendezvoustest.Pair
	p.B = c.join(t, rendezvoustest.TaskB, rendezvoustest.TaskA)
	b := p.B.Manager.Find(1)
	if err := b.Initialize(p.B.Session); err != nil {
		t.Fatal(err)
	}
	got := (&step{t: t, b: b}).recv("e")
	p.A = c.join(t, rendezvoustest.TaskA, rendezvoustest.TaskB)
	s := begin(t, p, 1)
	s.send("e", full(10, 1))
	if o := <-got; o.err != nil {
		t.Error(o.err)
	}
}

// TestCloseWhileWaiting: what waits for a task that never comes ends with the
// manager.
func TestCloseWhileWaiting(t *testing.T) {
	c := newCluster()
	b := c.join(t, rendezvoustest.TaskB, rendezvoustest.TaskA)
	m := b.Session.Transport.(*verbs.Manager)
	got := make(chan rendezvous.Result, 2)
	recv := func() {
		m.Recv(context.Background(), rendezvoustest.TaskA, 1, key("e"), rendezvous.Allocate, func(r rendezvous.Result) { got <- r })
	}
	recv()
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	recv()
	for range 2 {
		if r := <-got; core.CodeOf(r.Err) != core.Unavailable {
			t.Errorf("a receive of a closed manager gives %v", r.Err)
		}
	}
}

// TestCancelLeavesValue: the sender hears that a receive is cancelled, so that
// it does not take the value that is produced later.
func TestCancelLeavesValue(t *testing.T) {
	c := newCluster()
	asked := make(chan error, 10)
	c.served = func(k string, err error) {
		if k == key("e") {
			asked <- err
		}
	}
	s := begin(t, c.pair(t), 1)
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error, 1)
	s.b.Recv(ctx, key("e"), func(_ *core.Tensor, _ bool, err error) { first <- err })
	s.works(full(1, 1)) // A has heard of the first receive by now
	cancel()
	for _, end := range []chan error{first, asked} {
		if err := <-end; core.CodeOf(err) != core.Canceled {
			t.Errorf("cancelled receive: %v", err)
		}
	}
	s.send("e", full(5, 9))
	if o := <-s.recv("e"); o.err != nil || o.t.Len() != 5 {
		t.Errorf("the value after a cancelled receive: %v, %v", o.t, o.err)
	}
}

// TestTooLarge: room is not made on the peer's word without end.
func TestTooLarge(t *testing.T) {
	p := newCluster().pair(t)
	s := begin(t, p, 1)
	s.send("e", full(maxTensor+1, 1))
	if o := <-s.recv("e"); core.CodeOf(o.err) != core.ResourceExhausted {
		t.Errorf("a tensor beyond the limit gives %v", o.err)
	}
	s.works(full(10, 1))
}

// TestLongKey: keys that TensorFlow's messages have no room for reach peers that
// know of them; longer ones are refused, not cut.
func TestLongKey(t *testing.T) {
	p := newCluster().pair(t)
	s := begin(t, p, 1)
	for _, edge := range []string{strings.Repeat("long", 128), strings.Repeat("longer", 300)} {
		for _, n := range []int{10, 5000, 5000, 20} { // the second time it is known what comes
			s.send(edge, full(n, 3))
			o := <-s.recv(edge)
			if o.err != nil || o.t.Len() != n {
				t.Fatalf("a key of %d bytes gives %v, %v", len(key(edge)), o.t, o.err)
			}
			o.t.Release()
		}
	}
	if o := <-s.recv(strings.Repeat("long", 512)); core.CodeOf(o.err) != core.InvalidArgument || !strings.Contains(o.err.Error(), "at most 2048 bytes") {
		t.Errorf("a key of more than 2048 bytes gives %v", o.err)
	}
}
