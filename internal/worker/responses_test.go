package worker

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/collective"
	"github.com/gorge-tf/gorge/internal/device"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// sending returns a worker that keeps its answers, in which step 1 sends 3
// under the key that the request asks for.
func sending(t *testing.T) (*Worker, *pb.RecvTensorRequest) {
	t.Helper()
	w := New(Env{Task: task, Devices: device.CPUs("worker", 0, 1), Rendezvous: rendezvous.NewManager(0), CacheResponses: true})
	t.Cleanup(w.Close)
	r := w.env.Rendezvous.Find(1)
	if err := r.Initialize(&w.legacy.rdv); err != nil {
		t.Fatal(err)
	}
	x := core.Scalar[float32](3)
	defer x.Release()
	if err := r.Send(w.key("x"), x, false); err != nil {
		t.Fatal(err)
	}
	return w, &pb.RecvTensorRequest{StepId: 1, RendezvousKey: w.key("x"), RequestId: 9}
}

// An answer can be had again until it is acknowledged.
func TestResponsesAreKept(t *testing.T) {
	w, req := sending(t)
	for range 3 {
		v, err := w.RecvTensor(t.Context(), req)
		if err != nil || !v.RequireAck || core.Data[float32](v.Tensor)[0] != 3 {
			t.Fatalf("RecvTensor = %v, %v", v, err)
		}
		v.Tensor.Release()
	}
	for range 2 {
		if _, err := w.MarkRecvFinished(t.Context(), &pb.MarkRecvFinishedRequest{RequestId: req.GetRequestId()}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(w.responses.all); n != 0 {
		t.Errorf("%d answers are kept after they were acknowledged", n)
	}
}

// A request without an id, as RDMA's are, is answered where the value is sent,
// and its answer is not kept: nothing could ask for it again.
func TestResponsesWithoutIDAreNotKept(t *testing.T) {
	w, req := sending(t)
	req.RequestId = 0
	answered := false
	w.StartRecvTensor(t.Context(), req, func(v Received, err error) {
		answered = true
		if err != nil || v.RequireAck || core.Data[float32](v.Tensor)[0] != 3 {
			t.Fatalf("StartRecvTensor = %v, %v", v, err)
		}
		v.Tensor.Release()
	})
	if !answered || len(w.responses.all) != 0 {
		t.Errorf("answered at once: %v, %d answers kept, want true and none", answered, len(w.responses.all))
	}
}

// The end of a step ends its answers: those that were given, and those that
// somebody waits for.
func TestResponsesEndWithStep(t *testing.T) {
	w, req := sending(t)
	v, err := w.RecvTensor(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	v.Tensor.Release()
	waiting := make(chan error)
	go func() {
		_, err := w.RecvTensor(t.Context(), &pb.RecvTensorRequest{StepId: 1, RendezvousKey: w.key("never"), RequestId: 10})
		waiting <- err
	}()
	if _, err := w.CleanupGraph(t.Context(), &pb.CleanupGraphRequest{StepId: 1}); err != nil {
		t.Fatal(err)
	}
	for over := false; !over; {
		select {
		case err := <-waiting:
			over = true
			if core.CodeOf(err) != core.Aborted {
				t.Errorf("who waits hears %v, want Aborted", err)
			}
		default:
			w.env.Rendezvous.CleanupAll() // the request may have come after the cleanup
			runtime.Gosched()
		}
	}
	w.responses.mu.Lock()
	defer w.responses.mu.Unlock()
	if _, kept := w.responses.all[req.GetRequestId()]; kept {
		t.Error("an answer is kept after the end of its step")
	}
}

// A request that comes once more when its answer has arrived is refused, and
// leaves nothing.
func TestLateRequestsAreRefused(t *testing.T) {
	w, req := sending(t)
	v, err := w.RecvTensor(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	v.Tensor.Release()
	if _, err := w.MarkRecvFinished(t.Context(), &pb.MarkRecvFinishedRequest{RequestId: req.GetRequestId()}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.RecvTensor(t.Context(), req); core.CodeOf(err) != core.Aborted {
		t.Errorf("the same request after its answer has arrived = %v, want Aborted", err)
	}
	if n := len(w.responses.all); n != 0 {
		t.Errorf("%d answers are kept", n)
	}
}

// A lossy wire asks another task for each buffer three times: the first answers
// are lost on their way. It says what was asked for, and answered.
type lossy struct {
	*Worker
	asked chan<- exchange
}

type exchange struct {
	of     *Worker
	req    *pb.RecvBufRequest
	answer []byte
}

func (l lossy) RecvBuf(ctx context.Context, req *pb.RecvBufRequest, into []byte) error {
	for range 3 {
		b, err := l.Worker.RecvBuf(ctx, req)
		if err != nil {
			return err
		}
		copy(into, b.Content)
		b.Sent()
		if !b.RequireAck {
			return core.Errorf(core.Internal, "an answer that is kept must be acknowledged")
		}
	}
	l.asked <- exchange{l.Worker, req, slices.Clone(into)}
	return nil
}

// reducing returns n tasks, of one device each, that are led by the first and reach
// each other by lossy wires.
func reducing(t *testing.T, n int, asked chan<- exchange) (tasks []*Worker, devices []core.Device) {
	t.Helper()
	byName := map[string]*Worker{}
	for i := range n {
		own, leader := core.DeviceSpec{Job: "worker", Replica: 0, Task: i, ID: -1}.String(), ""
		if i > 0 {
			leader = "/job:worker/replica:0/task:0"
		}
		set := device.CPUs("worker", i, 1)
		peer := func(task string) (collective.Peer, error) { return lossy{byName[task], asked}, nil }
		w := New(Env{
			Task: own, Devices: set, Rendezvous: rendezvous.NewManager(0), CacheResponses: true,
			Collectives: collective.New(collective.Env{Lookup: set.Lookup, Leader: leader, Peer: peer}),
		})
		t.Cleanup(w.Close)
		byName[own] = w
		tasks, devices = append(tasks, w), append(devices, set.List()[0])
	}
	return tasks, devices
}

// Buffers of collective operations can be had again, as they were, until they are
// acknowledged.
func TestBuffersAreKept(t *testing.T) {
	const n, length, step = 3, 100, 7
	asked := make(chan exchange, 100)
	tasks, devices := reducing(t, n, asked)
	sums := make([]*core.Tensor, n)
	var all sync.WaitGroup
	for i, w := range tasks {
		in := make([]float32, length)
		for j := range in {
			in[j] = float32(i*100 + j)
		}
		x, err := core.FromSlice(in, length)
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = x // in place: what has been sent is overwritten
		c := &core.OpContext{Step: &core.Step{ID: step, Context: t.Context(), Device: devices[i]}, Node: &core.Node{Name: "sum"}}
		all.Go(func() {
			if err := w.env.Collectives.Do(c, &core.Collective{
				Kind: core.ReduceCollective, Group: core.CollectiveGroup{Key: 1, Size: n, Rank: -1}, Instance: 1, Merge: "Add", Final: "Id", MaxSubdivisions: -1,
				In: x, Out: x, Name: "sum",
			}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, x := range sums {
		for j, got := range core.Data[float32](x) {
			if want := float32(300 + 3*j); got != want {
				t.Fatalf("element %d of task %d is %v, want %v", j, i, got, want)
			}
			core.Data[float32](x)[j] = -1
		}
	}
	close(asked)
	for x := range asked {
		b, err := x.of.RecvBuf(t.Context(), x.req)
		if err != nil || !bytes.Equal(b.Content, x.answer) {
			t.Fatalf("%s is %v when it is asked for again, was %v: %v", x.req.GetBufRendezvousKey(), b.Content, x.answer, err)
		}
		b.Sent()
		if _, err := x.of.MarkRecvFinished(t.Context(), &pb.MarkRecvFinishedRequest{RequestId: x.req.GetRequestId()}); err != nil {
			t.Fatal(err)
		}
	}
	for i, w := range tasks {
		if n := len(w.responses.all); n != 0 {
			t.Errorf("%d answers of task %d are kept after they were acknowledged", n, i)
		}
	}
}

// The end of a step ends the buffers that were never acknowledged, and a worker
// that closes those that somebody waits for.
func TestBuffersEndWithStep(t *testing.T) {
	tasks, devices := reducing(t, 1, nil)
	w, waiting := tasks[0], make(chan error, 1)
	req := &pb.RecvBufRequest{StepId: 3, RequestId: 11, BufRendezvousKey: "never", SrcDevice: devices[0].Spec().String(), SrcIncarnation: devices[0].Incarnation()}
	go func() {
		_, err := w.RecvBuf(t.Context(), req)
		waiting <- err
	}()
	for {
		if _, err := w.CleanupGraph(t.Context(), &pb.CleanupGraphRequest{StepId: 3}); err != nil {
			t.Fatal(err)
		}
		select { // the request may have come after the cleanup
		case err := <-waiting:
			if core.CodeOf(err) != core.Aborted {
				t.Errorf("who waits hears %v, want Aborted", err)
			}
			return
		default:
			runtime.Gosched()
		}
	}
}
