package link

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
)

const (
	readBuffer = 64 << 10
	// writeStallTimeout is how long a peer may take none of what it is sent. One that does
	// is gone.
	writeStallTimeout = 20 * time.Second
	// writeChunk is how many bytes are written at once; the peer is known to be there
	// after each.
	writeChunk = 1 << 20
)

// A conn is one end of a link. Frames go out in the order in which they are
// sent. There is no writing goroutine: a sender that finds writing false sets it
// and writes its frame and all that others queue meanwhile (flush); while writing
// is true, queueing is all that a sender does. So at most one goroutine writes,
// and writing is true whenever the queue is not empty, but for frames that wait
// for flushTimer.
//
// err is set once. From then on frames are freed instead of queued, and the
// connection is closed outside of mu. mu is never held while the connection is
// read, written or closed.
type conn struct {
	nc net.Conn
	*frameReader
	br *bufio.Reader

	mu             sync.Mutex
	queue          []frame // for the goroutine that writes
	writing        bool
	err            error          // why the link has ended
	writers        sync.WaitGroup // goroutines that write
	flushTimer     *time.Timer    // flushes what is not urgent; nil: nothing was
	deferredEnd    error          // why the link ends once nothing is left to write; nil: it does not
	keepaliveTimer *time.Timer    // checks whether the peer is there; nil: nothing does
	patience       time.Duration  // after which it does; 0: never

	queued      atomic.Int64  // bytes that wait to be written, or are being written
	queueSignal chan struct{} // has room for one: queued has fallen, or the link has ended

	silence Silence // of the peer; of checkKeepalive only
}

func newConn(nc net.Conn) *conn {
	c := &conn{nc: nc, frameReader: newFrameReader(nc), queueSignal: make(chan struct{}, 1)}
	c.br = bufio.NewReaderSize(c.frameReader, readBuffer)
	return c
}

// send gives a frame to the connection. A caller that may not wait leaves what the
// connection does not take at once to a goroutine.
func (c *conn) send(f frame, mayWait bool) error {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		f.body.Free()
		return errEnded(c.err)
	}
	c.push(f)
	if c.writing {
		c.mu.Unlock()
		return nil
	}
	c.writing = true
	c.mu.Unlock()
	c.flush(mayWait)
	return nil
}

// push adds to the queue; c.mu is held.
func (c *conn) push(f frame) {
	c.queue = append(c.queue, f)
	c.queued.Add(int64(f.size))
}

// flushDelay is how long a frame that is not urgent waits for another one.
const flushDelay = time.Millisecond

// sendLater gives a frame to the connection together with the next one.
func (c *conn) sendLater(f frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		f.body.Free()
		return errEnded(c.err)
	}
	c.push(f)
	switch {
	case c.writing: // the writer takes it along
	case c.flushTimer == nil:
		c.flushTimer = time.AfterFunc(flushDelay, c.flushLate)
	default:
		c.flushTimer.Reset(flushDelay)
	}
	return nil
}

// flushLate writes what nothing has come after.
func (c *conn) flushLate() {
	c.mu.Lock()
	if c.writing || len(c.queue) == 0 {
		c.mu.Unlock()
		return
	}
	c.writing = true
	c.mu.Unlock()
	c.flush(true)
}

// flush writes until nothing is left.
func (c *conn) flush(mayWait bool) {
	for {
		batch := c.take()
		if batch == nil {
			c.endIfWritten()
			return
		}
		out := buffers(batch)
		out = c.writeAvailable(out)
		if len(out) > 0 && !mayWait && c.handOver(batch, out) {
			return
		}
		c.write(batch, out)
	}
}

// handOver lets a goroutine write what is left of a batch and what comes after
// it, unless the link has ended.
func (c *conn) handOver(batch []frame, out net.Buffers) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return false
	}
	c.writers.Go(func() {
		c.write(batch, out)
		c.flush(true)
	})
	return true
}

// take returns what waits to be written; nil if the caller is done with it.
func (c *conn) take() []frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 || c.err != nil {
		c.writing = false
		free(c.queue)
		c.queue = nil
		return nil
	}
	batch := c.queue
	c.queue = nil
	return batch
}

// write writes out, which is what is left of a batch, and waits for that.
func (c *conn) write(batch []frame, out net.Buffers) {
	defer c.written(batch)
	if err := c.writeRest(); err != nil {
		c.end(err)
		return
	}
	wait, taken := c.writeWait(), time.Now()
	for len(out) > 0 {
		var now net.Buffers
		now, out = cut(out, writeChunk)
		c.nc.SetWriteDeadline(time.Now().Add(wait)) // fails on a closed connection, as WriteTo does
		n, err := now.WriteTo(c.nc)
		if n > 0 {
			taken = time.Now()
		}
		if errors.Is(err, os.ErrDeadlineExceeded) && time.Since(taken) < writeStallTimeout { // the peer is slow
			out, err = append(now, out...), nil
		}
		if err != nil {
			c.end(err)
			return
		}
		if n > 0 && len(out) > 0 {
			c.noteActivity() // a peer that takes much need not say anything meanwhile
		}
	}
}

// writeWait is how long a write may wait before what the peer has taken of it is noted: a
// part of the time after which a silent peer is asked. Only a TCP connection can go on after
// that; beneath TLS each record notes it.
func (c *conn) writeWait() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, plain := c.nc.(*net.TCPConn); !plain || c.patience <= 0 {
		return writeStallTimeout
	}
	return min(c.patience/4, writeStallTimeout)
}

// written gives up a batch that has been written, or cannot be.
func (c *conn) written(batch []frame) {
	n := 0
	for _, f := range batch {
		n += f.size
	}
	free(batch)
	c.queued.Add(-int64(n))
	c.signal()
}

// signal wakes the goroutine that waits for room.
func (c *conn) signal() {
	select {
	case c.queueSignal <- struct{}{}:
	default:
	}
}

// awaitQueueBelow waits until no more than limit bytes wait to be written, or the link has
// ended. Only one goroutine of a link may wait.
func (c *conn) awaitQueueBelow(limit int64) {
	for limit > 0 && c.queued.Load() > limit && !c.hasEnded() {
		<-c.queueSignal
		c.noteActivity() // a peer that takes what it is sent is alive
	}
}

func (c *conn) hasEnded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err != nil
}

// cut returns the first n bytes of b, and the others.
func cut(b net.Buffers, n int) (first, rest net.Buffers) {
	for i, p := range b {
		if len(p) > n {
			first = append(slices.Clone(b[:i]), p[:n])
			return first, append(net.Buffers{p[n:]}, b[i+1:]...)
		}
		n -= len(p)
	}
	return b, nil
}

func buffers(batch []frame) net.Buffers {
	out := make(net.Buffers, 0, 2*len(batch))
	ours := false // the last buffer, which can be made longer
	for _, f := range batch {
		if ours && len(f.front) <= smallBody {
			out[len(out)-1] = append(out[len(out)-1], f.front...)
		} else {
			out = append(out, f.front)
		}
		for _, piece := range f.body {
			out = append(out, piece.ReadOnlyData())
		}
		ours = len(f.body) == 0
	}
	return out
}

func free(batch []frame) {
	for _, f := range batch {
		f.body.Free()
	}
}

// end closes the connection for the given reason; the first one counts.
func (c *conn) end(err error) {
	c.mu.Lock()
	first := c.err == nil
	if first {
		c.err = err
		c.stopKeepalive()
	}
	c.mu.Unlock()
	if first {
		c.signal()
		c.nc.Close() // which may take a while
	}
}

// endWritten is end for when all that was given to the connection has been written.
func (c *conn) endWritten(err error) {
	c.mu.Lock()
	c.deferredEnd = err
	c.mu.Unlock()
	c.endIfWritten()
}

// endIfWritten ends the link if it is to end and nothing is being written.
func (c *conn) endIfWritten() {
	c.mu.Lock()
	now := c.deferredEnd != nil && !c.writing && c.err == nil
	if now {
		c.err = c.deferredEnd
		c.stopKeepalive()
	}
	c.mu.Unlock()
	if now {
		c.signal()
		c.nc.Close()
	}
}

// readHead reads the header and the head of the next frame.
func readHead(r *bufio.Reader) (header, []byte, error) {
	h, err := readHeader(r)
	if err != nil {
		return h, nil, err
	}
	b := make([]byte, h.head)
	_, err = io.ReadFull(r, b)
	return h, b, err
}

// A body gets as much memory as has come of it, from minPiece to maxPiece at a time.
const (
	minPiece = 1 << 20
	maxPiece = 1 << mostPiece
)

// readBody reads the body of a frame into memory of a pool. Take is asked before memory
// is used.
func readBody(r *bufio.Reader, h header, take func(int) error) (out mem.BufferSlice, err error) {
	for left := h.body; left > 0; {
		n := nextPiece(h.body-left, left)
		if err := take(n); err != nil {
			out.Free()
			return nil, err
		}
		b := bodies.Get(n)
		if _, err := io.ReadFull(r, *b); err != nil {
			bodies.Put(b)
			out.Free()
			return nil, err
		}
		left -= n
		out = append(out, mem.NewBuffer(b, &bodies))
	}
	return out, nil
}

// writePreface sends the preface.
func writePreface(nc net.Conn) error {
	_, err := io.WriteString(nc, Preface)
	return err
}

// readPreface reads and checks the peer's preface.
func readPreface(r io.Reader) error {
	b := make([]byte, len(Preface))
	if _, err := io.ReadFull(r, b); err != nil {
		return err
	}
	if string(b) != Preface {
		return status.Errorf(codes.Unavailable, "a link begins with %q, got %q", Preface, b)
	}
	return nil
}
