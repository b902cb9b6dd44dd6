package verbstest

import (
	"bytes"
	"testing"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// checkBatch: requests that are posted together are those that are posted one
// by one.
func checkBatch(t *testing.T, a, b *end) {
	src, dst := a.block(depth*8, 0).random(), b.block(depth*8, remote)
	var sends []verbs.SendWR
	var recvs []verbs.RecvWR
	for i := range depth {
		recvs = append(recvs, verbs.RecvWR{ID: uint64(100 + i)})
		sends = append(sends, verbs.SendWR{
			ID: uint64(i), Op: verbs.OpWriteImm, Local: src.sge(8*i, 8), RemoteAddr: dst.mr.Addr() + uint64(8*i), RKey: dst.mr.RKey(), Imm: uint32(i),
		})
	}
	b.must(b.qp.PostRecv(recvs...))
	a.must(a.qp.PostSend(sends...))
	for i := range depth {
		b.one(verbs.Completion{ID: uint64(100 + i), Op: verbs.OpRecvWriteImm, Len: 8, Imm: uint32(i)})
		a.one(verbs.Completion{ID: uint64(i), Op: verbs.OpWriteImm, Len: 8})
	}
	dst.equals(t, src.mem)
	a.must(a.qp.PostSend())
	a.must(a.qp.PostRecv())
}

// checkInline: bytes that go along with a request are read when it is posted,
// from memory that the device does not know.
func checkInline(t *testing.T, a, b *end) {
	most := a.dev.Attributes().MaxInline
	if most == 0 {
		t.Skip("the device takes nothing inline")
	}
	dst := b.block(most, remote)
	for _, n := range []int{1, most} {
		data := bytes.Repeat([]byte{byte(n)}, n)
		b.must(b.qp.PostRecv(verbs.RecvWR{ID: 1}))
		a.must(a.qp.PostSend(verbs.SendWR{ID: 2, Op: verbs.OpWriteImm, Inline: data, RemoteAddr: dst.mr.Addr(), RKey: dst.mr.RKey(), Imm: 3}))
		clear(data)
		b.one(verbs.Completion{ID: 1, Op: verbs.OpRecvWriteImm, Len: uint32(n), Imm: 3})
		a.one(verbs.Completion{ID: 2, Op: verbs.OpWriteImm, Len: uint32(n)})
		if !bytes.Equal(dst.mem[:n], bytes.Repeat([]byte{byte(n)}, n)) {
			t.Errorf("%d bytes that went inline are not those that were posted", n)
		}
	}
	if err := a.qp.PostSend(verbs.SendWR{Op: verbs.OpWriteImm, Inline: make([]byte, most+1)}); err == nil {
		t.Error("more bytes go inline than the device says")
	}
}

// checkQuiet: only the end of a request that is not quiet is told.
func checkQuiet(t *testing.T, a, b *end) {
	src, dst := a.block(30, 0).random(), b.block(30, remote)
	wr := func(id uint64, off int, quiet bool) verbs.SendWR {
		return verbs.SendWR{ID: id, Op: verbs.OpWrite, Local: src.sge(off, 10), RemoteAddr: dst.mr.Addr() + uint64(off), RKey: dst.mr.RKey(), Quiet: quiet}
	}
	for range 3 {
		a.must(a.qp.PostSend(wr(1, 0, true), wr(2, 10, true), wr(3, 20, false)))
		a.one(verbs.Completion{ID: 3, Op: verbs.OpWrite, Len: 10})
		dst.equals(t, src.mem)
		clear(dst.mem)
	}
}

// checkQuietFailure: what goes wrong is told even of quiet requests.
func checkQuietFailure(t *testing.T, a, b *end) {
	src, dst := a.block(10, 0).random(), b.block(10, remote)
	wr := src.write(1, verbs.OpWrite, dst, 0)
	wr.Quiet = true
	wr.RKey += 1 << 20
	a.must(a.qp.PostSend(wr))
	a.one(verbs.Completion{ID: 1, Status: verbs.RemAccessErr})
}

// checkQuietFull: quiet requests keep their places until the end of another one
// is told.
func checkQuietFull(t *testing.T, a, b *end) {
	src, dst := a.block(10, 0).random(), b.block(10, remote)
	quiet := src.write(1, verbs.OpWrite, dst, 0)
	quiet.Quiet = true
	for range 3 {
		for range depth - 1 {
			a.must(a.qp.PostSend(quiet))
		}
		a.must(a.qp.PostSend(src.write(2, verbs.OpWrite, dst, 0)))
		a.one(verbs.Completion{ID: 2, Op: verbs.OpWrite, Len: 10})
	}
	dst.equals(t, src.mem)
}

// checkDestroyedSilent: a destroyed queue pair gives no more completions.
func checkDestroyedSilent(t *testing.T, a, b *end) {
	other, err := a.dev.CreateQP(a.cq, depth)
	a.must(err)
	a.must(other.PostRecv(verbs.RecvWR{ID: 1}, verbs.RecvWR{ID: 2}))
	a.must(other.Fail())
	a.must(a.qp.PostRecv(verbs.RecvWR{ID: 3}))
	a.must(b.qp.PostSend(verbs.SendWR{Op: verbs.OpWriteImm, Imm: 4}))
	b.one(verbs.Completion{Op: verbs.OpWriteImm})
	a.must(other.Destroy())
	a.one(verbs.Completion{ID: 3, Op: verbs.OpRecvWriteImm, Imm: 4})
	if n, err := a.cq.Poll(make([]verbs.Completion, 1)); n != 0 || err != nil {
		t.Errorf("a queue pair that was destroyed has %d completions, %v", n, err)
	}
	if err := other.PostRecv(verbs.RecvWR{}); err == nil {
		t.Error("memory can be posted to a queue pair that was destroyed")
	}
}
