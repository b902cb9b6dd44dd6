package threads

import (
	"sync/atomic"
	"time"
)

const (
	// leastRounds and mostRounds bound how long a worker looks for work before it
	// parks: a round is 0.5 µs on Zen 4. These are counts and no durations because a
	// clock under test may stand still.
	leastRounds, mostRounds = 50, 800
	// shortPark is the time from parking to waking up to which it would have been
	// better to look for longer.
	shortPark = 600 * time.Microsecond
	// mostMisses is how often in a row a worker looks for mostRounds in vain before it gives up.
	mostMisses = 6
	// heldWaits is how many short waits teach nothing after a worker gave up.
	heldWaits = 200
	// mostWaits bounds how long a caller looks for the end of its workers' ranges.
	mostWaits = 3200
)

// patience is how long a worker looks for work. Within a step the next work
// comes soon, often in less time than it takes to wake up; between steps
// perhaps not. So it grows with each wait that was short and shrinks with each
// that was long.
//
// A worker without a processor of its own takes the one on which the step
// would make the next work. It looks in vain for as long as it may, and each
// wait is short nevertheless. Such a worker gives up: it looks as briefly as
// possible, and short waits teach it nothing for a while. (That it took long
// over its rounds would not tell: other goroutines run between these.)
type patience struct {
	rounds int
	misses int // looks of mostRounds in a row that found nothing
	held   int // short waits that will teach nothing
}

// found learns from a look that found work.
func (p *patience) found() { p.misses = 0 }

// missed learns from a look that found none.
func (p *patience) missed() {
	if p.rounds < mostRounds {
		return
	}
	if p.misses++; p.misses >= mostMisses {
		*p = patience{rounds: leastRounds, held: heldWaits}
	}
}

// waited learns from how long the worker was parked.
func (p *patience) waited(d time.Duration) {
	switch {
	case d >= shortPark:
		p.rounds = max(p.rounds-p.rounds/4, leastRounds)
	case p.held > 0:
		p.held--
	default:
		p.rounds = min(2*p.rounds, mostRounds)
	}
}

// waits is how long callers look for the end of what their workers have left before they
// park: longer after a park that was short, as workers are at their last ranges then; less
// long after one that was not, as when the system has given a worker's processor to another
// program, which moves the worker to the caller's if that parks.
type waits struct{ rounds atomic.Int32 }

// parked learns from how long a caller was parked. Callers that park at once may each miss
// what another one has learned.
func (w *waits) parked(d time.Duration) {
	r := w.rounds.Load()
	if d < shortPark/2 {
		w.rounds.Store(min(2*r, mostWaits))
	} else {
		w.rounds.Store(max(r-r/4, leastRounds))
	}
}
