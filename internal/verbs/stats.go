package verbs

import "sync/atomic"

// Stats count what went over a channel since it was made.
type Stats struct {
	Peer      string
	QPN       uint32
	Batches   int64 // calls that posted requests
	Completed int64 // completions that were handled, of requests and of what came
	Sends     int64 // of pings
	Messages  int64 // control messages
	Acks      int64
	Writes    int64 // of tensors, in pieces if they are long
	Bytes     int64 // of tensors that were written
	Waits     int64 // times that the queue was full
	Credits   int64 // messages that returned credits
	Unready   int64 // tensors that waited until the peer had a receive for them
	Staged    int64 // tensors that were copied on their way, on either side
	StagedLen int64 // bytes of them
	RingFull  int64 // of those, times that one waited for room to be copied to
	Received  int64 // tensors
	Retries   int64 // requests that were repeated, with room for another tensor
}

// counters are the Stats of a channel while they change.
type counters struct {
	batches, sends, messages, acks, writes, bytes, waits, staged, stagedLen, received, retries, credits, creditWaits, ringWaits, completed atomic.Int64
}

// posted counts requests that are about to be posted.
func (c *counters) posted(wrs []SendWR) {
	c.batches.Add(1)
	for i := range wrs {
		c.count(&wrs[i])
	}
}

func (c *counters) count(wr *SendWR) {
	switch {
	case wr.Op == OpSend:
		c.sends.Add(1)
	case wr.Op == OpWriteImm && wr.Imm == immAck:
		c.acks.Add(1)
	case wr.Op == OpWriteImm && wr.Imm == immMessage:
		c.messages.Add(1)
	case wr.Op == OpWriteImm && wr.Imm == immBatch: // pack has counted what is in it
	case wr.Op == OpWriteImm && wr.Imm > creditBase && wr.Len() == 0 && wr.Quiet:
		c.credits.Add(1)
	default:
		c.writes.Add(1)
		c.bytes.Add(int64(wr.Len()))
	}
}

// stage counts a tensor of n bytes that is copied.
func (c *counters) stage(n int) {
	if n > 0 {
		c.staged.Add(1)
		c.stagedLen.Add(int64(n))
	}
}

// Stats returns what the channel has done so far.
func (c *Channel) Stats() Stats {
	k := &c.stats
	return Stats{
		Peer: c.peer, QPN: c.qp.Num(), Batches: k.batches.Load(), Sends: k.sends.Load(), Messages: k.messages.Load(), Acks: k.acks.Load(),
		Writes: k.writes.Load(), Bytes: k.bytes.Load(), Waits: k.waits.Load(), Staged: k.staged.Load(), StagedLen: k.stagedLen.Load(),
		Received: k.received.Load(), Retries: k.retries.Load(), Credits: k.credits.Load(), Unready: k.creditWaits.Load(), RingFull: k.ringWaits.Load(), Completed: k.completed.Load(),
	}
}

// Stats returns what the channels that there are at present have done.
func (m *Manager) Stats() []Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Stats
	for _, c := range m.channels {
		out = append(out, c.Stats())
	}
	return out
}
