package verbs

import (
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf/pb"
)

// TestEndpointNumbers: the halves of a GID cross as the numbers that an x86
// host reads from its bytes.
func TestEndpointNumbers(t *testing.T) {
	e := endpoint{
		Address: Address{LID: 65535, QPN: 1<<24 - 1, PSN: 1, GID: GID{0: 0xfe, 1: 0x80, 8: 1, 15: 0xff}},
		tx:      remoteMR{1, 2}, rx: remoteMR{1 << 63, 1 << 31},
		hello: hello{generation: 2, version: 2, incarnation: 1 << 63, nonce: nonce{0: 1, 15: 2}, depth: 16, arena: remoteMR{1 << 62, 3}, arenaBytes: 1 << 40},
	}
	c := e.channel()
	if c.Lid != 65535 || c.Qpn != 1<<24-1 || c.Psn != 1 || c.Snp != 0x80fe || c.Iid != 0xff00000000000001 {
		t.Errorf("the channel of %+v is %v", e, c)
	}
	mr := e.regions()
	if len(mr) != 2 || mr[0].RemoteAddr != 1 || mr[0].Rkey != 2 || mr[1].RemoteAddr != 1<<63 || mr[1].Rkey != 1<<31 {
		t.Errorf("the regions of %+v are %v", e, mr)
	}
	if got, err := parseEndpoint("p", c, mr, e.hello.message(), 2); err != nil || got != e {
		t.Errorf("%+v is read as %+v, %v", e, got, err)
	}
}

func TestBadEndpoints(t *testing.T) {
	two := []*pb.MemoryRegion{{}, {}}
	for name, c := range map[string]struct {
		ch   *pb.Channel
		mr   []*pb.MemoryRegion
		want string
	}{
		"no channel":   {nil, two, "p must give a channel and 2 memory regions"},
		"four regions": {&pb.Channel{}, append(two, two...), "it gives 4"}, // TensorFlow before 1.6
		"lid":          {&pb.Channel{Lid: 1 << 16}, two, "lid 65536"},
		"qpn":          {&pb.Channel{Qpn: 1 << 24}, two, "qpn 16777216"},
		"psn":          {&pb.Channel{Psn: -1}, two, "psn -1"},
	} {
		if _, err := parseEndpoint("p", c.ch, c.mr, nil, 2); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}
