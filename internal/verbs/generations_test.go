package verbs_test

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/rendezvous/rendezvoustest"
	"github.com/gorge-tf/gorge/internal/verbs"
	"github.com/gorge-tf/gorge/internal/verbs/soft"
	"github.com/gorge-tf/gorge/tf/core"
)

// generation of the protocol that clusters of these tests speak; 0: the last one.
var generation = 0

// TestOlderGeneration does with the older generation of the protocol what does not
// depend on how tensors are copied.
func TestOlderGeneration(t *testing.T) {
	generation = 1
	defer func() { generation = 0 }()
	for name, test := range map[string]func(*testing.T){
		"RandomWalk": TestRandomWalk, "ManyAtOnce": TestManyAtOnce, "Break": TestBreak, "PeerComesBack": TestPeerComesBack, "PeerComesLate": TestPeerComesLate,
		"CloseWhileWaiting": TestCloseWhileWaiting, "CancelLeavesValue": TestCancelLeavesValue, "TooLarge": TestTooLarge, "LongKey": TestLongKey, "Flat": TestFlat,
		"StopInAnyOrder": TestStopInAnyOrder, "SameAddressTwice": TestSameAddressTwice, "NoQueuePair": TestNoQueuePair, "PortDown": TestPortDown,
	} {
		t.Run(name, test)
	}
}

// TestGenerationsDoNotMix: tasks of two generations say so, and do not hang.
func TestGenerationsDoNotMix(t *testing.T) {
	c := newCluster()
	var p rendezvoustest.Pair
	p.A = c.join(t, rendezvoustest.TaskA, rendezvoustest.TaskB)
	c.config.Generation = 1
	p.B = c.join(t, rendezvoustest.TaskB, rendezvoustest.TaskA)
	if o := <-begin(t, p, 1).recv("e"); o.err == nil || !strings.Contains(o.err.Error(), "all tasks must be configured alike") {
		t.Errorf("a receive between generations gives %v", o.err)
	}
	dev, err := soft.Open(soft.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verbs.NewManager(dev, verbs.Options{Config: verbs.Config{Generation: 3}}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("generation 3 gives %v", err)
	}
}
