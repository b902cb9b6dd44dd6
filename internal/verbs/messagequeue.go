package verbs

import (
	"errors"
	"slices"
)

// A messageQueue is the control messages that wait. Both ends have room for one
// message, or for one batch of them (batch.go), so the next one goes out when the peer
// has acknowledged the last one (remote) and the device has read its bytes (local).
// The channel's lock guards it.
type messageQueue struct {
	waiting []encoder
	local   bool // our buffer is being read
	remote  bool // the peer's buffer is not free
}

// An encoder is a message of some generation.
type encoder interface {
	put(b []byte) int
	asks(index uint32) bool // is it the request with this number?
}

// enqueue queues a message for the peer.
func (c *Channel) enqueue(m encoder) {
	c.tx.waiting = append(c.tx.waiting, m)
	c.pump()
}

// pump sends the next message, or all that wait, if they can be sent.
func (c *Channel) pump() {
	t := &c.tx
	if !c.sendable || c.err != nil || t.local || t.remote || len(t.waiting) == 0 {
		return
	}
	t.local, t.remote = true, true
	n, imm := c.pack(c.bufs.memory.Bytes()[atTx:][:batchRoom])
	c.postImm(work{
		wr: SendWR{
			Op: OpWriteImm, Imm: imm, RemoteAddr: c.remote.rx.addr, RKey: c.remote.rx.rkey,
			Local: SGE{Addr: c.bufs.local.Addr() + atTx, Length: uint32(n), LKey: c.bufs.local.LKey()},
		},
		end: c.messageSent,
	})
}

// next takes the message that goes out next.
func (t *messageQueue) next() encoder {
	m := t.waiting[0]
	t.waiting[0] = nil
	t.waiting = t.waiting[1:]
	return m
}

// immMessage is the immediate value of messages.
func (c *Channel) immMessage() uint32 {
	if c.older != nil {
		return olderImmMessage
	}
	return immMessage
}

// remove takes the request of the given number out of the queue, and reports
// whether it was there.
func (t *messageQueue) remove(index uint32) bool {
	i := slices.IndexFunc(t.waiting, func(m encoder) bool { return m.asks(index) })
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	return true
}

func (c *Channel) messageSent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tx.local = false
	c.pump()
}

// acknowledged hears that the peer has read the last message.
func (c *Channel) acknowledged() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.tx.remote {
		return errors.New("it acknowledges a message that was not sent")
	}
	c.tx.remote = false
	c.pump()
	return nil
}

// acknowledge tells the peer that its message has been read.
func (c *Channel) acknowledge() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.older == nil {
		c.postImm(work{wr: SendWR{Op: OpWriteImm, Imm: immAck, Quiet: true}})
		return
	}
	c.postImm(work{wr: SendWR{
		Op: OpWriteImm, Imm: olderImmAck, Quiet: true, RemoteAddr: c.remote.rxAck.addr, RKey: c.remote.rxAck.rkey,
		Local: SGE{Addr: c.bufs.local.Addr() + atAckOut, Length: fixedSize, LKey: c.bufs.local.LKey()},
	}})
}

// ping sends the message with which each side of a connection begins.
func (c *Channel) ping() {
	at := c.bufs.memory.Bytes()[atPingOut:]
	copy(at[copy(at, pingText):], c.remote.nonce[:])
	c.post(work{wr: SendWR{
		Op:    OpSend,
		Local: SGE{Addr: c.bufs.local.Addr() + atPingOut, Length: pingSize, LKey: c.bufs.local.LKey()},
	}})
}

// pingReceived reads the peer's ping.
func (c *Channel) pingReceived(n uint32) error {
	cannot, err := c.negotiate(n)
	c.refuseHeld(cannot)
	return err
}

// negotiate finds out what the peer understands, and returns requests that it cannot
// be sent.
func (c *Channel) negotiate(n uint32) (cannot []*request, err error) {
	b := c.bufs.memory.Bytes()[atPingIn:][:min(n, pingSize)]
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pingSeen {
		return nil, errors.New("it greets twice")
	}
	extended, err := c.answers(b)
	if err != nil {
		return nil, err
	}
	c.pingSeen, c.extended = true, extended
	c.markSendable()
	if c.extended {
		c.cancelDropped()
	}
	return c.askHeld(), nil
}
