package verbs

import (
	"fmt"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// TestStrangersAreForgotten: nothing is kept of those that ask and are no peers.
func TestStrangersAreForgotten(t *testing.T) {
	m, err := NewManager(newFakeDevice(), Options{Config: Config{QueueDepth: 4, ArenaBytes: 1 << 16}, Task: "B", Peers: []string{"A"}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for i := range 100 {
		_, err := m.GetRemoteAddress(t.Context(), &pb.GetRemoteAddressRequest{
			HostName: fmt.Sprint("stranger ", i), Channel: &pb.Channel{Qpn: 5, Psn: 5}, Mr: make([]*pb.MemoryRegion, 2),
			Hello: &pb.VerbsHello{Generation: 2, Version: 2, Incarnation: 7, Nonce: make([]byte, 16), Depth: 16},
		})
		if core.CodeOf(err) != core.NotFound {
			t.Fatalf("a stranger is told %v, want NOT_FOUND", err)
		}
	}
	if n := len(m.incarnations); n != 0 {
		t.Errorf("the incarnations of %d tasks are remembered that are no peers", n)
	}
}
