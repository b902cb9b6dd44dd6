package soft

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// state is where a queue pair is in its life.
type state int

const (
	initial   state = iota
	connected       // ready to receive and to send
	failed
)

// A queuePair is one end of a reliable connection. Once it is connected,
// goroutines of its own send its requests, collect the peer's answers, and
// serve the peer's requests. They end when it fails, which it does at the
// latest when it is destroyed.
type queuePair struct {
	dev   *Device
	cq    *completionQueue
	num   uint32
	depth int

	ready   chan struct{}   // closed by Connect
	alive   context.Context // ends with the failure
	kill    context.CancelFunc
	ended   chan struct{} // closed when the goroutines of a connected one have ended
	wake    chan struct{} // has a token after something was posted to send
	inbound chan net.Conn // the peer's connection, once
	waiting atomic.Int32  // connections that wait for Connect

	mu        sync.Mutex
	state     state
	psn       uint32
	remote    verbs.Address
	sends     []verbs.SendWR // posted and not completed
	sent      int            // how many of sends are on their way
	writing   bool           // the one after these is being written
	kept      int            // places of completed quiet requests that were not reported
	recvs     []verbs.RecvWR
	changed   sync.Cond // signals sent, recvs and the failure
	conns     []net.Conn
	adopted   bool
	why       verbs.Status // of the request that made it fail
	culprit   int          // that request's place in sends
	flushed   bool
	destroyed bool
}

// maxWaiting bounds the connections that wait for a queue pair to know its peer: one of
// them is the peer's, and others must not take the descriptors of the process.
const maxWaiting = 16

func newPair(d *Device, cq *completionQueue, num uint32, depth int) *queuePair {
	q := &queuePair{
		dev: d, cq: cq, num: num, depth: depth,
		ready: make(chan struct{}), ended: make(chan struct{}),
		wake: make(chan struct{}, 1), inbound: make(chan net.Conn, 1),
	}
	q.alive, q.kill = context.WithCancel(d.ctx)
	q.changed.L = &q.mu
	return q
}

// Num returns the queue pair's number.
func (q *queuePair) Num() uint32 { return q.num }

// Connect makes the queue pair ready for its peer. That the peer is there
// shows when something is sent.
func (q *queuePair) Connect(psn uint32, remote verbs.Address) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state != initial {
		return fmt.Errorf("soft: a queue pair must be in the state INIT to be connected")
	}
	q.state, q.psn, q.remote = connected, psn, remote
	close(q.ready)
	go q.run()
	return nil
}

// run owns the goroutines of the queue pair. What is posted is flushed only
// after their end: until then memory is in use.
func (q *queuePair) run() {
	defer close(q.ended)
	var wg sync.WaitGroup
	wg.Go(q.request)
	wg.Go(q.respond)
	wg.Wait()
	q.flush()
}

// PostSend queues requests.
func (q *queuePair) PostSend(wrs ...verbs.SendWR) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range wrs {
		if err := q.postSend(wrs[i]); err != nil {
			return err
		}
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

func (q *queuePair) postSend(wr verbs.SendWR) error {
	switch {
	case q.destroyed:
		return verbs.ErrClosed
	case q.state == initial:
		return fmt.Errorf("soft: a queue pair must be connected to send")
	case wr.Op != verbs.OpSend && wr.Op != verbs.OpWrite && wr.Op != verbs.OpWriteImm || wr.Local.Length > maxMessage:
		return fmt.Errorf("soft: a queue pair sends and writes up to %d bytes, got operation %d of %d bytes", maxMessage, wr.Op, wr.Local.Length)
	case len(wr.Inline) > maxInline:
		return fmt.Errorf("soft: a request takes up to %d bytes inline, got %d", maxInline, len(wr.Inline))
	case q.flushed:
		q.cq.push(q.flushedWR(wr.ID))
		return nil
	case len(q.sends)+q.kept == q.depth:
		return fmt.Errorf("soft: the send queue is full, it holds %d requests", q.depth)
	}
	if wr.Inline != nil {
		wr.Inline = bytes.Clone(wr.Inline)
	}
	q.sends = append(q.sends, wr)
	return nil
}

// PostRecv queues memory for what the peer sends.
func (q *queuePair) PostRecv(wrs ...verbs.RecvWR) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, wr := range wrs {
		if q.destroyed {
			return verbs.ErrClosed
		}
		if q.flushed {
			q.cq.push(q.flushedWR(wr.ID))
			continue
		}
		if len(q.recvs) == q.depth {
			return fmt.Errorf("soft: the receive queue is full, it holds %d requests", q.depth)
		}
		q.recvs = append(q.recvs, wr)
	}
	q.changed.Broadcast()
	return nil
}

func (q *queuePair) flushedWR(id uint64) verbs.Completion {
	return verbs.Completion{ID: id, Status: verbs.WRFlushErr, QPN: q.num}
}

// await waits until the queue pair knows its peer.
func (q *queuePair) await(timeout time.Duration) bool {
	defer q.waiting.Add(-1)
	if q.waiting.Add(1) > maxWaiting {
		return false
	}
	late := time.NewTimer(timeout)
	defer late.Stop()
	select {
	case <-q.ready:
		return true
	case <-q.alive.Done():
	case <-late.C:
	}
	return false
}

// adopt takes the peer's connection if it is the peer's: it comes from the address
// that the queue pair has been told, and names what only the peer was told.
func (q *queuePair) adopt(conn net.Conn, h hello) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state != connected || q.adopted || h.from != q.remote.QPN || h.psn != q.remote.PSN || addressOf(conn.RemoteAddr()) != q.peerIP() {
		return false
	}
	conn.SetDeadline(time.Time{})
	q.adopted = true
	q.conns = append(q.conns, conn)
	q.inbound <- conn
	return true
}

// peerIP is where the peer listens and connects from.
func (q *queuePair) peerIP() netip.Addr { return netip.AddrFrom16(q.remote.GID).Unmap() }

func addressOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap().WithZone("")
}

// keep lets conn be closed by the queue pair's failure.
func (q *queuePair) keep(conn net.Conn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state == failed {
		return false
	}
	q.conns = append(q.conns, conn)
	return true
}

// Fail moves the queue pair to the error state.
func (q *queuePair) Fail() error {
	q.fail(verbs.WRFlushErr)
	return nil
}

// fail ends the queue pair because its oldest request ended with a status.
func (q *queuePair) fail(why verbs.Status) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failLocked(why, 0)
}

func (q *queuePair) failLocked(why verbs.Status, culprit int) {
	if q.state == failed {
		return
	}
	started := q.state == connected
	q.state, q.why, q.culprit = failed, why, culprit
	q.kill()
	for _, c := range q.conns {
		c.Close()
	}
	q.changed.Broadcast()
	if !started {
		q.flushLocked()
	}
}

func (q *queuePair) flush() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flushLocked()
}

func (q *queuePair) flushLocked() {
	for i, wr := range q.sends {
		w := q.flushedWR(wr.ID)
		if i == q.culprit {
			w.Status = q.why
		}
		q.cq.push(w)
	}
	for _, r := range q.recvs {
		q.cq.push(q.flushedWR(r.ID))
	}
	q.sends, q.recvs, q.flushed = nil, nil, true
}

// Destroy ends the queue pair. Completions that have not been polled are lost.
func (q *queuePair) Destroy() error {
	q.fail(verbs.WRFlushErr)
	select {
	case <-q.ready:
		<-q.ended
	default:
	}
	q.mu.Lock()
	q.destroyed = true
	q.mu.Unlock()
	q.dev.forget(q.num)
	q.cq.purge(q.num)
	return nil
}
