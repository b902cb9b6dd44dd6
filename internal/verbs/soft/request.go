package soft

import (
	"bufio"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/verbs"
)

// request sends what is posted to the peer until the queue pair fails.
func (q *queuePair) request() {
	conn, err := q.reach()
	if err != nil {
		q.fail(verbs.RetryExcErr)
		return
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() { q.collect(conn) })
	w := bufio.NewWriter(conn)
	for q.transmit(w) {
		select {
		case <-q.wake:
		case <-q.alive.Done():
			return
		}
	}
}

// reach connects to the peer and waits until it is ready to receive.
func (q *queuePair) reach() (net.Conn, error) {
	dialer := net.Dialer{Timeout: q.dev.timeout, LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(q.dev.ip, 0))}
	conn, err := dialer.DialContext(q.alive, "tcp", netip.AddrPortFrom(q.peerIP(), q.remote.LID).String())
	if err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(q.dev.timeout))
	conn, err = q.dev.secrets.open(q.alive, conn)
	if err == nil {
		err = q.sendHello(conn)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// sendHello introduces the queue pair to its peer, before conn's deadline.
func (q *queuePair) sendHello(conn net.Conn) error {
	if !q.keep(conn) {
		return verbs.ErrClosed
	}
	if _, err := conn.Write(hello{from: q.num, to: q.remote.QPN, psn: q.psn}.bytes()); err != nil {
		return err
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	if answer[0] != accepted {
		return verbs.ErrClosed
	}
	return conn.SetDeadline(time.Time{})
}

// transmit sends all that is posted, and reports whether the queue pair can go
// on.
func (q *queuePair) transmit(w *bufio.Writer) bool {
	for {
		wr, ok := q.next()
		if !ok {
			break
		}
		if status := q.send(w, wr); status != verbs.Success {
			q.failNext(status)
			return false
		}
		q.written()
	}
	if err := w.Flush(); err != nil {
		q.fail(verbs.RetryExcErr)
		return false
	}
	return true
}

func (q *queuePair) send(w *bufio.Writer, wr verbs.SendWR) verbs.Status {
	mem := wr.Inline
	if mem == nil {
		var done func()
		if mem, done = q.dev.use(q, wr.Local.LKey, wr.Local.Addr, int(wr.Local.Length), 0); done == nil {
			return verbs.LocProtErr
		}
		defer done()
	}
	if write(w, wr, mem) != nil {
		return verbs.RetryExcErr
	}
	return verbs.Success
}

// next returns the first request that is not on its way.
func (q *queuePair) next() (verbs.SendWR, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.state == failed || q.sent == len(q.sends) {
		return verbs.SendWR{}, false
	}
	q.writing = true
	return q.sends[q.sent], true
}

// written says that the request that next returned is on its way, and its
// memory not in use any more.
func (q *queuePair) written() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.writing = false
	q.sent++
	q.changed.Broadcast()
}

// failNext ends the queue pair because of the request that next returned.
func (q *queuePair) failNext(why verbs.Status) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.failLocked(why, q.sent)
}

// write writes a request. Large memory goes past the buffer.
func write(w *bufio.Writer, wr verbs.SendWR, mem []byte) error {
	var b [headerSize]byte
	header{op: wr.Op, n: uint32(wr.Len()), imm: wr.Imm, rkey: wr.RKey, addr: wr.RemoteAddr}.put(&b)
	if _, err := w.Write(b[:]); err != nil {
		return err
	}
	_, err := w.Write(mem)
	return err
}

// collect turns the peer's answers into completions. The end of the connection
// fails all requests that are still open.
func (q *queuePair) collect(conn net.Conn) {
	r := bufio.NewReader(conn)
	for {
		status, err := r.ReadByte()
		switch {
		case err != nil:
			q.fail(verbs.RetryExcErr)
			return
		case status != byte(verbs.Success):
			q.fail(verbs.Status(status))
			return
		case !q.complete():
			q.fail(verbs.BadRespErr)
			return
		}
	}
}

// complete ends the oldest request that is on its way, if there is one. The
// peer may be faster than the end of writing it.
func (q *queuePair) complete() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.sent == 0 && q.writing && q.state != failed {
		q.changed.Wait()
	}
	if q.state == failed || q.sent == 0 {
		return false
	}
	wr := q.sends[0]
	q.sends = q.sends[:copy(q.sends, q.sends[1:])]
	q.sent--
	if wr.Quiet {
		q.kept++
		return true
	}
	q.kept = 0
	q.cq.push(verbs.Completion{ID: wr.ID, Op: wr.Op, Len: uint32(wr.Len()), QPN: q.num})
	return true
}
