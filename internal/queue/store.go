package queue

import (
	"github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Tuple is one element of a queue: a tensor for each component.
type Tuple = []*core.Tensor

// A store holds the elements of a queue and knows their order.
type store interface {
	len() int
	push(Tuple) error
	pop() Tuple
	// putBack takes back what was popped last, in the order in which it was.
	putBack([]Tuple)
	// each calls f with all elements, in no order.
	each(f func(Tuple))
}

func newStore(s *Spec) store {
	switch s.Kind {
	case RandomShuffle:
		return &shuffled{gen: random.NewGenerator(s.Seed, s.Seed2)}
	case Priority:
		return &byPriority{}
	}
	return &inOrder{}
}

// inOrder gives out elements in the order in which they came: a ring that grows
// as needed.
type inOrder struct {
	ring  []Tuple
	first int
	n     int
}

func (s *inOrder) len() int { return s.n }

func (s *inOrder) each(f func(Tuple)) {
	for i := range s.n {
		f(s.ring[(s.first+i)%len(s.ring)])
	}
}

func (s *inOrder) push(t Tuple) error {
	s.grow()
	s.ring[(s.first+s.n)%len(s.ring)] = t
	s.n++
	return nil
}

func (s *inOrder) pop() Tuple {
	t := s.ring[s.first]
	s.ring[s.first] = nil
	s.first = (s.first + 1) % len(s.ring)
	s.n--
	return t
}

func (s *inOrder) putBack(ts []Tuple) {
	for i := len(ts) - 1; i >= 0; i-- {
		s.grow()
		s.first = (s.first + len(s.ring) - 1) % len(s.ring)
		s.ring[s.first] = ts[i]
		s.n++
	}
}

// grow makes room for one more.
func (s *inOrder) grow() {
	if s.n < len(s.ring) {
		return
	}
	ring := make([]Tuple, max(8, 2*len(s.ring)))
	k := copy(ring, s.ring[s.first:])
	copy(ring[k:], s.ring[:s.first])
	s.ring, s.first = ring, 0
}

// shuffled gives out a random element, chosen as TensorFlow chooses it: a word
// of the random stream for each.
type shuffled struct {
	all   []Tuple
	gen   *random.Generator
	words []uint32 // of the current block, those not used yet
}

func (s *shuffled) len() int           { return len(s.all) }
func (s *shuffled) push(t Tuple) error { s.all = append(s.all, t); return nil }

func (s *shuffled) each(f func(Tuple)) {
	for _, t := range s.all {
		f(t)
	}
}

func (s *shuffled) pop() Tuple {
	i, last := int(uint64(s.word())%uint64(len(s.all))), len(s.all)-1
	t := s.all[i]
	s.all[i], s.all[last] = s.all[last], nil
	s.all = s.all[:last]
	return t
}

func (s *shuffled) putBack(ts []Tuple) {
	for i := len(ts) - 1; i >= 0; i-- {
		s.all = append(s.all, ts[i])
	}
}

func (s *shuffled) word() uint32 {
	if len(s.words) == 0 {
		p := s.gen.ReserveBlocks(1)
		a, b, c, d := p.Next()
		s.words = append(s.words, a, b, c, d)
	}
	w := s.words[0]
	s.words = s.words[1:]
	return w
}

// byPriority gives out an element of the lowest priority. It is a binary heap
// whose steps are those of the C++ standard library, so that elements of equal
// priority come out in the order that TensorFlow has.
type byPriority struct{ heap []prioritized }

type prioritized struct {
	priority int64
	tuple    Tuple
}

func (s *byPriority) len() int { return len(s.heap) }

func (s *byPriority) each(f func(Tuple)) {
	for _, p := range s.heap {
		f(p.tuple)
	}
}

func (s *byPriority) push(t Tuple) error {
	if t[0].Rank() != 0 {
		return core.Errorf(core.InvalidArgument, "Expected the priority element to be a scalar, but received shape: %s", t[0].Shape().String())
	}
	s.heap = append(s.heap, prioritized{})
	s.up(len(s.heap)-1, 0, prioritized{core.Data[int64](t[0])[0], t})
	return nil
}

func (s *byPriority) pop() Tuple {
	top, last := s.heap[0].tuple, len(s.heap)-1
	moved := s.heap[last]
	s.heap[last] = prioritized{}
	s.heap = s.heap[:last]
	if last > 0 {
		s.up(s.sink(), 0, moved)
	}
	return top
}

// sink moves the empty place at the top down to a leaf, along the lower
// priorities, and returns where it is then.
func (s *byPriority) sink() int {
	hole, n := 0, len(s.heap)
	for 2*hole+2 < n {
		child := 2*hole + 2
		if s.heap[child].priority > s.heap[child-1].priority {
			child--
		}
		s.heap[hole] = s.heap[child]
		hole = child
	}
	if 2*hole+1 < n {
		s.heap[hole] = s.heap[2*hole+1]
		hole = 2*hole + 1
	}
	return hole
}

// up puts e at the empty place or as far above it as its priority demands.
func (s *byPriority) up(hole, top int, e prioritized) {
	for hole > top {
		parent := (hole - 1) / 2
		if s.heap[parent].priority <= e.priority {
			break
		}
		s.heap[hole] = s.heap[parent]
		hole = parent
	}
	s.heap[hole] = e
}

func (s *byPriority) putBack(ts []Tuple) {
	for _, t := range ts {
		_ = s.push(t) // what has been in the heap has a priority
	}
}
