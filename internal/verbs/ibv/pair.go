//go:build rdma && cgo && linux

package ibv

/*
#include "shim.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// recvBit tells the numbers of receives from those of sends. Both are counted
// from 0, since the owner's need not differ.
const recvBit = 1 << 63

// A queuePair remembers what is posted to it: the device rounds its depth up, and
// tells little of requests that have ended.
type queuePair struct {
	dev   *device
	cq    *completionQueue
	num   uint32
	depth int

	mu        sync.Mutex
	qp        *C.struct_ibv_qp // nil when destroyed
	connected bool
	failed    bool // by Fail, or told by a completion
	sends     ring
	recvs     ring
	sendBuf   []C.struct_gorge_send
	recvBuf   []C.struct_gorge_recv
}

// A note is what has to be known of a request when it ends.
type note struct {
	id uint64
	op verbs.Opcode
	n  uint32
}

// A ring has notes of the requests with the numbers from first to next.
type ring struct {
	notes       []note
	first, next uint64
}

func (r *ring) room() int { return len(r.notes) - int(r.next-r.first) }

func (r *ring) add(n note) uint64 {
	r.notes[r.next%uint64(len(r.notes))] = n
	r.next++
	return r.next - 1
}

// end takes out all requests up to a number, which are done, and returns the
// last one; false if it is none of those that are posted.
func (r *ring) end(num uint64) (note, bool) {
	if num-r.first >= r.next-r.first {
		return note{}, false
	}
	r.first = num + 1
	return r.notes[num%uint64(len(r.notes))], true
}

// CreateQP returns a queue pair in the state INIT.
func (d *device) CreateQP(cq verbs.CompletionQueue, depth int) (verbs.QueuePair, error) {
	own, ok := cq.(*completionQueue)
	if !ok || own.dev != d || depth <= 0 || depth > d.attr.MaxDepth {
		return nil, fmt.Errorf("ibv: a queue pair needs a completion queue of the same device and a depth from 1 to %d, got %T and %d", d.attr.MaxDepth, cq, depth)
	}
	inline := C.int(d.attr.MaxInline)
	qp, err := C.gorge_create_qp(d.pd, own.cq, C.int(depth), &inline)
	if qp == nil {
		return nil, fmt.Errorf("ibv: ibv_create_qp of %d requests: %w", depth, err)
	}
	if err := errno("modify to INIT", C.gorge_init_qp(qp, C.int(d.choice.port.Num), C.int(d.opts.PKey))); err != nil {
		return nil, errors.Join(err, errno("ibv_destroy_qp", C.ibv_destroy_qp(qp)))
	}
	q := &queuePair{dev: d, cq: own, num: uint32(qp.qp_num), depth: depth, qp: qp}
	q.sends.notes, q.recvs.notes = make([]note, depth), make([]note, depth)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pairs[q.num] = q
	return q, nil
}

// Num returns the queue pair's number.
func (q *queuePair) Num() uint32 { return q.num }

// Connect brings the queue pair to RTS.
func (q *queuePair) Connect(psn uint32, remote verbs.Address) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.qp == nil || q.connected || q.failed {
		return errors.New("ibv: a queue pair must be in the state INIT to be connected")
	}
	c, o := &q.dev.choice, &q.dev.opts
	p := C.struct_gorge_path{
		qpn: C.uint32_t(remote.QPN), psn: C.uint32_t(psn), remote_psn: C.uint32_t(remote.PSN), lid: C.uint16_t(remote.LID),
		port: C.int(c.port.Num), gid_index: C.int(c.gid.Index), mtu: C.int(mtuCode(c.mtu)), timeout: C.int(o.Timeout),
		retry_cnt: C.int(o.RetryCnt), sl: C.int(o.ServiceLevel), traffic_class: C.int(o.TrafficClass),
	}
	for i, b := range remote.GID {
		p.gid[i] = C.uint8_t(b)
	}
	if err := errno("modify to RTR and RTS", C.gorge_connect_qp(q.qp, &p)); err != nil {
		return err
	}
	q.connected = true
	return nil
}

// opcodes of the library.
var opcodes = map[verbs.Opcode]C.int32_t{verbs.OpWrite: C.IBV_WR_RDMA_WRITE, verbs.OpWriteImm: C.IBV_WR_RDMA_WRITE_WITH_IMM, verbs.OpSend: C.IBV_WR_SEND}

// PostSend queues requests, all in one call of the library.
func (q *queuePair) PostSend(wrs ...verbs.SendWR) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(wrs) == 0:
		return nil
	case q.qp == nil:
		return verbs.ErrClosed
	case !q.connected:
		return errors.New("ibv: a queue pair must be connected to send")
	case len(wrs) > q.sends.room():
		return fmt.Errorf("ibv: the send queue is full, it holds %d requests", q.depth)
	}
	q.sendBuf = q.sendBuf[:0]
	for i := range wrs {
		s, err := q.request(&wrs[i])
		if err != nil {
			return err
		}
		q.sendBuf = append(q.sendBuf, s)
	}
	rc := C.gorge_post_send(q.qp, &q.sendBuf[0], C.int(len(wrs)))
	runtime.KeepAlive(wrs)
	return errno("ibv_post_send", rc)
}

// request takes a note of a request and lays it out for the library.
func (q *queuePair) request(wr *verbs.SendWR) (C.struct_gorge_send, error) {
	op, ok := opcodes[wr.Op]
	switch {
	case !ok || wr.Len() > q.dev.attr.MaxMessage:
		return C.struct_gorge_send{}, fmt.Errorf("ibv: a queue pair sends and writes up to %d bytes, got operation %d of %d bytes", q.dev.attr.MaxMessage, wr.Op, wr.Len())
	case len(wr.Inline) > q.dev.attr.MaxInline:
		return C.struct_gorge_send{}, fmt.Errorf("ibv: a request takes up to %d bytes inline, got %d", q.dev.attr.MaxInline, len(wr.Inline))
	}
	s := C.struct_gorge_send{
		addr: C.uint64_t(wr.Local.Addr), remote: C.uint64_t(wr.RemoteAddr), length: C.uint32_t(wr.Len()),
		lkey: C.uint32_t(wr.Local.LKey), rkey: C.uint32_t(wr.RKey), imm: C.uint32_t(wr.Imm), op: op,
	}
	if len(wr.Inline) > 0 {
		s.addr, s.flags = C.uint64_t(uintptr(unsafe.Pointer(&wr.Inline[0]))), C.IBV_SEND_INLINE
	}
	if !wr.Quiet {
		s.flags |= C.IBV_SEND_SIGNALED
	}
	s.id = C.uint64_t(q.sends.add(note{wr.ID, wr.Op, uint32(wr.Len())}))
	return s, nil
}

// PostRecv queues memory for what the peer sends, all in one call.
func (q *queuePair) PostRecv(wrs ...verbs.RecvWR) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case len(wrs) == 0:
		return nil
	case q.qp == nil:
		return verbs.ErrClosed
	case len(wrs) > q.recvs.room():
		return fmt.Errorf("ibv: the receive queue is full, it holds %d requests", q.depth)
	}
	q.recvBuf = q.recvBuf[:0]
	for _, wr := range wrs {
		num := q.recvs.add(note{id: wr.ID})
		q.recvBuf = append(q.recvBuf, C.struct_gorge_recv{
			id: C.uint64_t(num | recvBit), addr: C.uint64_t(wr.SGE.Addr), length: C.uint32_t(wr.SGE.Length), lkey: C.uint32_t(wr.SGE.LKey),
		})
	}
	if err := errno("ibv_post_recv", C.gorge_post_recv(q.qp, &q.recvBuf[0], C.int(len(wrs)))); err != nil {
		return err
	}
	if q.failed { // some devices flush what is posted only when they are told to
		return errno("modify to ERR", C.gorge_fail_qp(q.qp))
	}
	return nil
}

// sent notes the end of a request, and of quiet ones before it.
func (q *queuePair) sent(num uint64, to *verbs.Completion) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, ok := q.sends.end(num)
	to.ID = n.id
	if to.Status == verbs.Success {
		to.Op, to.Len = n.op, n.n
	} else {
		q.failed = true
	}
	return ok
}

// received notes the end of a receive.
func (q *queuePair) received(num uint64, from *C.struct_gorge_wc, to *verbs.Completion) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, ok := q.recvs.end(num)
	to.ID = n.id
	switch {
	case to.Status != verbs.Success:
		q.failed = true
	case from.opcode == C.IBV_WC_RECV_RDMA_WITH_IMM:
		to.Op, to.Len, to.Imm = verbs.OpRecvWriteImm, uint32(from.length), uint32(from.imm)
	default:
		to.Op, to.Len = verbs.OpRecv, uint32(from.length)
	}
	return ok
}

// Fail moves the queue pair to the error state.
func (q *queuePair) Fail() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.qp == nil {
		return verbs.ErrClosed
	}
	q.failed = true
	return errno("modify to ERR", C.gorge_fail_qp(q.qp))
}

// Destroy ends the queue pair. Completions that have not been polled are lost.
func (q *queuePair) Destroy() error {
	if again, err := q.end(); again || err != nil {
		return err
	}
	q.dev.forget(q)
	return q.cq.purge(q.num)
}

func (q *queuePair) end() (again bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.qp == nil {
		return true, nil
	}
	if err := gone(errno("ibv_destroy_qp", C.ibv_destroy_qp(q.qp))); err != nil {
		return false, err
	}
	q.qp = nil
	return false, nil
}

// forget lets a queue pair's number be used by another one.
func (d *device) forget(q *queuePair) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pairs[q.num] == q {
		delete(d.pairs, q.num)
	}
}
