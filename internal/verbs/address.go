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
	tx, rx remoteMR
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
	return []*pb.MemoryRegion{
		{RemoteAddr: e.tx.addr, Rkey: e.tx.rkey},
		{RemoteAddr: e.rx.addr, Rkey: e.rx.rkey},
	}
}

// parseEndpoint reads what a peer says of itself.
func parseEndpoint(peer string, c *pb.Channel, mr []*pb.MemoryRegion, h *pb.VerbsHello) (e endpoint, err error) {
	if c == nil || len(mr) != 2 {
		return endpoint{}, core.Errorf(core.InvalidArgument, "%s must give a channel and two memory regions to be connected by RDMA, it gives %d", peer, len(mr))
	}
	const most = 1<<24 - 1
	if c.Lid < 0 || c.Lid > math.MaxUint16 || c.Qpn < 0 || c.Qpn > most || c.Psn < 0 || c.Psn > most {
		return endpoint{}, core.Errorf(core.InvalidArgument, "the RDMA address of %s must have a lid of 16 bits and numbers of 24 bits, got lid %d, qpn %d, psn %d", peer, c.Lid, c.Qpn, c.Psn)
	}
	e.Address = Address{LID: uint16(c.Lid), QPN: uint32(c.Qpn), PSN: uint32(c.Psn)}
	binary.LittleEndian.PutUint64(e.GID[:8], c.Snp)
	binary.LittleEndian.PutUint64(e.GID[8:], c.Iid)
	e.tx = remoteMR{mr[0].GetRemoteAddr(), mr[0].GetRkey()}
	e.rx = remoteMR{mr[1].GetRemoteAddr(), mr[1].GetRkey()}
	e.hello, err = parseHello(peer, h)
	return e, err
}
