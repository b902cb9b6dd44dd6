package chaos

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A Plan is what goes wrong in a run, and when.
type Plan struct {
	Seed    uint64
	Tasks   int // 3 to 64; a quarter of them, at least one, are parameter servers
	Clients int
	For     time.Duration // until all is well again
	Delay   time.Duration // the longest that a message takes
	Drop    float64       // part of the messages that are lost
	Events  []Event       // in the order of time
}

// An Event is one fault, and its end.
type Event struct {
	At   time.Duration
	Kind Kind
	Task int           // that dies, or that is cut off from Peer
	Peer int           // -1: from all
	For  time.Duration // until it is back
}

// Kind is what happens.
type Kind int

// The kinds of faults.
const (
	Kill Kind = iota
	Cut       // both ways
	Mute      // what Task says to Peer does not come, what Peer says does
)

// String returns the kind's name.
func (k Kind) String() string { return [...]string{"kill", "cut", "mute"}[k] }

// String says what happens.
func (e Event) String() string {
	return fmt.Sprintf("%v: %v %d-%d for %v", e.At, e.Kind, e.Task, e.Peer, e.For)
}

// NewPlan returns the plan of a seed.
func NewPlan(seed uint64) Plan {
	r := rand.New(rand.NewPCG(seed, 0x676f726765))
	p := Plan{Seed: seed, Tasks: 3 + r.IntN(6), Clients: 1 + r.IntN(3), For: 5 * time.Minute}
	if r.IntN(10) == 0 {
		p.Tasks = 3 + r.IntN(62)
	}
	p.Delay = time.Duration(r.Int64N(int64(200 * time.Millisecond)))
	if r.IntN(2) == 0 {
		p.Drop = r.Float64() / 20
	}
	for range r.IntN(8) {
		e := Event{At: time.Duration(r.Int64N(int64(p.For))), Kind: Kind(r.IntN(3)), Task: r.IntN(p.Tasks), Peer: r.IntN(p.Tasks+1) - 1}
		e.For = time.Duration(r.Int64N(int64(time.Minute)))
		if e.Peer == e.Task {
			e.Peer = -1
		}
		p.Events = append(p.Events, e)
	}
	slices.SortStableFunc(p.Events, func(a, b Event) int { return int(a.At - b.At) })
	return p
}

// servers is how many of the tasks are parameter servers.
func (p *Plan) servers() int { return max(1, p.Tasks/4) }

// name returns that of a task.
func (p *Plan) name(task int) string {
	if n := p.servers(); task >= n {
		return fmt.Sprintf("/job:worker/replica:0/task:%d", task-n)
	}
	return fmt.Sprintf("/job:ps/replica:0/task:%d", task)
}
