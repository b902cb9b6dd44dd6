package verbs

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// Gorge's tasks tell each other more than TensorFlow's when they connect, over the
// control channel, which has authenticated them: a version, so that later ones can
// tell what this one understands; the number of the task's life, so that what
// an earlier life still says is refused; and a nonce that the ping over RDMA has
// to repeat. A process that did not get the nonce cannot speak for the peer.

// helloVersion is the version of Gorge's additions. Tasks that say nothing have
// version 0: TensorFlow's, and Gorge's before there were hellos.
const helloVersion = 2

// A nonce is what a peer's ping has to repeat.
type nonce [16]byte

func newNonce() (n nonce) {
	_, _ = rand.Read(n[:]) // never fails
	return n
}

// A hello is what a task says of itself beside TensorFlow's fields.
type hello struct {
	generation  int    // of TensorFlow's protocol
	version     uint32 // 0: the peer said nothing
	incarnation uint64
	nonce       nonce
	depth       int      // receives that its queue pair holds
	arena       remoteMR // where most of its tensors arrive
	arenaBytes  uint64
	room        int // bytes of its buffer for messages, 0: that of one message, as in the older generation
}

func (h *hello) message() *pb.VerbsHello {
	if h.version == 0 {
		return nil
	}
	return &pb.VerbsHello{
		Generation: uint32(h.generation), Version: h.version, Incarnation: h.incarnation, Nonce: h.nonce[:], Depth: uint32(h.depth),
		Arena: &pb.MemoryRegion{RemoteAddr: h.arena.addr, Rkey: h.arena.rkey}, ArenaBytes: h.arenaBytes,
		MessageRoom: uint32(h.room),
	}
}

// parseHello reads what a peer says of itself; nothing is what TensorFlow says.
func parseHello(peer string, p *pb.VerbsHello) (hello, error) {
	if p == nil {
		return hello{}, nil
	}
	h := hello{
		version: p.GetVersion(), incarnation: p.GetIncarnation(), depth: int(p.GetDepth()),
		arena: remoteMR{p.GetArena().GetRemoteAddr(), p.GetArena().GetRkey()}, arenaBytes: p.GetArenaBytes(),
		room: int(p.GetMessageRoom()),
	}
	if h.version < helloVersion || len(p.GetNonce()) != len(h.nonce) || h.depth < 1 || h.incarnation == 0 || h.arena.addr+h.arenaBytes < h.arena.addr {
		return hello{}, core.Errorf(core.InvalidArgument, "%s must say hello by RDMA with a version from %d on, an incarnation, a nonce of %d bytes, the depth of its queue and an arena, got version %d, incarnation %d, %d bytes, depth %d, %d bytes at %#x",
			peer, helloVersion, len(h.nonce), h.version, h.incarnation, len(p.GetNonce()), h.depth, h.arenaBytes, h.arena.addr)
	}
	copy(h.nonce[:], p.GetNonce())
	return h, nil
}

// inArena reports whether n bytes at an address with a key may be written by
// us: those of the peer's arena have to lie in it. Of other memory only its
// device knows.
func (h *hello) inArena(addr uint64, rkey uint32, n int) bool {
	if h.version == 0 || rkey != h.arena.rkey || n == 0 {
		return true
	}
	off := addr - h.arena.addr // wraps around below the arena
	return off < h.arenaBytes && uint64(n) <= h.arenaBytes-off
}

// pingText is what the ping of a task begins with that understands Gorge's
// additions to the protocol; the nonce of the pinged end follows. TensorFlow's pings
// say nothing.
const pingText = "gorge verbs 1\n"

// answers reports whether a ping is one of Gorge's. A peer that said hello has to
// repeat our nonce.
func (c *Channel) answers(ping []byte) (extended bool, err error) {
	said, extended := bytes.CutPrefix(ping, []byte(pingText))
	if c.remote.version == 0 {
		return extended, nil
	}
	if !extended || len(said) < len(c.nonce) || nonce(said[:len(c.nonce)]) != c.nonce {
		return false, c.errStranger()
	}
	return true, nil
}

func (c *Channel) errStranger() error {
	return fmt.Errorf("it is a stranger: its first message does not repeat what %s was told", c.peer)
}

// incarnations are the incarnations of a peer: this one, and those before it.
type incarnations struct {
	now  uint64
	past []uint64
}

// maxIncarnations bounds the incarnations that are remembered of a task.
const maxIncarnations = 16

// admitLocked records an incarnation of a peer, and refuses one that another one has
// replaced. Of a task that is no peer nothing is kept: anyone can make up names. The
// caller holds the manager's lock.
func (m *Manager) admitLocked(task string, incarnation uint64) error {
	l := m.incarnations[task]
	switch {
	case incarnation == 0 || incarnation == l.now || !m.hasPeer(task):
		return nil
	case slices.Contains(l.past, incarnation):
		return core.Errorf(core.Aborted, "incarnation %d of %s is over: another one is connected by RDMA, %d", incarnation, task, l.now)
	}
	if l.now != 0 {
		l.past = append(l.past[max(0, len(l.past)-maxIncarnations+1):], l.now)
	}
	l.now = incarnation
	m.incarnations[task] = l
	return nil
}
