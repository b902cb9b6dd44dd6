package verbs

import (
	"encoding/binary"
	"fmt"
)

// A step begins all of its receives at once, so that many requests wait at the same
// time. Sent one by one, each waits for the acknowledgement of the last. A peer that
// says how much room its buffer for messages has (hello.room) is sent all that wait
// in one write, a batch:
//
//	length of a message, 4 bytes, little endian │ message │ length │ message │ …
//
// A batch is acknowledged once, after all of its messages have been parsed. Its
// messages are handled in their order, as if they had come one by one.

// atBatched is where a message of a batch begins, behind its length.
const atBatched = 4

// pack takes messages that wait and encodes them to b. It returns the bytes that are
// to be written, and the immediate value that says what they are. At least one
// message waits; the caller holds the lock.
func (c *Channel) pack(b []byte) (n int, imm uint32) {
	t := &c.tx
	b = b[:min(c.remote.room, len(b))]
	if len(t.waiting) == 1 || len(b) < 2*(atBatched+messageSize) {
		return t.next().put(c.bufs.memory.Bytes()[atTx:][:messageSize]), c.immMessage()
	}
	for len(t.waiting) > 0 && len(b)-n >= atBatched+messageSize {
		size := t.next().put(b[n+atBatched:][:messageSize])
		binary.LittleEndian.PutUint32(b[n:], uint32(size))
		n += atBatched + size
		c.stats.messages.Add(1)
	}
	return n, immBatch
}

// readBatch handles the messages of a batch that the peer has put in our buffer.
func (c *Channel) readBatch(n uint32) error {
	b, err := c.takeMessage(n, batchRoom)
	if err != nil {
		return err
	}
	all, err := parseBatch(b)
	if err != nil {
		return err
	}
	c.acknowledge()
	for _, m := range all {
		if err := c.handle(m); err != nil {
			return err
		}
	}
	return nil
}

// parseBatch decodes the messages of a batch.
func parseBatch(b []byte) (all []*message, err error) {
	for len(b) > 0 {
		if len(b) < atBatched {
			return nil, fmt.Errorf("its batch of messages ends within a length")
		}
		n := binary.LittleEndian.Uint32(b)
		b = b[atBatched:]
		if n > messageSize || int(n) > len(b) {
			return nil, fmt.Errorf("a message of its batch has %d bytes, %d follow, and at most %d are allowed", n, len(b), messageSize)
		}
		m, err := parseMessage(b[:n])
		if err != nil {
			return nil, err
		}
		all, b = append(all, m), b[n:]
	}
	return all, nil
}
