package verbs

import "fmt"

// Each write with an immediate value uses up a receive of the peer. Between tasks
// that said hello, tensors are written only while the peer has receives for them,
// so that its device never has to turn one away, which would cost a timeout
// (RNR). The peer returns a credit for each receive that it has posted again, many
// at a time, by a write whose immediate value says how many.
//
// Messages, acknowledgements and credits do not wait for credits. Each of the
// first two waits for the peer anyway, so that there is at most one under way; of
// credits there are at most two. reserved receives are left for them.
//
// Invariant: spent - returned credits is not less than the receives of the peer that
// are used up, and tensors are posted only while it is below limit.
type credits struct {
	limit   int    // 0: the peer does not count
	spent   int    // immediate values posted, less the credits that were returned
	taken   int    // receives used up by the peer that it has not been told of
	every   int    // how many of those it is told at once
	waiting []work // tensors that wait for credit
}

const (
	reserved = 4
	// leastCounted is the depth from which on credits are worth their receives.
	leastCounted = 16

	// creditBase and more are immediate values that return credits, between tasks
	// that count.
	creditBase = 0xFFFF0000
	maxCredit  = immAck - 1 - creditBase
	// lastIndex is where our numbers of requests end.
	lastIndex = creditBase - 1
)

// count begins to count, if both ends do.
func (k *credits) count(own int, peer *hello) {
	if peer.version == 0 || own < leastCounted || peer.depth < leastCounted {
		return
	}
	k.limit, k.every = peer.depth-reserved, min(own/2, maxCredit)
}

// took notes that a receive has been used up, and reports whether the immediate
// value that came with it returns credits.
func (c *Channel) took(imm uint32) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.credits.taken++
	return c.credits.limit > 0 && imm > creditBase && imm < immAck
}

// postContent posts the write of a tensor that the peer hears of, when the peer
// has a receive for it.
func (c *Channel) postContent(w work) {
	k := &c.credits
	if k.limit > 0 && (k.spent >= k.limit || len(k.waiting) > 0) {
		k.waiting = append(k.waiting, w)
		c.stats.creditWaits.Add(1)
		return
	}
	c.postImm(w)
}

// postImm posts a write that uses up a receive of the peer.
func (c *Channel) postImm(w work) {
	c.credits.spent++
	c.post(w)
}

// credited hears that the peer has posted n receives again.
func (c *Channel) credited(n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := &c.credits
	if n > k.spent {
		return fmt.Errorf("it returns %d credits of %d", n, k.spent)
	}
	k.spent -= n
	for len(k.waiting) > 0 && k.spent < k.limit {
		w := k.waiting[0]
		k.waiting[0] = work{}
		k.waiting = k.waiting[1:]
		c.postImm(w)
	}
	return nil
}

// returnCredits tells the peer of receives that have been posted again, if it is
// worth it. The caller holds the lock.
func (c *Channel) returnCredits() {
	k := &c.credits
	if k.limit == 0 || !c.sendable || k.taken < k.every {
		return
	}
	n := min(k.taken, maxCredit)
	k.taken -= n
	c.postImm(work{wr: SendWR{Op: OpWriteImm, Imm: creditBase + uint32(n), Quiet: true}})
}

// drop takes out all that waits, once the queue pair is no more.
func (k *credits) drop() []work {
	all := k.waiting
	k.waiting = nil
	return all
}
