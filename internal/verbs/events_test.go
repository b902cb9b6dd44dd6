package verbs_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/tf/core"
)

// raising returns a pair over the software provider, and its receiver's device,
// which tells of the events that a test wants.
func raising(t *testing.T, grace time.Duration) (rendezvoustest.Pair, *soft.Device) {
	t.Helper()
	c := newCluster()
	c.config.PortGrace = grace
	var dev *soft.Device
	instead := softInstead(t)
	c.wrap = func(d verbs.Device) verbs.Device {
		dev = instead(d).(*soft.Device)
		return dev
	}
	return c.pair(t), dev // B's is opened last
}

// softInstead opens devices of the software provider in place of others.
func softInstead(t *testing.T) func(verbs.Device) verbs.Device {
	return func(d verbs.Device) verbs.Device {
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		dev, err := soft.Open(soft.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return dev
	}
}

func raise(t *testing.T, d *soft.Device, e verbs.Event) {
	t.Helper()
	if !d.Raise(e) {
		t.Fatal("events are not read")
	}
}

// TestQueuePairFatal: a queue pair of which the driver says that it has failed
// ends what waits on it, and is replaced.
func TestQueuePairFatal(t *testing.T) {
	p, dev := raising(t, 0)
	begin(t, p, 1).works(full(10, 1))
	waits := begin(t, p, 2).recv("never")
	raise(t, dev, verbs.Event{Kind: verbs.EventQPFatal, QPN: 1 << 25, Text: "of nobody"})
	raise(t, dev, verbs.Event{Kind: verbs.EventOther})
	raise(t, dev, verbs.Event{Kind: verbs.EventQPFatal, QPN: stats(t, p.B).QPN, Text: "queue pair fatal"})
	if o := <-waits; core.CodeOf(o.err) != core.Unavailable || !strings.Contains(o.err.Error(), "queue pair fatal") {
		t.Errorf("a receive over a queue pair that has failed gives %v", o.err)
	}
	begin(t, p, 3).eventually()
}

// TestPortDown: what waits fails when the port has been down for too long, and
// only then.
func TestPortDown(t *testing.T) {
	p, dev := raising(t, time.Hour)
	begin(t, p, 1).works(full(10, 1))
	raise(t, dev, verbs.Event{Kind: verbs.EventPortDown, Text: "port error"})
	raise(t, dev, verbs.Event{Kind: verbs.EventPortActive, Text: "port active"})
	begin(t, p, 2).works(full(10, 2))

	p, dev = raising(t, time.Nanosecond)
	begin(t, p, 1).works(full(10, 1))
	waits := begin(t, p, 2).recv("never")
	raise(t, dev, verbs.Event{Kind: verbs.EventPortDown, Text: "port error"})
	if o := <-waits; core.CodeOf(o.err) != core.Unavailable || !strings.Contains(o.err.Error(), "port error") {
		t.Errorf("a receive over a port that is down gives %v", o.err)
	}
	raise(t, dev, verbs.Event{Kind: verbs.EventPortActive})
	begin(t, p, 3).eventually()
}

// TestDeviceLost: without its device a task receives nothing any more, and says
// why.
func TestDeviceLost(t *testing.T) {
	p, dev := raising(t, 0)
	begin(t, p, 1).works(full(10, 1))
	s := begin(t, p, 2)
	waits := s.recv("never")
	raise(t, dev, verbs.Event{Kind: verbs.EventDeviceLost, Text: "device fatal"})
	for _, c := range []<-chan outcome{waits, s.recv("later")} {
		if o := <-c; core.CodeOf(o.err) != core.Unavailable || !strings.Contains(o.err.Error(), dev.Attributes().Name) {
			t.Errorf("a receive over a device that is lost gives %v", o.err)
		}
	}
}
