package verbstest

import (
	"testing"

	"github.com/gorge-tf/gorge/internal/verbs"
)

const remote = verbs.LocalWrite | verbs.RemoteWrite

// Run checks the devices that newDevice makes. It closes none of them.
func Run(t *testing.T, newDevice func(t *testing.T) verbs.Device) {
	for _, c := range []struct {
		name  string
		check func(*testing.T, *end, *end)
	}{
		{"Write", checkWrite},
		{"WriteImm", checkWriteImm},
		{"EmptyWrite", checkEmpty},
		{"SendReceive", checkSend},
		{"Order", checkOrder},
		{"BothWays", checkBothWays},
		{"ReceiveLater", checkReceiveLater},
		{"Batches", checkBatch},
		{"Inline", checkInline},
		{"Quiet", checkQuiet},
		{"QuietFailure", checkQuietFailure},
		{"QuietFull", checkQuietFull},
		{"DestroyedSilent", checkDestroyedSilent},
		{"WrongKey", checkWrongKey},
		{"OutOfBounds", checkOutOfBounds},
		{"NoPermission", checkNoPermission},
		{"Deregistered", checkDeregistered},
		{"LocalKey", checkLocalKey},
		{"SendTooLong", checkSendTooLong},
		{"Flush", checkFlush},
		{"QueueFull", checkQueueFull},
		{"PeerDestroyed", checkPeerDestroyed},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := connected(t, newDevice)
			c.check(t, a, b)
		})
	}
	t.Run("ConnectFirst", func(t *testing.T) { checkConnectFirst(t, newDevice) })
	t.Run("WrongPacketNumber", func(t *testing.T) { checkWrongPacketNumber(t, newDevice) })
	t.Run("Unconnected", func(t *testing.T) { checkUnconnected(t, open(t, newDevice(t))) })
}

// checkWrite: the peer does not hear of a write, but it precedes what comes
// after it.
func checkWrite(t *testing.T, a, b *end) {
	src, dst := a.block(1000, 0).random(), b.block(1000, remote)
	b.must(b.qp.PostRecv(verbs.RecvWR{ID: 7}))
	a.must(a.qp.PostSend(src.write(1, verbs.OpWrite, dst, 0)))
	a.must(a.qp.PostSend(verbs.SendWR{ID: 2, Op: verbs.OpWriteImm, Imm: 5}))
	a.one(verbs.Completion{ID: 1, Op: verbs.OpWrite, Len: 1000})
	a.one(verbs.Completion{ID: 2, Op: verbs.OpWriteImm})
	b.one(verbs.Completion{ID: 7, Op: verbs.OpRecvWriteImm, Imm: 5})
	dst.equals(t, src.mem)
}

func checkWriteImm(t *testing.T, a, b *end) {
	for i, n := range []int{1, 21, 4096, 4097, 1 << 20} {
		src, dst := a.block(n, 0).random(), b.block(n, remote)
		imm := uint32(0xFFFFFFFF - i)
		b.must(b.qp.PostRecv(verbs.RecvWR{ID: uint64(i)}))
		a.must(a.qp.PostSend(src.write(1<<62, verbs.OpWriteImm, dst, imm)))
		b.one(verbs.Completion{ID: uint64(i), Op: verbs.OpRecvWriteImm, Len: uint32(n), Imm: imm})
		a.one(verbs.Completion{ID: 1 << 62, Op: verbs.OpWriteImm, Len: uint32(n)})
		dst.equals(t, src.mem)
	}
}

// checkEmpty: a write of nothing needs no memory on either side.
func checkEmpty(t *testing.T, a, b *end) {
	b.must(b.qp.PostRecv(verbs.RecvWR{ID: 1}))
	a.must(a.qp.PostSend(verbs.SendWR{ID: 2, Op: verbs.OpWriteImm, Imm: 9, RemoteAddr: 1234, RKey: 99}))
	b.one(verbs.Completion{ID: 1, Op: verbs.OpRecvWriteImm, Imm: 9})
	a.one(verbs.Completion{ID: 2, Op: verbs.OpWriteImm})
}

func checkSend(t *testing.T, a, b *end) {
	src, dst := a.block(100, 0).random(), b.block(300, verbs.LocalWrite)
	b.must(b.qp.PostRecv(verbs.RecvWR{ID: 1, SGE: dst.sge(50, 200)}))
	a.must(a.qp.PostSend(verbs.SendWR{ID: 2, Op: verbs.OpSend, Local: src.sge(0, 100)}))
	b.one(verbs.Completion{ID: 1, Op: verbs.OpRecv, Len: 100})
	a.one(verbs.Completion{ID: 2, Op: verbs.OpSend, Len: 100})
	dst.equals(t, append(append(make([]byte, 50), src.mem...), make([]byte, 150)...))
}

// checkOrder: requests complete and arrive in the order in which they were
// posted.
func checkOrder(t *testing.T, a, b *end) {
	dst := b.block(8, remote)
	for round := range uint32(20) {
		for i := range uint32(depth) {
			b.must(b.qp.PostRecv(verbs.RecvWR{ID: uint64(i)}))
			src := a.block(8, 0).random()
			a.must(a.qp.PostSend(src.write(uint64(i), verbs.OpWriteImm, dst, round*depth+i)))
		}
		for i := range uint32(depth) {
			b.one(verbs.Completion{ID: uint64(i), Op: verbs.OpRecvWriteImm, Len: 8, Imm: round*depth + i})
			a.one(verbs.Completion{ID: uint64(i), Op: verbs.OpWriteImm, Len: 8})
		}
	}
}

func checkBothWays(t *testing.T, a, b *end) {
	const n = 300000 // more than fits between two sockets
	sa, sb := a.block(n, 0).random(), b.block(n, 0).random()
	da, db := a.block(n, remote), b.block(n, remote)
	for range 4 {
		a.must(a.qp.PostRecv(verbs.RecvWR{ID: 1}))
		b.must(b.qp.PostRecv(verbs.RecvWR{ID: 1}))
		a.must(a.qp.PostSend(sa.write(2, verbs.OpWriteImm, db, 3)))
		b.must(b.qp.PostSend(sb.write(2, verbs.OpWriteImm, da, 3)))
	}
	a.wait(8)
	b.wait(8)
	da.equals(t, sb.mem)
	db.equals(t, sa.mem)
}

// checkReceiveLater: what comes before a receive is posted waits for it.
func checkReceiveLater(t *testing.T, a, b *end) {
	src, dst := a.block(10, 0).random(), b.block(10, remote)
	a.must(a.qp.PostSend(src.write(1, verbs.OpWriteImm, dst, 1)))
	a.must(a.qp.PostSend(src.write(2, verbs.OpWriteImm, dst, 2)))
	if n, err := b.cq.Poll(make([]verbs.Completion, 1)); n != 0 || err != nil {
		t.Errorf("without a receive there are %d completions, %v", n, err)
	}
	b.must(b.qp.PostRecv(verbs.RecvWR{ID: 1}))
	b.one(verbs.Completion{ID: 1, Op: verbs.OpRecvWriteImm, Len: 10, Imm: 1})
	a.one(verbs.Completion{ID: 1, Op: verbs.OpWriteImm, Len: 10})
	b.must(b.qp.PostRecv(verbs.RecvWR{ID: 2}))
	b.one(verbs.Completion{ID: 2, Op: verbs.OpRecvWriteImm, Len: 10, Imm: 2})
}
