package rpc

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A sender is a worker that has nothing but steps.
type sender struct {
	UnimplementedWorker
	steps *rendezvous.Manager
}

func (s sender) RecvTensor(ctx context.Context, req *pb.RecvTensorRequest) (*TensorResponse, error) {
	type outcome struct {
		resp *TensorResponse
		err  error
	}
	c := make(chan outcome, 1)
	s.StartRecvTensor(ctx, req, func(resp *TensorResponse, err error) { c <- outcome{resp, err} })
	o := <-c
	return o.resp, o.err
}

// StartRecvTensor answers when the value is there.
func (s sender) StartRecvTensor(ctx context.Context, req *pb.RecvTensorRequest, done func(*TensorResponse, error)) {
	s.steps.RecvLocal(ctx, req.GetStepId(), req.GetRendezvousKey(), func(t *core.Tensor, dead bool, err error) {
		done(&TensorResponse{Tensor: t, Dead: dead, SendStart: time.Now().UnixMicro()}, err)
	})
}

// byGRPC returns two workers on loopback, byLinks two that have links to each other.
func byGRPC(t *testing.T) rendezvoustest.Pair {
	return newPair(t, func(w WorkerServer) string { return serve(t, ServerConfig{}, withWorker(w)) })
}

func byLinks(t *testing.T) rendezvoustest.Pair {
	p := newPair(t, func(w WorkerServer) string { return serveLinks(t, w) })
	for _, side := range []struct {
		peer rendezvoustest.Peer
		to   string
	}{{p.A, rendezvoustest.TaskB}, {p.B, rendezvoustest.TaskA}} {
		ch, err := side.peer.Session.Transport.(*Transport).channels.(*Channels).Get(side.to)
		if err != nil {
			t.Fatal(err)
		}
		linked(t, ch)
	}
	return p
}

func newPair(t *testing.T, serve func(WorkerServer) string) rendezvoustest.Pair {
	t.Helper()
	addresses := map[string]string{}
	lookup := func(task string) (string, error) {
		if a := addresses[task]; a != "" {
			return a, nil
		}
		return "", core.Errorf(core.NotFound, "no task %s in the cluster", task)
	}
	peer := func(task string) rendezvoustest.Peer {
		m := rendezvous.NewManager(0)
		addresses[task] = serve(sender{steps: m})
		channels := NewChannels(lookup, DialConfig{})
		t.Cleanup(func() {
			m.CleanupAll()
			if err := channels.Close(); err != nil {
				t.Error(err)
			}
		})
		return rendezvoustest.Peer{Manager: m, Session: &rendezvous.Session{Task: task, Transport: NewTransport(channels, 0)}}
	}
	return rendezvoustest.Pair{A: peer(rendezvoustest.TaskA), B: peer(rendezvoustest.TaskB)}
}

func TestTransport(t *testing.T) { rendezvoustest.Run(t, byGRPC) }

func TestTransportByLinks(t *testing.T) { rendezvoustest.Run(t, byLinks) }

// A scripted worker answers RecvTensor by a function.
type scripted struct {
	UnimplementedWorker
	recv func(n int, req *pb.RecvTensorRequest) (*TensorResponse, error)
	acks chan int64

	calls atomic.Int32
	mu    sync.Mutex
	ids   []int64
}

func (s *scripted) RecvTensor(_ context.Context, req *pb.RecvTensorRequest) (*TensorResponse, error) {
	n := int(s.calls.Add(1))
	s.mu.Lock()
	s.ids = append(s.ids, req.GetRequestId())
	s.mu.Unlock()
	return s.recv(n, req)
}

func (s *scripted) MarkRecvFinished(_ context.Context, req *pb.MarkRecvFinishedRequest) (*pb.MarkRecvFinishedResponse, error) {
	s.acks <- req.GetRequestId()
	return &pb.MarkRecvFinishedResponse{}, nil
}

// receive asks the scripted worker for one value.
func receive(t *testing.T, s *scripted, retries int) rendezvous.Result {
	t.Helper()
	addr := serve(t, ServerConfig{}, withWorker(s))
	channels := NewChannels(func(string) (string, error) { return addr, nil }, DialConfig{})
	defer channels.Close()
	c := make(chan rendezvous.Result, 1)
	NewTransport(channels, retries).Recv(context.Background(), "task", 5, "key", rendezvous.Allocate, func(r rendezvous.Result) { c <- r })
	r := <-c
	if s.acks != nil {
		if ack := <-s.acks; ack != s.ids[0] {
			t.Errorf("acknowledged request %d, want %d", ack, s.ids[0])
		}
	}
	return r
}

func TestTransportRequest(t *testing.T) {
	s := &scripted{recv: func(_ int, req *pb.RecvTensorRequest) (*TensorResponse, error) {
		if req.GetStepId() != 5 || req.GetRendezvousKey() != "key" || req.GetRequestId() == 0 {
			return nil, core.Errorf(core.InvalidArgument, "asked for %v", req)
		}
		return &TensorResponse{Tensor: core.Scalar(int64(7))}, nil
	}}
	if r := receive(t, s, 0); r.Err != nil || r.Tensor.At(0) != int64(7) {
		t.Errorf("received %+v", r)
	}
}

// TestTransportRetries: what may have got lost on its way is asked for again,
// under the same number, and no more often than allowed.
func TestTransportRetries(t *testing.T) {
	for _, c := range []struct {
		name            string
		code            core.Code
		failures        int
		retries, wantTo int
		wantCode        core.Code
	}{
		{"none allowed", core.Unavailable, 1, 0, 1, core.Unavailable},
		{"unreachable twice", core.Unavailable, 2, 3, 3, core.OK},
		{"unknown", core.Unknown, 1, 3, 2, core.OK},
		{"too often", core.Unavailable, 9, 2, 3, core.Unavailable},
		{"an answer", core.Aborted, 1, 3, 1, core.Aborted},
	} {
		s := &scripted{recv: func(n int, _ *pb.RecvTensorRequest) (*TensorResponse, error) {
			if n <= c.failures {
				return nil, core.Errorf(c.code, "try %d", n)
			}
			return &TensorResponse{Tensor: core.Scalar(int64(n))}, nil
		}}
		r := receive(t, s, c.retries)
		if core.CodeOf(r.Err) != c.wantCode || len(s.ids) != c.wantTo {
			t.Errorf("%s: %v after %d calls, want %v after %d", c.name, r.Err, len(s.ids), c.wantCode, c.wantTo)
		}
		for _, id := range s.ids {
			if id != s.ids[0] {
				t.Errorf("%s: request ids %v differ", c.name, s.ids)
			}
		}
	}
}

func TestTransportAcknowledges(t *testing.T) {
	s := &scripted{acks: make(chan int64, 1), recv: func(int, *pb.RecvTensorRequest) (*TensorResponse, error) {
		return &TensorResponse{Tensor: core.Scalar("kept"), RequireAck: true}, nil
	}}
	if r := receive(t, s, 0); r.Err != nil {
		t.Error(r.Err)
	}
}

// A buffer is asked for again, by the same request, if it could not be had because
// of the way to it, and acknowledged when it is there.
func TestBuffersAreAskedForAgain(t *testing.T) {
	for _, retries := range []int{1, 2} {
		l := &lender{size: 4, failures: 2, acks: make(chan int64, 1)}
		w := PatientWorker{NewWorkerClient(dial(t, serve(t, ServerConfig{}, withWorker(l)), DialConfig{})), retries}
		into := make([]byte, 4)
		err := w.RecvBuf(t.Context(), &pb.RecvBufRequest{RequestId: 8}, into)
		if retries < 2 {
			if core.CodeOf(err) != core.Unavailable {
				t.Errorf("two failures, one retry: %v, want Unavailable", err)
			}
			continue
		}
		if err != nil || !bytes.Equal(into, noise(4)) || !slices.Equal(l.ids, []int64{8, 8, 8}) {
			t.Errorf("after two failures: %v of requests %v, %v", into, l.ids, err)
		}
		if id := <-l.acks; id != 8 {
			t.Errorf("request %d is acknowledged, want 8", id)
		}
	}
}

func TestTransportUnreachable(t *testing.T) {
	lis := serve(t, ServerConfig{})
	channels := NewChannels(func(string) (string, error) { return strings.Replace(lis, "127.0.0.1", "256.0.0.1", 1), nil }, DialConfig{})
	defer channels.Close()
	c := make(chan rendezvous.Result, 1)
	NewTransport(channels, 1).Recv(context.Background(), "task", 5, "key", rendezvous.Allocate, func(r rendezvous.Result) { c <- r })
	if r := <-c; core.CodeOf(r.Err) != core.Unavailable {
		t.Errorf("receive from nowhere: %v, want UNAVAILABLE", r.Err)
	}
}

func TestRetryDelay(t *testing.T) {
	last := time.Duration(0)
	for n := range 100 {
		d := retryDelay(n)
		if d <= 0 || d > 10*time.Second || d < last/2 {
			t.Errorf("delay before try %d is %v, after one of %v", n, d, last)
		}
		last = d
	}
	if last < 7*time.Second {
		t.Errorf("delays end at %v, want about ten seconds", last)
	}
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if !sleep(ctx, time.Second/2) || sleep(ctx, time.Minute) {
			t.Error("sleep does not say whether the context went on")
		}
	})
}
