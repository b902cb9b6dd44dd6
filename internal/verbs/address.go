package verbs

import (
	"encoding/binary"
	"math"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A remoteMR is where a peer lets us write.
type remoteMR struct {
	addr uint64
	rkey uint32
}

// An endpoint is all that a peer needs to know to reach a channel: the queue
// pair, the buffers for control messages, and what Gorge's tasks say beside.
type endpoint struct {
	Address
	tx, rx       remoteMR
	txAck, rxAck remoteMR // of the older generation
	hello
}

// The halves of a GID cross as numbers whose bytes in memory are those of the
// GID, as x86 reads them.
func (e *endpoint) channel() *pb.Channel {
	return &pb.Channel{
		Lid: int32(e.LID), Qpn: int32(e.QPN), Psn: int32(e.PSN),
		Snp: binary.LittleEndian.Uint64(e.GID[:8]), Iid: binary.LittleEndian.Uint64(e.GID[8:]),
	}
}

func (e *endpoint) regions() []*pb.MemoryRegion {
	var out []*pb.MemoryRegion
	for _, r := range e.all() {
		out = append(out, &pb.MemoryRegion{RemoteAddr: r.addr, Rkey: r.rkey})
	}
	return out
}

// all are the regions of the peer's generation, in TensorFlow's order.
func (e *endpoint) all() []*remoteMR {
	out := []*remoteMR{&e.tx, &e.rx}
	if e.generation == firstGeneration {
		out = append(out, &e.txAck, &e.rxAck)
	}
	return out
}

// parseEndpoint reads what a peer says of itself. It has to speak one generation of
// the protocol.
func parseEndpoint(peer string, c *pb.Channel, mr []*pb.MemoryRegion, h *pb.VerbsHello, generation int) (e endpoint, err error) {
	if theirs := int(h.GetGeneration()); h != nil && theirs != generation {
		return endpoint{}, core.Errorf(core.FailedPrecondition, "%s speaks generation %d of the RDMA protocol, this task generation %d: all tasks must be configured alike", peer, theirs, generation)
	}
	e.generation = generation
	if want := len(e.all()); c == nil || len(mr) != want {
		return endpoint{}, core.Errorf(core.InvalidArgument, "%s must give a channel and %d memory regions to be connected by RDMA in generation %d of the protocol, it gives %d", peer, want, generation, len(mr))
	}
	const most = 1<<24 - 1
	if c.Lid < 0 || c.Lid > math.MaxUint16 || c.Qpn < 0 || c.Qpn > most || c.Psn < 0 || c.Psn > most {
		return endpoint{}, core.Errorf(core.InvalidArgument, "the RDMA address of %s must have a lid of 16 bits and numbers of 24 bits, got lid %d, qpn %d, psn %d", peer, c.Lid, c.Qpn, c.Psn)
	}
	e.Address = Address{LID: uint16(c.Lid), QPN: uint32(c.Qpn), PSN: uint32(c.Psn)}
	binary.LittleEndian.PutUint64(e.GID[:8], c.Snp)
	binary.LittleEndian.PutUint64(e.GID[8:], c.Iid)
	for i, r := range e.all() {
		*r = remoteMR{mr[i].GetRemoteAddr(), mr[i].GetRkey()}
	}
	e.hello, err = parseHello(peer, h)
	e.generation = generation
	return e, err
}
