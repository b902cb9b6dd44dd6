package worker

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/stepstats"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A transferLog is a transport that counts what steps receive from other tasks
// and, while that is asked for, records it.
type transferLog struct {
	rendezvous.Transport
	*transferRecords
}

// transferRecords are common to all transports of a worker.
type transferRecords struct {
	tensors, bytes atomic.Int64 // that have been received

	mu     sync.Mutex
	wanted int // masters that trace a step
	steps  map[int64]*stepstats.Collector
}

func newTransferLog(t rendezvous.Transport) *transferLog {
	return &transferLog{t, &transferRecords{steps: map[int64]*stepstats.Collector{}}}
}

// over returns a log that records in the same place what another transport
// carries.
func (l *transferLog) over(t rendezvous.Transport) *transferLog {
	return &transferLog{t, l.transferRecords}
}

// loggedSteps bounds the steps that are kept for masters that never ask.
const loggedSteps = 1024

// Recv is the transport's, recorded.
func (l *transferLog) Recv(ctx context.Context, task string, step int64, key string, alloc rendezvous.Alloc, done func(rendezvous.Result)) {
	c := l.of(step)
	if c == nil {
		l.Transport.Recv(ctx, task, step, key, alloc, func(r rendezvous.Result) {
			l.count(r)
			done(r)
		})
		return
	}
	start := time.Now()
	l.Transport.Recv(ctx, task, step, key, alloc, func(r rendezvous.Result) {
		l.count(r)
		if r.Err == nil {
			record(c, key, start, r)
		}
		done(r)
	})
}

func (l *transferRecords) count(r rendezvous.Result) {
	if r.Err != nil {
		return
	}
	l.tensors.Add(1)
	if r.Tensor != nil {
		l.bytes.Add(int64(r.Tensor.NumBytes()))
	}
}

// Received returns how many tensors this task has received from others, and
// how large they were in all.
func (w *Worker) Received() (tensors, bytes int64) {
	if w.transfers == nil {
		return 0, 0
	}
	return w.transfers.tensors.Load(), w.transfers.bytes.Load()
}

// of returns the collector of a step, nil if none was asked for.
func (l *transferRecords) of(step int64) *stepstats.Collector {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wanted == 0 {
		return nil
	}
	c := l.steps[step]
	if c == nil {
		if len(l.steps) >= loggedSteps {
			clear(l.steps)
		}
		c = stepstats.New()
		l.steps[step] = c
	}
	return c
}

func record(c *stepstats.Collector, key string, start time.Time, r rendezvous.Result) {
	k, err := rendezvous.ParseKey(key)
	if err != nil {
		return // not a transfer between tasks
	}
	t := stepstats.Transfer{Tensor: k.Edge, Src: k.Src, Dst: k.Dst, Start: start, End: time.Now()}
	if r.Tensor != nil {
		t.Bytes = int64(r.Tensor.NumBytes())
	}
	c.Received(t)
}

// want counts the requests to record transfers.
func (l *transferRecords) want(delta int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted = max(0, l.wanted+delta)
}

// take returns what has been recorded of a step, once.
func (l *transferRecords) take(step int64) *pb.LabeledStepStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.steps[step]
	if c == nil {
		return nil
	}
	delete(l.steps, step)
	return &pb.LabeledStepStats{StepId: step, StepStats: c.Proto()}
}

// forget drops all records.
func (l *transferRecords) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.steps)
}

// Logging switches the recording of transfers on and off, and returns what has
// been recorded of the steps that are asked for. Old masters switch off by
// asking for nothing.
func (w *Worker) Logging(_ context.Context, req *pb.LoggingRequest) (*pb.LoggingResponse, error) {
	switch {
	case req.GetEnableRpcLogging():
		w.transfers.want(+1)
	case req.GetDisableRpcLogging(), len(req.GetFetchStepId()) == 0 && !req.GetClear():
		w.transfers.want(-1)
	}
	resp := &pb.LoggingResponse{}
	for _, id := range req.GetFetchStepId() {
		if s := w.transfers.take(id); s != nil {
			resp.Step = append(resp.Step, s)
		}
	}
	if req.GetClear() {
		w.transfers.forget()
	}
	return resp, nil
}
