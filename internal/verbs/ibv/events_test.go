//go:build rdma && cgo && linux

package ibv_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/ibv"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// alone skips a test that changes the network of its machine anywhere but in the
// virtual one.
func alone(t *testing.T) {
	t.Helper()
	names(t)
	if os.Getenv("RXE_VM") == "" {
		t.Skip("this test takes the network of the machine down: only the virtual machine of tools/rxevm lets it")
	}
}

func sh(t *testing.T, command string) {
	t.Helper()
	if out, err := exec.Command("/bin/sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

// A net connects tasks of this process.
type net map[string]*verbs.Manager

func (n net) GetRemoteAddress(ctx context.Context, task string, req *pb.GetRemoteAddressRequest) (*pb.GetRemoteAddressResponse, error) {
	return n[task].GetRemoteAddress(ctx, req)
}

// two returns tasks a, on rxe0, and b, on rxe1, of which a has a tensor for who
// asks for key "now", and none for key "never".
func two(t *testing.T, config verbs.Config) net {
	t.Helper()
	return patient(t, config, 14)
}

// patient is two with another timeout of packets, 4.096 µs · 2^timeout.
func patient(t *testing.T, config verbs.Config, timeout int) net {
	t.Helper()
	n := net{}
	config.ArenaBytes = 1 << 20
	for task, device := range map[string]string{"a": "rxe0", "b": "rxe1"} {
		o := options(device)
		o.Timeout = timeout
		d, err := ibv.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		n[task], err = verbs.NewManager(d, verbs.Options{Config: config, Task: task, Peers: []string{"a", "b"}, Serve: serve, Exchanger: n})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

func serve(ctx context.Context, _ int64, key string, done rendezvous.Done) {
	if key == "now" {
		done(core.Scalar(float32(42)), false, nil)
		return
	}
	context.AfterFunc(ctx, func() { done(nil, false, ctx.Err()) })
}

func (n net) recv(key string) <-chan error {
	c := make(chan error, 1)
	n["b"].Recv(context.Background(), "a", 1, key, rendezvous.Allocate, func(r rendezvous.Result) {
		if r.Tensor != nil {
			r.Tensor.Release()
		}
		c <- r.Err
	})
	return c
}

func (n net) close(t *testing.T) {
	t.Helper()
	for task, m := range n {
		if err := m.Close(); err != nil {
			t.Errorf("closing %s: %v", task, err)
		}
	}
}

// works receives until that succeeds: a connection that has broken is replaced.
func (n net) works(t *testing.T) {
	t.Helper()
	for range 100 {
		err := <-n.recv("now")
		if err == nil {
			return
		}
		if core.CodeOf(err) != core.Unavailable {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the connection does not come back")
}

const restore = `ip link set veth0 up
ip route replace 10.77.0.2/32 dev veth0 src 10.77.0.1 table 101`

// TestLinkDown: with the link down for too long, what waits fails with
// UNAVAILABLE; when it is up again, the next receive finds a new connection.
func TestLinkDown(t *testing.T) {
	alone(t)
	n := two(t, verbs.Config{PortGrace: 100 * time.Millisecond, Pulse: 50 * time.Millisecond})
	defer n.close(t)
	n.works(t)
	waits := n.recv("never")
	sh(t, "ip link set veth0 down")
	defer sh(t, restore)
	if err := <-waits; core.CodeOf(err) != core.Unavailable {
		t.Errorf("with the link down a receive gives %v, want UNAVAILABLE", err)
	}
	sh(t, restore)
	n.works(t)
}

// TestLinkBlinks: a link that is down for less than the grace costs nothing but
// time.
func TestLinkBlinks(t *testing.T) {
	alone(t)
	n := patient(t, verbs.Config{PortGrace: time.Minute}, 20) // 4 s: however slow the machine is
	defer n.close(t)
	n.works(t)
	waits := n.recv("never")
	sh(t, "ip link set veth0 down; "+restore)
	n.works(t)
	select {
	case err := <-waits:
		t.Errorf("a receive that waited while the link blinked gives %v", err)
	default:
	}
}

// TestLoss: what gets lost on the way is sent again by the device.
func TestLoss(t *testing.T) {
	alone(t)
	n := two(t, verbs.Config{})
	defer n.close(t)
	n.works(t)
	sh(t, "tc qdisc add dev veth0 root netem loss 5%")
	defer sh(t, "tc qdisc del dev veth0 root")
	for i := range 50 {
		if err := <-n.recv("now"); err != nil {
			t.Fatalf("receive %d: %v", i, err)
		}
	}
}

// TestSilentPeer: a peer that cannot be reached any more is found out by who
// waits for it.
func TestSilentPeer(t *testing.T) {
	alone(t)
	n := two(t, verbs.Config{Pulse: 50 * time.Millisecond})
	defer n.close(t)
	n.works(t)
	waits := n.recv("never")
	sh(t, "tc qdisc add dev veth0 root netem loss 100%; tc qdisc add dev veth1 root netem loss 100%")
	undo := "tc qdisc del dev veth0 root; tc qdisc del dev veth1 root"
	if err := <-waits; core.CodeOf(err) != core.Unavailable {
		t.Errorf("a receive from a peer that is cut off gives %v, want UNAVAILABLE", err)
	}
	sh(t, undo)
	n.works(t)
}

// TestDeviceRemoved: this driver does not take a device away while it is in use:
// the removal waits, the device goes on, and is gone when the last one has closed
// it. (What becomes of a device that does vanish, TestDeviceLost of the channels'
// package says.) A device that comes back is used again.
func TestDeviceRemoved(t *testing.T) {
	alone(t)
	n := two(t, verbs.Config{Pulse: 50 * time.Millisecond})
	n.works(t)
	waits := n.recv("never")
	removed := make(chan error, 1)
	go func() {
		out, err := exec.Command("rdma", "link", "delete", "rxe1").CombinedOutput()
		if err != nil {
			err = errors.New(err.Error() + ": " + string(out))
		}
		removed <- err
	}()
	n.works(t)
	n.close(t)
	if err := <-waits; core.CodeOf(err) != core.Unavailable {
		t.Errorf("a receive over a device that is removed gives %v in the end, want UNAVAILABLE", err)
	}
	if err := <-removed; err != nil {
		t.Error(err)
	}
	if _, err := ibv.Open(options("rxe1")); core.CodeOf(err) != core.NotFound {
		t.Errorf("a device that was removed is opened with %v, want NOT_FOUND", err)
	}
	sh(t, "rdma link add rxe1 type rxe netdev veth1; chmod 0666 /dev/infiniband/uverbs*")
	again := two(t, verbs.Config{})
	again.works(t)
	again.close(t)
}
