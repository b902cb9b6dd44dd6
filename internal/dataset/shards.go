package dataset

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// Shards deals the elements of a dataset out to several consumers in turn: the
// resource of iterators for many devices. It may be used by any number of
// goroutines.
type Shards struct {
	cursor *Cursor
	turn   chan struct{} // holds a token while what follows is not in use

	incarnation int64
	at          int        // whose turn it is
	waiting     [][]result // by consumer: what has been dealt to it
	most        int        // elements that may wait for a consumer
	ended       bool
	changed     chan struct{} // closed when one has been taken, or all are gone
}

var _ = resource.Declare[*Shards]("tensorflow::data::(anonymous namespace)::MultiDeviceIterator")

// NewShards returns one for n consumers, that is on no dataset.
func NewShards(spec Spec, n int) *Shards {
	s := &Shards{cursor: NewCursor(spec), turn: make(chan struct{}, 1), waiting: make([][]result, n), changed: make(chan struct{})}
	s.turn <- struct{}{}
	return s
}

// Spec returns what its elements are.
func (s *Shards) Spec() *Spec { return s.cursor.Spec() }

// Consumers returns how many there are.
func (s *Shards) Consumers() int { return len(s.waiting) }

// Close ends what is under way.
func (s *Shards) Close() { s.cursor.Close() }

func (s *Shards) begin(ctx context.Context) error {
	select {
	case <-s.turn:
		return nil
	case <-ctx.Done():
		return cancelled(ctx)
	}
}

func (s *Shards) leave() { s.turn <- struct{}{} }

// Start begins with d anew. Up to most elements may wait for a consumer while
// others ask for theirs. A consumer has to pass the number that is
// returned: elements that were dealt before are gone.
func (s *Shards) Start(ctx context.Context, d Dataset, most int) (incarnation int64, err error) {
	if err := s.begin(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	if err := s.cursor.Start(ctx, d); err != nil {
		return 0, err
	}
	s.incarnation++
	s.at, s.ended, s.waiting, s.most = 0, false, make([][]result, len(s.waiting)), max(1, most)
	s.notify()
	return s.incarnation, nil
}

// notify wakes the callers that wait for a change.
func (s *Shards) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// Next returns the next element of a consumer.
func (s *Shards) Next(ctx context.Context, consumer int, incarnation int64) (Element, error) {
	for {
		e, changed, err := s.next(ctx, consumer, incarnation)
		if changed == nil {
			return e, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, cancelled(ctx)
		case <-s.cursor.life.Done():
			return nil, core.Errorf(core.Canceled, "Iterator was deleted.")
		}
	}
}

// next is Next, unless another consumer has to take an element first: then it
// returns a channel that tells of a change.
func (s *Shards) next(ctx context.Context, consumer int, incarnation int64) (Element, <-chan struct{}, error) {
	if err := s.begin(ctx); err != nil {
		return nil, nil, err
	}
	defer s.leave()
	switch {
	case consumer < 0 || consumer >= len(s.waiting):
		return nil, nil, core.Errorf(core.InvalidArgument, "Invalid shard_num provided: %d, there are %d devices", consumer, len(s.waiting))
	case incarnation != s.incarnation || incarnation == 0:
		return nil, nil, core.Errorf(core.InvalidArgument, "Invalid incarnation id provided: %d, expected %d", incarnation, s.incarnation)
	}
	for len(s.waiting[consumer]) == 0 && !s.ended {
		if len(s.waiting[s.at]) >= s.most {
			return nil, s.changed, nil
		}
		if err := s.deal(ctx); err != nil {
			return nil, nil, err
		}
	}
	mine := s.waiting[consumer]
	if len(mine) == 0 {
		return nil, nil, End
	}
	s.waiting[consumer] = mine[1:]
	s.notify()
	return mine[0].e, nil, mine[0].err
}

// deal gives the next element to whose turn it is.
func (s *Shards) deal(ctx context.Context) error {
	e, err := s.cursor.Next(ctx)
	switch {
	case errors.Is(err, End):
		s.ended = true
		return nil
	case interrupted(ctx, err): // else the element has been taken, though ctx may have ended meanwhile
		return cancelled(ctx)
	}
	s.waiting[s.at] = append(s.waiting[s.at], result{e, err})
	s.at = (s.at + 1) % len(s.waiting)
	return nil
}
