package verbs_test

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"

	"github.com/gorge-tf/gorge/internal/leaktest"
	"github.com/gorge-tf/gorge/internal/rendezvous"
	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

func TestMain(m *testing.M) {
	if os.Getenv(victimVariable) != "" {
		victim()
		return
	}
	leaktest.Main(m)
}

// openDevice opens what the tests of this package run over.
var openDevice = func() (verbs.Device, error) { return soft.Open(soft.Options{}) }

// arenaBytes is how much memory each task registers: the default, where that
// takes no time.
var arenaBytes = 0

// testLog hears of what channels do, if GORGE_TEST_LOG is set.
var testLog = func() *slog.Logger {
	if os.Getenv("GORGE_TEST_LOG") == "" {
		return nil
	}
	return slog.New(slog.NewTextHandler(os.Stderr, nil))
}()

// A cluster connects managers of this process without gRPC.
type cluster struct {
	config verbs.Config
	wrap   func(verbs.Device) verbs.Device // nil: devices as they are
	arena  bool                            // tensors are received in registered memory
	twice  bool                            // calls between tasks are made twice, as when an answer was lost
	served func(key string, err error)     // hears what peers were given, may be nil

	mu     sync.Mutex
	tasks  map[string]*verbs.Manager
	joined sync.Cond
}

func newCluster() *cluster {
	c := &cluster{tasks: map[string]*verbs.Manager{}, config: verbs.Config{ArenaBytes: arenaBytes, Log: testLog, Generation: generation}}
	c.joined.L = &c.mu
	return c
}

// GetRemoteAddress waits for a task that has not joined yet.
func (c *cluster) GetRemoteAddress(ctx context.Context, task string, req *pb.GetRemoteAddressRequest) (*pb.GetRemoteAddressResponse, error) {
	defer context.AfterFunc(ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.joined.Broadcast()
	})()
	c.mu.Lock()
	for c.tasks[task] == nil && ctx.Err() == nil {
		c.joined.Wait()
	}
	m := c.tasks[task]
	c.mu.Unlock()
	if m == nil {
		return nil, ctx.Err()
	}
	if c.twice {
		if _, err := m.GetRemoteAddress(ctx, req); err != nil {
			return nil, err
		}
	}
	return m.GetRemoteAddress(ctx, req)
}

// join starts a task, in place of an earlier one of its name.
func (c *cluster) join(t testing.TB, task string, peers ...string) rendezvoustest.Peer {
	t.Helper()
	dev, err := openDevice()
	if err != nil {
		t.Fatal(err)
	}
	if c.wrap != nil {
		dev = c.wrap(dev)
	}
	rdv := rendezvous.NewManager(0)
	m, err := verbs.NewManager(dev, verbs.Options{Config: c.config, Task: task, Peers: peers, Serve: c.serve(rdv), Exchanger: c, MaxTensor: maxTensor})
	if err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	c.tasks[task] = m
	c.mu.Unlock()
	c.joined.Broadcast()
	t.Cleanup(func() {
		rdv.CleanupAll()
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &rendezvous.Session{Task: task, Transport: m}
	if c.arena {
		s.Alloc = m.Alloc(rendezvous.Allocate)
	}
	return rendezvoustest.Peer{Manager: rdv, Session: s}
}

func (c *cluster) serve(rdv *rendezvous.Manager) verbs.Serve {
	if c.served == nil {
		return rdv.RecvLocal
	}
	return func(ctx context.Context, step int64, key string, done rendezvous.Done) {
		rdv.RecvLocal(ctx, step, key, func(t *core.Tensor, dead bool, err error) {
			done(t, dead, err)
			c.served(key, err)
		})
	}
}

const maxTensor = 100 << 20

func (c *cluster) pair(t *testing.T) rendezvoustest.Pair {
	t.Helper()
	return rendezvoustest.Pair{
		A: c.join(t, rendezvoustest.TaskA, rendezvoustest.TaskB),
		B: c.join(t, rendezvoustest.TaskB, rendezvoustest.TaskA),
	}
}

// A device with other attributes.
type altered struct {
	verbs.Device
	change func(*verbs.Attributes)
}

func (d altered) Attributes() verbs.Attributes {
	a := d.Device.Attributes()
	d.change(&a)
	return a
}

func alter(change func(*verbs.Attributes)) func(verbs.Device) verbs.Device {
	return func(d verbs.Device) verbs.Device { return altered{d, change} }
}

// TestSuite runs what all transports have to pass over channels in all the
// ways in which memory gets to the device.
func TestSuite(t *testing.T) {
	for _, c := range []struct {
		name  string
		setUp func(*cluster)
	}{
		{"Default", func(*cluster) {}},
		{"Arena", func(c *cluster) { c.arena = true }},
		{"SmallArena", func(c *cluster) { c.arena, c.config.ArenaBytes = true, 1024 }},
		{"AlwaysCopy", func(c *cluster) { c.wrap = alter(func(a *verbs.Attributes) { a.CopyBelow = 1 << 40 }) }},
		{"ShortRing", func(c *cluster) {
			c.config.StagingBytes = 3000
			c.wrap = alter(func(a *verbs.Attributes) { a.CopyBelow = 1 << 40 })
		}},
		{"NeverCopy", func(c *cluster) { c.wrap = alter(func(a *verbs.Attributes) { a.CopyBelow = 0 }) }},
		{"ShortMessages", func(c *cluster) { c.wrap = alter(func(a *verbs.Attributes) { a.MaxMessage = 5000 }) }},
		{"OlderGeneration", func(c *cluster) { c.config.Generation = 1 }},
		{"OlderShortMessages", func(c *cluster) {
			c.config.Generation, c.config.QueueDepth = 1, 16
			c.wrap = alter(func(a *verbs.Attributes) { a.MaxMessage = 5000 })
		}},
		{"ShallowQueues", func(c *cluster) { c.config.QueueDepth = 2 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			rendezvoustest.Run(t, func(t *testing.T) rendezvoustest.Pair {
				cl := newCluster()
				c.setUp(cl)
				return cl.pair(t)
			})
		})
	}
}
