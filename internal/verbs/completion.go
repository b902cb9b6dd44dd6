package verbs

import (
	"errors"
	"fmt"
)

// complete hears of the end of a work request or of something that the peer
// did. It runs on the adapter's goroutine.
func (c *Channel) complete(w Completion) {
	defer c.guard()
	c.stats.completed.Add(1)
	var err error
	switch {
	case c.over() != nil: // flushed
		return
	case w.Status == WRFlushErr && c.inBatch:
		c.flushed = true // why, another completion may tell
	case w.Status != Success:
		err = fmt.Errorf("a work request ended with %v", w.Status)
	case c.lost:
		err = errLost
	case w.ID >= recvID:
		err = c.arrived(w)
	default:
		err = c.sent(w.ID)
	}
	if err != nil {
		c.fail(unavailable(c.peer, err))
	}
}

// errLost ends a channel when the device used up a receive and reported no completion
// for it: the message that came with it is not known.
var errLost = errors.New("a completion is missing: receives are not used up in their order")

// guard makes a panic in what a completion leads to the end of the channel, not
// of all others.
func (c *Channel) guard() {
	if r := recover(); r != nil {
		c.fail(unavailable(c.peer, fmt.Errorf("a completion could not be handled: %v", r)))
	}
}

// sent ends a work request.
func (c *Channel) sent(id uint64) error {
	c.mu.Lock()
	ended, err := c.out.complete(id)
	c.mu.Unlock()
	for i := range ended {
		ended[i].finish()
	}
	clear(ended)
	return err
}

// arrived handles what the peer sent or wrote. The receive that it has used up
// has been replaced.
func (c *Channel) arrived(w Completion) error {
	switch {
	case w.Op == OpRecv:
		return c.pingReceived(w.Len)
	case !c.pingSeen && c.remote.version != 0: // a peer that said hello greets first
		return c.errStranger()
	case c.older != nil:
		return c.older.arrived(w.Imm, w.Len)
	case c.took(w.Imm):
		return c.credited(int(w.Imm - creditBase))
	case w.Imm == immAck:
		return c.acknowledged()
	case w.Imm == immMessage:
		return c.read(w.Len)
	case w.Imm == immBatch && c.remote.room > 0:
		return c.readBatch(w.Len)
	}
	return c.written(w.Imm)
}

// takeMessage returns a copy of the message of n bytes in our buffer, which a peer
// that does not keep to the protocol could change while it is read.
func (c *Channel) takeMessage(n uint32, room int) ([]byte, error) {
	if int64(n) > int64(room) {
		return nil, fmt.Errorf("it wrote a message of %d bytes, there is room for %d", n, room)
	}
	c.message = append(c.message[:0], c.bufs.memory.Bytes()[atRx:][:n]...)
	return c.message, nil
}

// read handles the control message that the peer has put in our buffer.
func (c *Channel) read(n uint32) error {
	b, err := c.takeMessage(n, messageSize)
	if err != nil {
		return err
	}
	m, err := parseMessage(b)
	if err != nil {
		return err
	}
	c.acknowledge()
	return c.handle(m)
}

// handle does what a message asks for.
func (c *Channel) handle(m *message) error {
	switch m.typ {
	case tensorRequest:
		return c.requested(m)
	case tensorReRequest:
		return c.requestedAgain(m)
	case metaDataUpdate:
		return c.offered(m)
	case tensorCancel:
		c.cancelled(m.index)
		return nil
	}
	return c.refused(m)
}
