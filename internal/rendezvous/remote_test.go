package rendezvous

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gorge-tf/gorge/tf/core"
)

// A request is a receive that a scripted transport was asked for.
type request struct {
	ctx       context.Context
	task, key string
	step      int64
	alloc     Alloc
	done      func(Result)
}

// A script is a transport whose answers the test gives.
type script chan request

func (s script) Recv(ctx context.Context, task string, step int64, key string, alloc Alloc, done func(Result)) {
	s <- request{ctx, task, key, step, alloc, done}
}

func newScript() script { return make(script, 10) }

func begun(t *testing.T, step int64, s *Session) *Remote {
	t.Helper()
	r := NewRemote(step)
	if err := r.Initialize(s); err != nil {
		t.Fatal(err)
	}
	return r
}

var (
	hereKey  = Key{Src: cpu0, Dst: cpu0, Edge: "here"}.String()
	outKey   = Key{Src: cpu0, Dst: cpu1, Edge: "out"}.String()
	inKey    = Key{Src: cpu1, Dst: cpu0, Edge: "in"}.String()
	elseKey  = Key{Src: cpu1, Dst: cpu1, Edge: "elsewhere"}.String()
	task0    = &Session{Task: worker0}
	aborting = core.Errorf(core.Aborted, "Step 5 cancelled.  Cancelling rendezvous.")
)

// recvLocal begins a receive for another task.
func recvLocal(ctx context.Context, r *Remote, key string) chan answer {
	c := make(chan answer, 2)
	r.RecvLocal(ctx, key, func(t *core.Tensor, dead bool, err error) { c <- answer{t, dead, err} })
	return c
}

func TestRemoteSameTask(t *testing.T) {
	r := begun(t, 5, task0)
	c := recv(background, r, hereKey)
	mustSend(t, r, hereKey, 1)
	wantValue(t, now(t, c), 1)
	mustSend(t, r, outKey, 2)
	wantValue(t, now(t, recvLocal(background, r, outKey)), 2)
}

func TestRemoteFetches(t *testing.T) {
	s := newScript()
	r := begun(t, 5, &Session{Task: worker0, Transport: s})
	c := recv(background, r, inKey)
	q := <-s
	if q.task != worker1 || q.step != 5 || q.key != inKey {
		t.Errorf("transport is asked for %s, step %d, key %s", q.task, q.step, q.key)
	}
	if buf, err := q.alloc(core.Float32, core.Shape{2, 3}); err != nil || buf.Len() != 24 {
		t.Errorf("alloc of float32[2,3] = %v, %v, want 24 bytes", buf, err)
	}
	if _, err := q.alloc(core.Float32, core.Shape{-1}); err == nil {
		t.Error("alloc of an unknown size succeeds")
	}
	wantWaiting(t, c)
	q.done(Result{Tensor: core.Scalar(int64(3))})
	wantValue(t, now(t, c), 3)
}

func TestRemoteTransportAnswers(t *testing.T) {
	broken := errors.New("the cable is cut")
	for _, c := range []struct {
		name string
		give Result
		want answer
	}{
		{"dead", Result{Dead: true}, answer{dead: true}},
		{"error", Result{Err: broken}, answer{err: broken}},
		{"nothing", Result{}, answer{err: &core.Error{Code: core.Internal}}},
	} {
		s := newScript()
		ch := recv(background, begun(t, 5, &Session{Task: worker0, Transport: s}), inKey)
		q := <-s
		q.done(c.give)
		got := now(t, ch)
		if got.dead != c.want.dead || got.t != nil || !errors.Is(got.err, c.want.err) {
			t.Errorf("%s: receive gives %+v, want %+v", c.name, got, c.want)
		}
		if q.ctx.Err() == nil {
			t.Errorf("%s: the call's context goes on after its end", c.name)
		}
	}
}

// TestRemoteAnswersOnce: a transport that answers again is not heard, and what
// it brings is dropped.
func TestRemoteAnswersOnce(t *testing.T) {
	s := newScript()
	c := recv(background, begun(t, 5, &Session{Task: worker0, Transport: s}), inKey)
	q := <-s
	q.done(Result{Tensor: core.Scalar(int64(3))})
	late, freed := counted()
	q.done(Result{Tensor: late})
	wantValue(t, now(t, c), 3)
	wantWaiting(t, c)
	if *freed != 1 {
		t.Errorf("the second answer's memory is given back %d times, want 1", *freed)
	}
}

// TestRemoteAbort: all waiting calls end, even if the transport does not
// answer; the call's context ends so that it can.
func TestRemoteAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		r := begun(t, 5, &Session{Task: worker0, Transport: s})
		waiters := []chan answer{recv(background, r, inKey), recv(background, r, hereKey), recvLocal(t.Context(), r, outKey)}
		q := <-s
		r.Abort(aborting)
		r.Abort(errors.New("a second reason"))
		synctest.Wait()
		waiters = append(waiters, recv(background, r, inKey), recvLocal(background, r, outKey))
		for i, c := range waiters {
			a := now(t, c)
			if core.CodeOf(a.err) != core.Aborted || !core.AsError(a.err).Derived {
				t.Errorf("receive %d: %v, want ABORTED, derived", i, a.err)
			}
		}
		if q.ctx.Err() == nil {
			t.Error("the transport's call goes on after the abort")
		}
		late, freed := counted()
		q.done(Result{Tensor: late})
		wantWaiting(t, waiters[0])
		if *freed != 1 {
			t.Error("what comes after the abort is kept")
		}
		if err := r.Send(outKey, core.Scalar(int64(1)), false); core.CodeOf(err) != core.Aborted {
			t.Errorf("Send after the abort: %v", err)
		}
		if err := r.Initialize(task0); core.CodeOf(err) != core.Aborted {
			t.Errorf("Initialize after the abort: %v", err)
		}
	})
}

// TestRemoteAbortKeepsRootCause: only errors that say no more than that the
// step has ended are derived.
func TestRemoteAbortKeepsRootCause(t *testing.T) {
	for code, want := range map[core.Code]bool{core.Aborted: true, core.Canceled: true, core.DataLoss: false, core.InvalidArgument: false} {
		r := begun(t, 5, task0)
		r.Abort(core.Errorf(code, "why"))
		if a := now(t, recv(background, r, hereKey)); core.AsError(a.err).Derived != want || core.CodeOf(a.err) != code {
			t.Errorf("abort with %v gives %v, derived %v, want %v", code, a.err, !want, want)
		}
	}
}

func TestRemoteCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript()
		r := begun(t, 5, &Session{Task: worker0, Transport: s})
		ctx, cancel := context.WithCancel(t.Context())
		first, second := recv(ctx, r, inKey), recv(ctx, r, inKey)
		q1, _ := <-s, <-s
		cancel()
		q1.done(Result{Err: q1.ctx.Err()}) // one transport answers, one does not
		synctest.Wait()
		for _, c := range []chan answer{first, second} {
			a := now(t, c)
			if core.CodeOf(a.err) != core.Canceled || !strings.Contains(a.err.Error(), "RecvFromRemoteAsync is cancelled.") || !core.AsError(a.err).Derived {
				t.Errorf("cancelled receive: %v", a.err)
			}
		}
		r.Abort(nil)
	})
}

func TestRemoteKeys(t *testing.T) {
	s := newScript()
	r := begun(t, 5, &Session{Task: worker0, Transport: s})
	notHere := Key{Src: worker0 + "0/device:CPU:0", Dst: cpu0, Edge: "e"}.String() // task 00 is not task 0
	if err := r.Send(notHere, nil, true); err == nil {
		t.Error("a task sends what a task with a longer number should")
	}
	for key, wantText := range map[string]string{
		elseKey: "Invalid rendezvous key (dst): " + elseKey + " @ " + worker0,
		"":      "Invalid  rendezvous key: ",
		strings.Replace(inKey, "/device:CPU:0", "", 1): "Invalid  rendezvous key: ",
	} {
		a := now(t, recv(background, r, key))
		if core.CodeOf(a.err) != core.InvalidArgument || !strings.Contains(a.err.Error(), wantText) {
			t.Errorf("Recv(%q): %v, want %q", key, a.err, wantText)
		}
	}
	want := "Invalid rendezvous key (src): " + inKey + " @ " + worker0
	if err := r.Send(inKey, nil, true); core.CodeOf(err) != core.InvalidArgument || !strings.Contains(err.Error(), want) {
		t.Errorf("Send of another task's key: %v, want %q", err, want)
	}
	if a := now(t, recvLocal(background, r, inKey)); core.CodeOf(a.err) != core.InvalidArgument || !strings.Contains(a.err.Error(), want) {
		t.Errorf("RecvLocal of another task's key: %v, want %q", a.err, want)
	}
}

func TestRemoteWithoutTransport(t *testing.T) {
	a := now(t, recv(background, begun(t, 5, task0), inKey))
	if core.CodeOf(a.err) != core.FailedPrecondition {
		t.Errorf("receive from another task without a transport: %v", a.err)
	}
}

func TestRemoteInitialize(t *testing.T) {
	r := NewRemote(5)
	if err := r.Send(outKey, nil, true); core.CodeOf(err) != core.Internal {
		t.Errorf("Send before Initialize: %v", err)
	}
	if a := now(t, recv(background, r, inKey)); core.CodeOf(a.err) != core.Internal {
		t.Errorf("Recv before Initialize: %v", a.err)
	}
	for range 2 {
		if err := r.Initialize(task0); err != nil {
			t.Errorf("Initialize for the same task: %v", err)
		}
	}
	err := r.Initialize(&Session{Task: worker1})
	if core.CodeOf(err) != core.Internal || !strings.Contains(err.Error(), "Double init! Worker names would have changed from: "+worker0+" -> "+worker1) {
		t.Errorf("Initialize for another task: %v", err)
	}
}

func TestRemoteParks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRemote(5)
		ctx, cancel := context.WithCancel(t.Context())
		good, bad, gone := recvLocal(background, r, outKey), recvLocal(background, r, inKey), recvLocal(ctx, r, outKey)
		cancel()
		synctest.Wait()
		if a := now(t, gone); core.CodeOf(a.err) != core.Canceled {
			t.Errorf("parked receive whose context ended: %v", a.err)
		}
		wantWaiting(t, good)
		if err := r.Initialize(task0); err != nil {
			t.Fatal(err)
		}
		if a := now(t, bad); core.CodeOf(a.err) != core.InvalidArgument {
			t.Errorf("parked receive of another task's key: %v", a.err)
		}
		mustSend(t, r, outKey, 7)
		wantValue(t, now(t, good), 7)
	})
}

func TestRemoteAbortReachesParked(t *testing.T) {
	r := NewRemote(5)
	c := recvLocal(background, r, outKey)
	r.Abort(aborting)
	if a := now(t, c); core.CodeOf(a.err) != core.Aborted {
		t.Errorf("parked receive of an aborted step: %v", a.err)
	}
}

// TestRemoteCopiesToDevice: what comes from another task ends in the memory of
// the device that receives.
func TestRemoteCopiesToDevice(t *testing.T) {
	s := newScript()
	r := begun(t, 5, &Session{Task: worker0, Transport: s, Devices: fakes(nil)})
	c := recv(background, r, Key{Src: cpu1, Dst: fake0, Edge: "e"}.String())
	q := <-s
	q.done(Result{Tensor: core.Scalar(int64(3))})
	if a := now(t, c); a.err != nil || a.t.Buffer().Space() != fake0 {
		t.Errorf("receive to a device gives %+v, want a tensor in its memory", a)
	}
	v := onDevice(t, fakes(nil), fake0, 4)
	key := Key{Src: fake0, Dst: cpu1, Edge: "e"}.String()
	if err := r.Send(key, v, false); err != nil {
		t.Fatal(err)
	}
	wantValue(t, now(t, recvLocal(background, r, key)), 4)
}
