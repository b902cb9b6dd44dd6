package rpc

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/gorge-tf/gorge/internal/link"
	"github.com/gorge-tf/gorge/internal/method"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A watch notices that the server of a channel is there no more while calls wait
// for it by gRPC. gRPC's own pings are not for that: TensorFlow's servers hang up
// on clients that send many. A server that has been silent is called; if nothing comes
// from it then, not even a byte of a connection, the calls end. While no call
// waits nothing is asked.
type watch struct {
	addr         string
	k            Keepalive
	probe        func(context.Context) error // any call that a server answers at once
	ctx          context.Context             // of probes; ends with close
	stop         context.CancelFunc
	born         time.Time
	lastActivity atomic.Int64 // the watch's age when something came
	isGorge      atomic.Bool  // the server is one of ours

	mu      sync.Mutex
	conns   map[*watchedConn]struct{}
	calls   map[*waitingCall]struct{}
	since   int64 // the watch's age when a call began to wait
	silence link.Silence
	timer   *time.Timer
	probing sync.WaitGroup
}

// waitingCall is a call that waits.
type waitingCall struct {
	cancel  context.CancelCauseFunc
	patient bool
}

func newWatch(addr string, k Keepalive) *watch {
	w := &watch{addr: addr, k: k, born: time.Now(), conns: map[*watchedConn]struct{}{}, calls: map[*waitingCall]struct{}{}}
	w.ctx, w.stop = context.WithCancel(context.Background())
	return w
}

func (w *watch) age() int64 { return int64(time.Since(w.born)) }

// times are how a server is watched: others than ours are not asked as often, so
// that it costs them nothing.
func (w *watch) times() Keepalive {
	k := w.k
	if !w.isGorge.Load() {
		k.Time *= 2
	}
	return k
}

// probeKey marks the context of a probe.
type probeKey struct{}

func isProbe(ctx context.Context) bool { return ctx.Value(probeKey{}) != nil }

// intercept is the innermost interceptor of a channel: what comes to it goes by
// gRPC.
func (w *watch) intercept(ctx context.Context, full string, req, resp any, cc *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if w.k.Time <= 0 || isProbe(ctx) {
		return call(ctx, full, req, resp, cc, opts...)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := &waitingCall{cancel, method.Of(full).OutlastsSilence}
	w.begin(c)
	var header metadata.MD
	if !w.isGorge.Load() {
		opts = append(opts, grpc.Header(&header))
	}
	err := call(ctx, full, req, resp, cc, opts...)
	if len(header.Get(LinkHeader)) > 0 {
		w.isGorge.Store(true)
	}
	w.end(c)
	why := context.Cause(ctx)
	cancel(nil)
	if err != nil && errors.Is(why, link.ErrSilent) {
		return why
	}
	return err
}

// begin counts a call, the first of which sets the alarm.
func (w *watch) begin(c *waitingCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[c] = struct{}{}
	if len(w.calls) > 1 {
		return
	}
	w.since, w.silence = w.age(), link.Silence{}
	if w.timer == nil {
		w.timer = time.AfterFunc(w.times().Time, w.check)
	} else {
		w.timer.Reset(w.times().Time)
	}
}

func (w *watch) end(c *waitingCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, c)
	if len(w.calls) == 0 {
		w.timer.Stop()
	}
}

// check asks a silent server, and gives it up when it has not answered in time.
func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.calls) == 0 || w.ctx.Err() != nil {
		return
	}
	now, from := time.Duration(w.age()), time.Duration(max(w.lastActivity.Load(), w.since))
	ask, gone, next := w.silence.Look(w.times(), now, from)
	if gone {
		w.giveUp(link.Silent(w.addr, now-from))
	}
	if ask {
		w.probing.Go(w.sendProbe)
	}
	w.timer.Reset(next)
}

// giveUp ends the connections and the calls that do not wait for another one;
// w.mu is held.
func (w *watch) giveUp(why error) {
	for c := range w.conns {
		c.closeWith(why)
	}
	for c := range w.calls {
		if !c.patient {
			c.cancel(why)
		}
	}
	w.since = w.age()
}

// sendProbe makes a call, whose answer does not matter: what counts is that
// bytes come.
func (w *watch) sendProbe() {
	ctx, cancel := context.WithTimeout(context.WithValue(w.ctx, probeKey{}, true), w.k.Timeout)
	defer cancel()
	_ = w.probe(ctx)
}

// close ends the watch, after the calls.
func (w *watch) close() {
	w.mu.Lock()
	w.stop()
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	w.probing.Wait()
}

// dial opens a connection that is listened to.
func (w *watch) dial(ctx context.Context, addr string) (net.Conn, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	c := &watchedConn{Conn: nc, w: w}
	w.mu.Lock()
	w.conns[c] = struct{}{}
	w.mu.Unlock()
	return c, nil
}

// A watchedConn notes in its watch when something has come.
type watchedConn struct {
	net.Conn
	w   *watch
	why atomic.Pointer[error] // given up for; nil: it has not been
}

// Read reads from the connection.
func (c *watchedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.w.lastActivity.Store(c.w.age())
	}
	if why := c.why.Load(); err != nil && why != nil {
		err = *why
	}
	return n, err
}

// Close closes the connection.
func (c *watchedConn) Close() error {
	c.w.mu.Lock()
	delete(c.w.conns, c)
	c.w.mu.Unlock()
	return c.Conn.Close()
}

// closeWith closes the connection; its reader gets the reason why.
func (c *watchedConn) closeWith(why error) {
	c.why.Store(&why)
	_ = c.Conn.Close() // its reader tells what follows
}

// getStatus is the probe of a channel.
func getStatus(cc *grpc.ClientConn) func(context.Context) error {
	return func(ctx context.Context) error {
		return cc.Invoke(ctx, method.WorkerGetStatus, &pb.GetStatusRequest{}, &pb.GetStatusResponse{})
	}
}
