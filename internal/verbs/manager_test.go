package verbs_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/internal/wire/pb"
	"github.com/gorge-tf/gorge/tf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A cluster connects managers of this process without gRPC.
type cluster map[string]*verbs.Manager

func (c cluster) GetRemoteAddress(ctx context.Context, task string, req *pb.GetRemoteAddressRequest) (*pb.GetRemoteAddressResponse, error) {
	m := c[task]
	if m == nil {
		return nil, tf.Errorf(tf.Unavailable, "%s is not there", task)
	}
	return m.GetRemoteAddress(ctx, req)
}

// pair returns two tasks with software devices.
func pair(t *testing.T, config verbs.Config, wrap func(verbs.Device) verbs.Device) rendezvoustest.Pair {
	t.Helper()
	c := cluster{}
	a := c.join(t, config, wrap, rendezvoustest.TaskA, rendezvoustest.TaskB)
	b := c.join(t, config, wrap, rendezvoustest.TaskB, rendezvoustest.TaskA)
	return rendezvoustest.Pair{A: a, B: b}
}

func (c cluster) join(t *testing.T, config verbs.Config, wrap func(verbs.Device) verbs.Device, task string, peers ...string) rendezvoustest.Peer {
	t.Helper()
	var dev verbs.Device
	dev, err := soft.Open(soft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if wrap != nil {
		dev = wrap(dev)
	}
	rdv := rendezvous.NewManager(0)
	m, err := verbs.NewManager(dev, verbs.Options{Config: config, Task: task, Peers: peers, Serve: rdv.RecvLocal, Exchanger: c})
	if err != nil {
		t.Fatal(err)
	}
	c[task] = m
	t.Cleanup(func() {
		rdv.CleanupAll()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return rendezvoustest.Peer{Manager: rdv, Session: &rendezvous.Session{Task: task, Transport: m}}
}

func TestSuite(t *testing.T) {
	rendezvoustest.Run(t, func(t *testing.T) rendezvoustest.Pair { return pair(t, verbs.Config{}, nil) })
}
