package step

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// firstTrial is after how many steps of a graph the first trial begins: kernels and
	// memory are warm then.
	firstTrial = 64
	// restBlocks is how many blocks of steps there are at least between two trials.
	restBlocks = 64
	// worth is how many steps there are for each step's time that a trial has cost, so
	// that trials cost half a percent.
	worth = 200
	// spoiledRest is how many steps there are after a trial that could not be ended.
	spoiledRest = 1 << 10
	mostRest    = 1 << 20
	// aloneBlocks bounds the blocks of steps between two trials when steps share nothing:
	// the other program may have ended.
	aloneBlocks = 256
	// mostDoubts is how many trials in a row must speak against what the steps do until
	// they do something else.
	mostDoubts = 2
)

// sharing decides whether the steps of a graph share their loops out among threads.
// As a rule that pays. It does not if another program wants a processor: the system then
// interrupts the one thread while the other one waits for it, or has a worker that looks
// for work take the processor from the caller. No counter tells how much that costs, so
// from time to time a trial compares both. Results do not depend on it: all numbers of
// threads give equal bits.
//
// Steps are either between trials, when they only count down left, or in one, which takes
// the lock. A trial is given up when steps run at once: their times tell nothing then, and
// what was better for one at a time does not hold for them, so that they share.
type sharing struct {
	left  atomic.Int64 // steps until the next trial; negative: there is one
	alone atomic.Bool  // what the steps between trials do

	mu     sync.Mutex
	timed  bool // a step of the trial is under way
	broken bool // another one has begun meanwhile
	trial  trial
	doubts int // trials in a row that spoke against what the steps do
}

// begin begins a step. It reports whether that is to share no loops, and whether its time
// counts: then end must be called with it.
func (s *sharing) begin() (alone, timed bool) {
	if s.left.Add(-1) >= 0 {
		return s.alone.Load(), false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left.Load() >= 0 { // the trial has ended meanwhile
		return s.alone.Load(), false
	}
	if s.timed {
		s.broken = true
		return s.alone.Load(), false
	}
	s.timed = true
	return s.trial.alone(), true
}

// end ends a step whose time counts, if it succeeded.
func (s *sharing) end(d time.Duration, succeeded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	broken := s.broken
	s.timed, s.broken = false, false
	if broken {
		s.alone.Store(false)
	}
	if broken || !succeeded {
		s.rest(spoiledRest)
		return
	}
	s.trial.add(d)
	if alone, decided := s.trial.better(s.alone.Load()); decided {
		s.follow(alone)
	}
}

// follow does what a trial has shown to be better, once it is beyond doubt. What is new is
// tried again soon.
func (s *sharing) follow(alone bool) {
	soon := restBlocks * s.trial.steps
	if alone == s.alone.Load() {
		s.doubts = 0
		s.rest(max(soon, s.afterCost(alone)))
		return
	}
	if s.doubts++; s.doubts < mostDoubts {
		s.rest(s.trial.steps)
		return
	}
	s.doubts = 0
	s.alone.Store(alone)
	s.rest(soon)
}

// afterCost is how many steps there should be after what the trial has cost.
func (s *sharing) afterCost(alone bool) int {
	n := int(min(worth*s.trial.cost(), mostRest))
	if alone {
		return min(n, aloneBlocks*s.trial.steps)
	}
	return n
}

// rest ends the trial, and begins the next one after so many steps.
func (s *sharing) rest(steps int) {
	s.trial = trial{}
	s.left.Store(int64(steps))
}
