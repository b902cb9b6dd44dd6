package verbstest

import (
	"bytes"
	"testing"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// refused posts a request that the peer must not execute: it fails, what comes
// after it is flushed, and so is all at the peer.
func refused(a, b *end, wr verbs.SendWR) {
	a.t.Helper()
	b.must(b.qp.PostRecv(verbs.RecvWR{ID: 4}))
	wr.ID = 1
	a.must(a.qp.PostSend(wr))
	a.one(verbs.Completion{ID: 1, Status: verbs.RemAccessErr})
	a.must(a.qp.PostSend(verbs.SendWR{ID: 2, Op: verbs.OpWriteImm}))
	a.one(verbs.Completion{ID: 2, Status: verbs.WRFlushErr})
	b.fails(4)
}

// fails takes one completion, of a request that cannot have succeeded. Devices
// differ in whether it was used up by what went wrong or flushed after it.
func (e *end) fails(id uint64) {
	e.t.Helper()
	if w := e.wait(1)[0]; w.ID != id || w.Status == verbs.Success || w.QPN != e.qp.Num() {
		e.t.Errorf("completion %+v, want one of request %d that fails", w, id)
	}
}

func checkWrongKey(t *testing.T, a, b *end) {
	src, dst := a.block(10, 0).random(), b.block(10, remote)
	wr := src.write(1, verbs.OpWriteImm, dst, 0)
	wr.RKey += 1 << 20
	refused(a, b, wr)
	dst.equals(t, make([]byte, 10))
}

func checkOutOfBounds(t *testing.T, a, b *end) {
	for name, shift := range map[string]uint64{"behind": 1, "before": ^uint64(0), "far": 1 << 40} {
		t.Run(name, func(t *testing.T) {
			a, b := open(t, a.dev), open(t, b.dev)
			a.must(a.qp.Connect(a.psn, b.address()))
			b.must(b.qp.Connect(b.psn, a.address()))
			src, dst := a.block(10, 0).random(), b.block(10, remote)
			wr := src.write(1, verbs.OpWrite, dst, 0)
			wr.RemoteAddr += shift
			refused(a, b, wr)
			dst.equals(t, make([]byte, 10))
		})
	}
}

func checkNoPermission(t *testing.T, a, b *end) {
	src, dst := a.block(10, 0).random(), b.block(10, verbs.LocalWrite)
	refused(a, b, src.write(1, verbs.OpWriteImm, dst, 0))
	dst.equals(t, make([]byte, 10))
}

func checkDeregistered(t *testing.T, a, b *end) {
	src, dst := a.block(10, 0).random(), b.block(10, remote)
	wr := src.write(1, verbs.OpWriteImm, dst, 0)
	b.must(dst.mr.Deregister())
	refused(a, b, wr)
	dst.equals(t, make([]byte, 10))
}

// checkLocalKey: a request must name memory of its own device. The one before
// it is not to blame.
func checkLocalKey(t *testing.T, a, b *end) {
	src, dst := a.block(10, 0).random(), b.block(10, remote)
	good, bad := src.write(1, verbs.OpWrite, dst, 0), src.write(2, verbs.OpWrite, dst, 0)
	bad.Local.Length++
	a.must(a.qp.PostSend(good))
	a.one(verbs.Completion{ID: 1, Op: verbs.OpWrite, Len: 10})
	a.must(a.qp.PostSend(bad))
	a.one(verbs.Completion{ID: 2, Status: verbs.LocProtErr})
}

func checkSendTooLong(t *testing.T, a, b *end) {
	src, dst := a.block(100, 0).random(), b.block(300, verbs.LocalWrite)
	b.must(b.qp.PostRecv(verbs.RecvWR{ID: 1, SGE: dst.sge(0, 99)}))
	a.must(a.qp.PostSend(verbs.SendWR{ID: 2, Op: verbs.OpSend, Local: src.sge(0, 100)}))
	b.fails(1)
	a.fails(2)
	if !bytes.Equal(dst.mem[99:], make([]byte, 201)) {
		t.Error("a message was written past the memory that was posted for it")
	}
}

func checkFlush(t *testing.T, a, b *end) {
	for i := range uint64(3) {
		a.must(a.qp.PostRecv(verbs.RecvWR{ID: i}))
	}
	a.must(a.qp.Fail())
	for i := range uint64(3) {
		a.one(verbs.Completion{ID: i, Status: verbs.WRFlushErr})
	}
	a.must(a.qp.PostRecv(verbs.RecvWR{ID: 3}))
	a.one(verbs.Completion{ID: 3, Status: verbs.WRFlushErr})
	a.must(a.qp.Fail()) // once more changes nothing
}

func checkQueueFull(t *testing.T, a, b *end) {
	for range depth {
		a.must(a.qp.PostRecv(verbs.RecvWR{ID: 1}))
		a.must(a.qp.PostSend(verbs.SendWR{ID: 1, Op: verbs.OpWriteImm})) // b has no receives
	}
	if err := a.qp.PostRecv(verbs.RecvWR{ID: 1}); err == nil {
		t.Error("a receive queue takes more than its depth")
	}
	if err := a.qp.PostSend(verbs.SendWR{Op: verbs.OpWriteImm}); err == nil {
		t.Error("a send queue takes more than its depth")
	}
}

// checkPeerDestroyed: what is sent to a queue pair that is gone is not
// reported as sent.
func checkPeerDestroyed(t *testing.T, a, b *end) {
	b.must(b.qp.Destroy())
	a.must(a.qp.PostSend(verbs.SendWR{ID: 1, Op: verbs.OpWriteImm}))
	a.isNotReached("a peer that is gone")
}

// isNotReached checks the completion of a request to a peer that cannot get it:
// whose request it was that failed, or one that came when that was known already.
func (a *end) isNotReached(peer string) {
	a.t.Helper()
	if w := a.wait(1)[0]; w.Status != verbs.RetryExcErr && w.Status != verbs.WRFlushErr {
		a.t.Errorf("writing to %s ends with %v", peer, w.Status)
	}
}

// checkConnectFirst: one side is always connected first, and may use it.
func checkConnectFirst(t *testing.T, newDevice func(*testing.T) verbs.Device) {
	a, b := open(t, newDevice(t)), open(t, newDevice(t))
	b.must(b.qp.PostRecv(verbs.RecvWR{ID: 1}))
	a.must(a.qp.Connect(a.psn, b.address()))
	a.must(a.qp.PostSend(verbs.SendWR{ID: 2, Op: verbs.OpWriteImm, Imm: 3}))
	b.must(b.qp.Connect(b.psn, a.address()))
	b.one(verbs.Completion{ID: 1, Op: verbs.OpRecvWriteImm, Imm: 3})
	a.one(verbs.Completion{ID: 2, Op: verbs.OpWriteImm})
}

// checkWrongPacketNumber: a queue pair that expects another packet number is
// not the one that is meant.
func checkWrongPacketNumber(t *testing.T, newDevice func(*testing.T) verbs.Device) {
	a, b := open(t, newDevice(t)), open(t, newDevice(t))
	stale := a.address()
	stale.PSN = (stale.PSN - 1000) & 0xffffff // what is a little behind counts as sent before
	b.must(b.qp.PostRecv(verbs.RecvWR{ID: 1}))
	b.must(b.qp.Connect(b.psn, stale))
	a.must(a.qp.Connect(a.psn, b.address()))
	a.must(a.qp.PostSend(verbs.SendWR{ID: 2, Op: verbs.OpWriteImm, Imm: 3}))
	a.isNotReached("a peer that means another one")
}

func checkUnconnected(t *testing.T, a *end) {
	if err := a.qp.PostSend(verbs.SendWR{Op: verbs.OpWriteImm}); err == nil {
		t.Error("a queue pair without peer sends")
	}
	a.must(a.qp.PostRecv(verbs.RecvWR{ID: 1}))
	a.must(a.qp.Fail())
	a.one(verbs.Completion{ID: 1, Status: verbs.WRFlushErr})
	if err := a.qp.Connect(1, a.address()); err == nil {
		t.Error("a queue pair in the error state can be connected")
	}
}
