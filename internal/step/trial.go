package step

import "time"

const (
	// blockTime is how long the steps of a block take at least: longer than the 3 to 4 ms
	// for which a system lets one of two programs run that want the same processor.
	blockTime = 10 * time.Millisecond
	// mostSteps bounds the steps of a block, for clocks that stand still.
	mostSteps = 1 << 12
	// mostPairs is how many pairs of blocks a trial takes that stays undecided.
	mostPairs = 8
	// surePairs of blocks, all won, and by a quarter, need no more.
	surePairs = 3
)

// trial compares steps that share their loops with steps that do not. It goes through
// pairs of blocks, one of each kind and of equally many steps. Which kind is first changes
// from pair to pair, so that what becomes slower or faster meanwhile does not count.
type trial struct {
	steps int              // of a block; 0: the first has not ended
	at    int              // steps of the block under way that have ended
	spent time.Duration    // by these
	ended int              // blocks
	pair  [2]time.Duration // of the pair under way: shared, alone
	sum   [2]time.Duration // of the pairs that have ended
	won   int              // pairs in which the steps alone took less time
}

// alone reports whether the steps of the block under way do not share their loops.
func (t *trial) alone() bool { return (t.ended%2 == 1) != (t.ended/2%2 == 1) }

// add counts a step of the block under way.
func (t *trial) add(d time.Duration) {
	t.spent += d
	t.at++
	if t.steps == 0 && (t.spent >= blockTime || t.at == mostSteps) {
		t.steps = t.at
	}
	if t.at == t.steps {
		t.endBlock()
	}
}

func (t *trial) endBlock() {
	kind := 0
	if t.alone() {
		kind = 1
	}
	t.pair[kind] = t.spent
	t.ended++
	t.at, t.spent = 0, 0
	if t.ended%2 != 0 {
		return
	}
	t.sum[0] += t.pair[0]
	t.sum[1] += t.pair[1]
	if t.pair[1] < t.pair[0] {
		t.won++
	}
}

// better reports whether steps alone are better, where now says whether steps are alone
// between trials. The other kind must win most pairs, so that one long interruption does
// not decide, and the sum. It is not decided while more blocks are needed.
func (t *trial) better(now bool) (alone, decided bool) {
	pairs := t.ended / 2
	mine, other, won := t.sum[0], t.sum[1], t.won
	if now {
		mine, other, won = other, mine, pairs-won
	}
	switch {
	case pairs == 0 || t.ended%2 != 0:
		return now, false
	case 4*other > 5*mine:
		return now, true
	case pairs >= surePairs && won == pairs && 4*mine > 5*other:
		return !now, true
	case pairs < mostPairs:
		return now, false
	}
	return now != (8*won >= 5*pairs && 100*other < 97*mine), true
}

// cost is what the trial has cost, in steps of the better kind.
func (t *trial) cost() float64 {
	better, worse := min(t.sum[0], t.sum[1]), max(t.sum[0], t.sum[1])
	if better <= 0 {
		return 0
	}
	return float64(worse-better) / float64(better) * float64(t.ended/2*t.steps)
}
