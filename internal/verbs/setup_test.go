package verbs_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A broken device cannot do one of the things that a manager needs.
type broken struct {
	verbs.Device
	cannot string
}

var errBroken = errors.New("broken on purpose")

func (d broken) CreateCQ(n int) (verbs.CompletionQueue, error) {
	if d.cannot == "CreateCQ" {
		return nil, errBroken
	}
	return d.Device.CreateCQ(n)
}

func (d broken) CreateQP(cq verbs.CompletionQueue, depth int) (verbs.QueuePair, error) {
	if d.cannot == "CreateQP" {
		return nil, errBroken
	}
	return d.Device.CreateQP(cq, depth)
}

func (d broken) Register(b []byte, a verbs.Access) (verbs.MemoryRegion, error) {
	if d.cannot == "Register" || d.cannot == "Register tensors" && len(b) == 5000 {
		return nil, errBroken
	}
	return d.Device.Register(b, a)
}

// TestBrokenDevices: what fails when a manager is made is given back.
func TestBrokenDevices(t *testing.T) {
	for _, cannot := range []string{"CreateCQ", "Register"} {
		dev, err := soft.Open(soft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := verbs.NewManager(broken{dev, cannot}, verbs.Options{}); !errors.Is(err, errBroken) {
			t.Errorf("a device without %s gives %v, %v", cannot, m, err)
		}
	}
}

// TestNoQueuePair: a channel that cannot be made fails its receive.
func TestNoQueuePair(t *testing.T) {
	c := newCluster()
	c.wrap = func(d verbs.Device) verbs.Device { return broken{d, "CreateQP"} }
	p := c.pair(t)
	if o := <-begin(t, p, 1).recv("e"); core.CodeOf(o.err) != core.Unavailable || !strings.Contains(o.err.Error(), errBroken.Error()) {
		t.Errorf("receive without a queue pair: %v", o.err)
	}
}

// TestLockedMemoryLimit: tensors whose memory cannot be registered are copied.
func TestLockedMemoryLimit(t *testing.T) {
	c := newCluster()
	c.wrap = func(d verbs.Device) verbs.Device { return broken{d, "Register tensors"} }
	begin(t, c.pair(t), 1).works(full(5000, 7))
}

// TestStrangeTasks: only tasks of the cluster are connected.
func TestStrangeTasks(t *testing.T) {
	m := newCluster().join(t, rendezvoustest.TaskA, rendezvoustest.TaskB).Session.Transport.(*verbs.Manager)
	two := []*pb.MemoryRegion{{}, {}}
	for _, c := range []struct {
		req  *pb.GetRemoteAddressRequest
		code core.Code
	}{
		{&pb.GetRemoteAddressRequest{HostName: "/job:x/replica:0/task:0", Channel: &pb.Channel{}, Mr: two}, core.NotFound},
		{&pb.GetRemoteAddressRequest{HostName: rendezvoustest.TaskA, Channel: &pb.Channel{}, Mr: two}, core.NotFound},
		{&pb.GetRemoteAddressRequest{HostName: rendezvoustest.TaskB}, core.InvalidArgument},
	} {
		if resp, err := m.GetRemoteAddress(context.Background(), c.req); core.CodeOf(err) != c.code {
			t.Errorf("GetRemoteAddress(%v) = %v, %v, want %v", c.req, resp, err, c.code)
		}
	}
}

// TestSameAddressTwice: being connected again to the same queue pair changes
// nothing.
func TestSameAddressTwice(t *testing.T) {
	c := newCluster()
	c.twice = true
	begin(t, c.pair(t), 1).works(full(10, 1))
}

// TestPastLives: what an earlier life of a task still says is refused, once a later
// one has been met; a hello has to be whole.
func TestPastLives(t *testing.T) {
	c := newCluster()
	c.wrap = softInstead(t) // whose queue pairs are connected with what the test makes up
	m := c.join(t, rendezvoustest.TaskA, rendezvoustest.TaskB).Session.Transport.(*verbs.Manager)
	ask := func(h *pb.VerbsHello) (*pb.GetRemoteAddressResponse, error) {
		return m.GetRemoteAddress(t.Context(), &pb.GetRemoteAddressRequest{
			HostName: rendezvoustest.TaskB, Channel: &pb.Channel{Qpn: int32(h.GetIncarnation())}, Mr: []*pb.MemoryRegion{{}, {}}, Hello: h,
		})
	}
	life := func(n uint64) *pb.VerbsHello {
		return &pb.VerbsHello{Generation: 2, Version: 2, Incarnation: n, Nonce: make([]byte, 16), Depth: 16}
	}
	for _, c := range []struct {
		hello *pb.VerbsHello
		want  core.Code
	}{
		{life(1), core.OK}, {life(2), core.OK}, {life(1), core.Aborted}, {life(2), core.OK}, {life(3), core.OK}, {life(2), core.Aborted}, {life(1), core.Aborted},
		{nil, core.OK}, // TensorFlow
		{life(0), core.InvalidArgument},
		{&pb.VerbsHello{Generation: 2, Version: 1, Incarnation: 4, Nonce: make([]byte, 16), Depth: 16}, core.InvalidArgument},
		{&pb.VerbsHello{Generation: 2, Version: 2, Incarnation: 4, Nonce: make([]byte, 15), Depth: 16}, core.InvalidArgument},
		{&pb.VerbsHello{Generation: 2, Version: 2, Incarnation: 4, Nonce: make([]byte, 16)}, core.InvalidArgument},
		{&pb.VerbsHello{Generation: 2, Version: 2, Incarnation: 4, Nonce: make([]byte, 16), Depth: 16, Arena: &pb.MemoryRegion{RemoteAddr: 1 << 63}, ArenaBytes: 1 << 63}, core.InvalidArgument},
		{&pb.VerbsHello{Generation: 2, Version: 3, Incarnation: 5, Nonce: make([]byte, 16), Depth: 1 << 31}, core.OK}, // of later versions
	} {
		resp, err := ask(c.hello)
		if core.CodeOf(err) != c.want {
			t.Errorf("hello %v gives %v, want %v", c.hello, err, c.want)
		}
		if h := resp.GetHello(); err == nil && (h.GetVersion() != 2 || len(h.GetNonce()) != 16 || h.GetIncarnation() == 0 || h.GetDepth() != 1024 || h.GetArenaBytes() == 0) {
			t.Errorf("the answer is %v", h)
		}
	}
}
