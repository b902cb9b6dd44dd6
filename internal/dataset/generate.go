package dataset

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf/core"
)

// Generate returns the elements that open's functions give, one at each call,
// until one returns [End]. A function that panics gives an error, and is not
// called again. stop, which may be nil, is called once when no more are wanted.
func Generate(spec *Spec, open func() (next Func, stop func())) Dataset {
	return &generated{common{spec}, open}
}

type generated struct {
	common
	open func() (next Func, stop func())
}

func (d *generated) Cardinality() int64 { return Unknown }

func (d *generated) Iterate() (Iterator, error) { return &generateIterator{d: d}, nil }

type generateIterator struct {
	d     *generated
	next  Func
	stop  func()
	given int64
	ended bool
}

func (it *generateIterator) Next(ctx context.Context) (e Element, err error) {
	switch {
	case it.ended:
		return nil, End
	case ctx.Err() != nil: // the function need not ask
		return nil, cancelled(ctx)
	}
	defer func() {
		if v := recover(); v != nil {
			e, err = nil, core.Panicked("the function of a dataset", v)
			it.ended = true
		}
	}()
	if it.next == nil {
		it.next, it.stop = it.d.open()
	}
	e, err = it.next(ctx, nil)
	if it.ended = errors.Is(err, End); err == nil || !it.ended && ctx.Err() == nil {
		it.given++ // errors, too: a restored iterator passes over them
	}
	if err != nil {
		return nil, err
	}
	return e, it.d.spec.Check(e)
}

func (it *generateIterator) Close() {
	if it.stop != nil {
		it.stop()
	}
	it.next, it.stop = nil, nil
}

func (it *generateIterator) Save(s *State) {
	s.PutInt("given", it.given)
	s.PutBool("ended", it.ended)
}

// Restore begins anew and passes over what has been given, errors included.
func (it *generateIterator) Restore(ctx context.Context, s *State) {
	it.Close()
	n := s.Int("given")
	it.given, it.ended = 0, false
	for it.given < n && s.Err() == nil {
		if _, err := it.Next(ctx); it.ended || ctx.Err() != nil {
			s.Fail(err)
		}
	}
	it.ended = s.Bool("ended")
}
