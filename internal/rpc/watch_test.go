package rpc

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A hole stands before a server: once it is open, what comes is taken and goes
// nowhere, as when the server's machine is gone or a router has forgotten the
// connection.
type hole struct {
	lis  net.Listener
	open atomic.Bool
	all  sync.WaitGroup
}

// behind returns a hole before a server, and its address. It ends with the test,
// after the channels that are made later.
func behind(t *testing.T, addr string) (*hole, string) {
	t.Helper()
	lis, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	h := &hole{lis: lis}
	h.all.Go(func() {
		for {
			c, err := lis.Accept()
			if err != nil {
				return
			}
			d, err := net.Dial("tcp", addr)
			if err != nil {
				c.Close()
				continue
			}
			h.all.Go(func() { h.pass(c, d) })
			h.all.Go(func() { h.pass(d, c) })
		}
	})
	t.Cleanup(func() { lis.Close(); h.all.Wait() })
	return h, lis.Addr().String()
}

func (h *hole) pass(to, from net.Conn) {
	defer to.Close()
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if h.open.Load() {
			continue
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// A toiler computes steps until it is told to stop, and counts requests for its
// status.
type toiler struct {
	UnimplementedWorker
	begun  chan struct{}
	enough chan struct{}
	left   chan error // why a step was given up
	asked  atomic.Int32
}

func newToiler() *toiler {
	return &toiler{begun: make(chan struct{}, 10), enough: make(chan struct{}), left: make(chan error, 10)}
}

func (w *toiler) GetStatus(context.Context, *pb.GetStatusRequest) (*pb.GetStatusResponse, error) {
	w.asked.Add(1)
	return &pb.GetStatusResponse{}, nil
}

func (w *toiler) RunGraph(ctx context.Context, _ *pb.RunGraphRequest) (*pb.RunGraphResponse, error) {
	w.begun <- struct{}{}
	select {
	case <-w.enough:
		return &pb.RunGraphResponse{}, nil
	case <-ctx.Done():
		w.left <- ctx.Err()
		return nil, ctx.Err()
	}
}

// hurried is how peers are watched in tests.
var hurried = Keepalive{Time: 100 * time.Millisecond, Timeout: 200 * time.Millisecond}

// run makes a step that has no deadline, and waits until the worker has begun it.
func (w *toiler) run(t *testing.T, c *Channels) <-chan error {
	t.Helper()
	client, err := c.Worker("/job:ps/replica:0/task:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := client.RunGraph(context.Background(), &pb.RunGraphRequest{})
		ended <- err
	}()
	select {
	case <-w.begun:
	case err := <-ended:
		t.Fatalf("the step ended before the worker began it: %v", err)
	}
	return ended
}

// ways are how calls go to a worker.
var ways = map[string]struct {
	links, others bool // the server has links; the client does without
}{
	"links":      {true, false},
	"gRPC":       {true, true},
	"TensorFlow": {false, false}, // as far as the client can tell
}

// channelsTo returns channels on which calls go in a way.
func channelsTo(t *testing.T, addr, way string, k Keepalive) *Channels {
	t.Helper()
	c := NewChannels(func(string) (string, error) { return addr, nil }, DialConfig{Keepalive: k, NoLinks: ways[way].others})
	t.Cleanup(func() { c.Close() })
	if way == "links" {
		ch, err := c.Get("/job:ps/replica:0/task:0")
		if err != nil {
			t.Fatal(err)
		}
		linked(t, ch)
	}
	return c
}

// serveWay starts a worker that can be reached in a way.
func serveWay(t *testing.T, w WorkerServer, way string) string {
	if ways[way].links {
		return serveLinks(t, w)
	}
	return serve(t, ServerConfig{}, withWorker(w))
}

// TestSilentServer: a call without a deadline ends when the server's connection
// swallows everything, and the error says which task that is.
func TestSilentServer(t *testing.T) {
	for way := range ways {
		t.Run(way, func(t *testing.T) {
			w := newToiler()
			h, addr := behind(t, serveWay(t, w, way))
			ended := w.run(t, channelsTo(t, addr, way, hurried))
			h.open.Store(true)
			start := time.Now()
			err := <-ended
			if core.CodeOf(err) != core.Unavailable || !errors.Is(err, ErrSilent) {
				t.Errorf("got %v", err)
			}
			for _, want := range []string{addr + " has not answered for", "remote target /job:ps/replica:0/task:0"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %q, want %q in it", err, want)
				}
			}
			if d := time.Since(start); d > 10*time.Second { // others are waited for for 15
				t.Errorf("it took %v", d)
			}
		})
	}
}

// TestBusyServer: a server that computes for much longer than a silent one may
// is not taken for gone, and one that nobody waits for is not asked.
func TestBusyServer(t *testing.T) {
	for way := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := newToiler()
			// A second to answer: the server shares its processors with all other tests.
			k := Keepalive{Time: hurried.Time, Timeout: time.Second}
			c := channelsTo(t, serveWay(t, w, way), way, k)
			before := w.asked.Load()
			ended := w.run(t, c)
			time.Sleep(2 * (2*k.Time + k.Timeout))
			asked := w.asked.Load() - before
			if byLink := way == "links"; byLink != (asked == 0) {
				t.Errorf("while it computed it was asked %d times", asked)
			}
			close(w.enough)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			time.Sleep(hurried.Time) // a probe may have been under way
			before = w.asked.Load()
			time.Sleep(5 * hurried.Time)
			if n := w.asked.Load() - before; n > 0 {
				t.Errorf("while nobody waited it was asked %d times", n)
			}
		})
	}
}

// TestSilentClient: a server gives up the step of a client whose connection
// swallows everything.
func TestSilentClient(t *testing.T) {
	for _, way := range []string{"links", "gRPC"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			w := newToiler()
			// gRPC does not look more often than every second.
			addr, _ := both(t, w, ServerConfig{Keepalive: Keepalive{Time: time.Second, Timeout: 200 * time.Millisecond}})
			h, addr := behind(t, addr)
			c := NewChannels(func(string) (string, error) { return addr, nil }, DialConfig{Keepalive: Keepalive{Time: -1}, NoLinks: ways[way].others})
			t.Cleanup(func() { c.Close() })
			if ch, err := c.Get("x"); err == nil && way == "links" {
				linked(t, ch)
			}
			ended := w.run(t, c)
			h.open.Store(true)
			select {
			case <-w.left:
			case <-time.After(5 * time.Second):
				t.Error("the step goes on")
			}
			c.Close()
			<-ended
		})
	}
}

// TestPatientCalls: a call to a server that is still to start waits, and is served
// when it has started.
func TestPatientCalls(t *testing.T) {
	lis, err := listen()
	if err != nil {
		t.Fatal(err)
	}
	addr := lis.Addr().String()
	lis.Close()
	c := dial(t, addr, DialConfig{Keepalive: Keepalive{Time: 10 * time.Millisecond, Timeout: 10 * time.Millisecond}})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := NewWorkerClient(c).GetStatus(ctx, &pb.GetStatusRequest{}); core.CodeOf(err) != core.DeadlineExceeded {
		t.Errorf("got %v", err)
	}
	// A step is none of these: its server was there.
	if _, err := NewMasterClient(c).RunStep(t.Context(), &pb.RunStepRequest{}); !errors.Is(err, ErrSilent) {
		t.Errorf("a step without a server: %v", err)
	}
}
