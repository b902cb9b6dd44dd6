package dataset

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/gorge-tf/gorge/internal/random"
)

// Seeds gives each iterator over a shuffled dataset the seeds of its order. It
// is safe for concurrent use.
type Seeds struct {
	mu          sync.Mutex
	seed, seed2 int64
	stream      *random.Words // nil: all have the same seeds
	taken       int64         // pairs of words
}

// NewSeeds returns the seeds that follow from two; from chance if both are 0.
// With renew, each iterator has others.
func NewSeeds(seed, seed2 int64, renew bool) *Seeds {
	if seed == 0 && seed2 == 0 {
		seed, seed2 = int64(rand.Uint64()), int64(rand.Uint64())
	}
	s := &Seeds{seed: seed, seed2: seed2}
	if renew {
		s.stream = random.NewWords(random.New(seed, seed2))
	}
	return s
}

func (s *Seeds) next() (seed, seed2 int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		return s.seed, s.seed2
	}
	s.taken++
	return int64(s.stream.Next()), int64(s.stream.Next())
}

// position returns how many seeds have been given out.
func (s *Seeds) position() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// seek goes where as many have been.
func (s *Seeds) seek(taken int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil {
		return
	}
	s.stream, s.taken = wordsFrom(s.seed, s.seed2, 2*taken), taken
}

// wordsFrom returns a stream of which some words have been taken.
func wordsFrom(seed, seed2, taken int64) *random.Words {
	p := random.New(seed, seed2)
	p.Skip(uint64(taken) / 4)
	w := random.NewWords(p)
	for range taken % 4 {
		w.Next()
	}
	return w
}

// Shuffle returns the elements of input in the order in which they leave a
// buffer of the given size, in which each has the same chance. It goes through
// input times times, for ever if that is negative.
func Shuffle(input Dataset, buffer, times int64, seeds *Seeds) (Dataset, error) {
	if buffer < 1 && buffer != Unknown {
		return nil, refused("buffer_size must be greater than zero or UNKNOWN_CARDINALITY", buffer)
	}
	if buffer < 0 {
		buffer = math.MaxInt64
	}
	if times == 0 || times < -1 {
		return nil, refused("count must be greater than zero or equal to -1.", times)
	}
	return &shuffled{derived: like(Repeat(input, times)), once: input, buffer: buffer, times: times, seeds: seeds}, nil
}

// ShareSeeds gives a shuffled dataset that has no iterators yet the seeds of another
// one, so that iterators over either follow one another in one series of orders.
func ShareSeeds(to, from Dataset) {
	a, ok := Bare(to).(*shuffled)
	b, both := Bare(from).(*shuffled)
	if ok && both {
		a.seeds = b.seeds
	}
}

type shuffled struct {
	derived
	once   Dataset
	buffer int64
	times  int64
	seeds  *Seeds

	mu    sync.Mutex
	order []int64 // the order of random access; nil: none was asked for
}

func (d *shuffled) Iterate() (Iterator, error) {
	it := &shuffleIterator{d: d}
	it.seed, it.seed2 = d.seeds.next()
	it.words = wordsFrom(it.seed, it.seed2, 0)
	return it, nil
}

// shuffleIterator keeps elements in a ring that each round through the input has
// a stretch of: rounds do not mix.
type shuffleIterator struct {
	d           *shuffled
	input       Iterator // nil between two rounds
	round       int64
	seed, seed2 int64
	words       *random.Words
	drawn       int64
	ring        []Element
	live        int
	stretches   []stretch
	produced    bool // some round has given something
}

type stretch struct{ start, end int }

// mostRounds bounds how many rounds can be in the buffer at once: of an input
// without elements there would be no end.
const mostRounds = 3

func (it *shuffleIterator) Next(ctx context.Context) (Element, error) {
	if err := it.fill(ctx); err != nil {
		return nil, err
	}
	if it.live == 0 {
		return nil, End
	}
	it.forget()
	s := &it.stretches[0]
	i := (s.start + it.words.Index(s.end-s.start)) % len(it.ring)
	it.drawn++
	first := s.start % len(it.ring)
	e := it.ring[i]
	it.ring[i], it.ring[first] = it.ring[first], nil
	s.start++
	it.live--
	return e, nil
}

// forget drops the rounds before the last that have been given out. The next
// one has an order of its own.
func (it *shuffleIterator) forget() {
	for len(it.stretches) > 1 && it.stretches[0].start == it.stretches[0].end {
		it.stretches = it.stretches[1:]
		it.seed, it.seed2 = it.d.seeds.next()
		it.words, it.drawn = wordsFrom(it.seed, it.seed2, 0), 0
	}
}

// fill takes elements from the input until the buffer is full.
func (it *shuffleIterator) fill(ctx context.Context) error {
	for int64(it.live) < it.d.buffer && it.goesOn() {
		if it.input == nil {
			if err := it.begin(); err != nil {
				return err
			}
		}
		e, err := it.input.Next(ctx)
		switch {
		case errors.Is(err, End):
			it.input.Close()
			it.input = nil
			switch {
			case !it.produced && it.d.times < 0:
				return nil
			case ctx.Err() != nil: // an input without elements need not ask
				return cancelled(ctx)
			}
		case err != nil:
			return err
		default:
			it.add(e)
		}
	}
	return nil
}

func (it *shuffleIterator) goesOn() bool {
	if it.input == nil && it.d.times >= 0 && it.round >= it.d.times {
		return false
	}
	return len(it.stretches) <= mostRounds || it.live == 0
}

// begin begins a round.
func (it *shuffleIterator) begin() (err error) {
	at := 0
	if n := len(it.stretches); n > 0 {
		at = it.stretches[n-1].end
	}
	it.stretches = append(it.stretches, stretch{at, at})
	it.forget()
	it.round++
	it.input, err = it.d.once.Iterate()
	return err
}

// add puts e at the end of the ring.
func (it *shuffleIterator) add(e Element) {
	it.produced = true
	s := &it.stretches[len(it.stretches)-1]
	if it.live == len(it.ring) {
		it.grow()
	}
	it.ring[s.end%len(it.ring)] = e
	s.end++
	it.live++
}

// grow makes room. What is in the ring keeps its number.
func (it *shuffleIterator) grow() {
	size := int(min(it.d.buffer, max(16, 2*int64(len(it.ring)))))
	ring := make([]Element, size)
	for _, s := range it.stretches {
		for i := s.start; i < s.end; i++ {
			ring[i%size] = it.ring[i%len(it.ring)]
		}
	}
	it.ring = ring
}

func (it *shuffleIterator) Close() {
	if it.input != nil {
		it.input.Close()
		it.input = nil
	}
}

func (it *shuffleIterator) Save(s *State) {
	for k, v := range map[string]int64{"round": it.round, "seed": it.seed, "seed2": it.seed2, "drawn": it.drawn, "epoch": it.d.seeds.position()} {
		s.PutInt(k, v)
	}
	s.PutBool("produced", it.produced)
	s.PutBool("begun", it.input != nil)
	s.PutInt("stretches", int64(len(it.stretches)))
	for i, st := range it.stretches {
		var list []Element
		for k := st.start; k < st.end; k++ {
			list = append(list, it.ring[k%len(it.ring)])
		}
		s.Nth("stretch", i).PutElements("elements", list)
	}
	if it.input != nil {
		it.input.Save(s.Sub("input"))
	}
}

func (it *shuffleIterator) Restore(ctx context.Context, s *State) {
	it.Close()
	it.round, it.drawn = s.Count("round", math.MaxInt64), s.Count("drawn", math.MaxInt64)
	it.seed, it.seed2, it.produced = s.Int("seed"), s.Int("seed2"), s.Bool("produced")
	it.words = wordsFrom(it.seed, it.seed2, it.drawn)
	it.d.seeds.seek(s.Count("epoch", math.MaxInt64))
	it.ring, it.live, it.stretches = nil, 0, nil
	for i := range s.Count("stretches", mostRounds+1) {
		at := it.live
		it.stretches = append(it.stretches, stretch{at, at})
		for _, e := range s.Nth("stretch", int(i)).Elements("elements") {
			it.add(e)
		}
	}
	it.produced = s.Bool("produced")
	if !s.Bool("begun") {
		return
	}
	var err error
	if it.input, err = it.d.once.Iterate(); err != nil {
		s.Fail(err)
		return
	}
	it.input.Restore(ctx, s.Sub("input"))
}
