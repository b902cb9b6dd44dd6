package soft

import (
	"bufio"
	"io"
	"net"
	"time"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// respond serves the peer's requests until the queue pair fails.
func (q *queuePair) respond() {
	var conn net.Conn
	select {
	case conn = <-q.inbound:
	case <-q.alive.Done():
		return
	}
	if !answer(conn, accepted) {
		q.fail(verbs.RetryExcErr)
		return
	}
	r := bufio.NewReader(conn)
	for {
		status, ok := q.serve(r)
		if !ok || !answer(conn, byte(status)) {
			break
		}
		if status != verbs.Success {
			drain(conn, q.dev.timeout)
			break
		}
	}
	q.fail(verbs.RetryExcErr)
}

func answer(conn net.Conn, status byte) bool {
	_, err := conn.Write([]byte{status})
	return err == nil
}

// drain waits for the peer to hang up: a connection that is closed with bytes
// unread might take the last answer with it.
func drain(conn net.Conn, limit time.Duration) {
	conn.SetReadDeadline(time.Now().Add(limit))
	io.Copy(io.Discard, conn)
}

// serve executes one request, and returns the status that the peer is owed, or
// false if the peer has gone.
func (q *queuePair) serve(r io.Reader) (verbs.Status, bool) {
	var b [headerSize]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, false
	}
	h := parseHeader(&b)
	switch {
	case h.n > maxMessage:
		return verbs.RemInvReqErr, true
	case h.op == verbs.OpSend:
		return q.receive(r, h)
	case h.op == verbs.OpWrite || h.op == verbs.OpWriteImm:
		return q.write(r, h)
	}
	return verbs.RemInvReqErr, true
}

// write puts the peer's bytes where it wants them, if it may.
func (q *queuePair) write(r io.Reader, h header) (verbs.Status, bool) {
	mem, done := q.dev.use(q, h.rkey, h.addr, int(h.n), verbs.RemoteWrite)
	if done == nil {
		return verbs.RemAccessErr, true
	}
	_, err := io.ReadFull(r, mem)
	done()
	if err != nil {
		return 0, false
	}
	if h.op == verbs.OpWrite {
		return verbs.Success, true
	}
	w, ok := q.take()
	if !ok {
		return 0, false
	}
	q.cq.push(verbs.Completion{ID: w.ID, Op: verbs.OpRecvWriteImm, Len: h.n, Imm: h.imm, QPN: q.num})
	return verbs.Success, true
}

// receive puts the peer's bytes to the memory that was posted for them.
func (q *queuePair) receive(r io.Reader, h header) (verbs.Status, bool) {
	w, ok := q.take()
	if !ok {
		return 0, false
	}
	mem, done := q.dev.use(q, w.SGE.LKey, w.SGE.Addr, int(w.SGE.Length), verbs.LocalWrite)
	switch {
	case done == nil:
		q.cq.push(verbs.Completion{ID: w.ID, Status: verbs.LocProtErr, QPN: q.num})
		return verbs.RemOpErr, true
	case h.n > w.SGE.Length:
		done()
		q.cq.push(verbs.Completion{ID: w.ID, Status: verbs.LocLenErr, QPN: q.num})
		return verbs.RemInvReqErr, true
	}
	_, err := io.ReadFull(r, mem[:h.n])
	done()
	if err != nil {
		q.cq.push(q.flushedWR(w.ID))
		return 0, false
	}
	q.cq.push(verbs.Completion{ID: w.ID, Op: verbs.OpRecv, Len: h.n, QPN: q.num})
	return verbs.Success, true
}

// take removes the oldest posted receive. Where hardware would have the peer
// try again without end, the peer waits.
func (q *queuePair) take() (verbs.RecvWR, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.recvs) == 0 && q.state == connected {
		q.dev.unready.Add(1)
	}
	for len(q.recvs) == 0 && q.state == connected {
		q.changed.Wait()
	}
	if q.state != connected {
		return verbs.RecvWR{}, false
	}
	w := q.recvs[0]
	q.recvs = q.recvs[:copy(q.recvs, q.recvs[1:])]
	return w, true
}
