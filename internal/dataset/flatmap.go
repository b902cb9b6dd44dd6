package dataset

import (
	"context"
	"errors"
	"slices"

	"github.com/gorge-tf/gorge/tf/core"
)

// FlatMap returns, one after the other, the elements of the datasets that f
// makes of the elements of input.
func FlatMap(input Dataset, f Func, spec *Spec) Dataset {
	return &interleaved{derived{common{spec}, input}, f, 1, 1, 0, false, "FlatMapDataset"}
}

// Interleave goes around among cycle of the datasets that f makes of the
// elements of input, and takes block elements of each. With ahead, that many
// elements of each are computed in advance.
func Interleave(input Dataset, f Func, spec *Spec, cycle, block, ahead int64) (Dataset, error) {
	if cycle <= 0 {
		return nil, core.Errorf(core.InvalidArgument, "cycle_length must be greater than zero. Got %d.", cycle)
	}
	if block <= 0 {
		return nil, core.Errorf(core.InvalidArgument, "block_length must be greater than zero. Got %d.", block)
	}
	return &interleaved{derived{common{spec}, input}, f, cycle, block, ahead, false, "InterleaveDataset"}, nil
}

// InterleaveAny is Interleave, with elements computed in advance, that passes over
// a dataset whose next element is not there yet.
func InterleaveAny(input Dataset, f Func, spec *Spec, cycle, block, ahead int64) (Dataset, error) {
	d, err := Interleave(input, f, spec, cycle, block, max(ahead, 1))
	if of, ok := d.(*interleaved); ok {
		of.any = true
	}
	return d, err
}

type interleaved struct {
	derived
	f                   Func
	cycle, block, ahead int64
	any                 bool // what is there sooner comes sooner
	name                string
}

func (d *interleaved) Cardinality() int64 {
	if n := d.input.Cardinality(); n == 0 || n == Infinite {
		return n
	}
	return Unknown
}

// Count returns the number of elements of a dataset, also where that is seen only
// by making the datasets that its elements come from.
func Count(ctx context.Context, d Dataset) (int64, error) {
	n := d.Cardinality()
	flat, ok := Bare(d).(*interleaved)
	if n != Unknown || !ok || flat.cycle > 1 {
		return n, nil
	}
	it, err := flat.input.Iterate()
	if err != nil {
		return Unknown, err
	}
	defer it.Close()
	for sum := int64(0); ; {
		e, err := it.Next(ctx)
		if errors.Is(err, End) {
			return sum, nil
		}
		if err != nil {
			return Unknown, err
		}
		part, err := datasetFrom(ctx, flat.f, e, "`f` must return a single dataset.")
		if err != nil {
			return Unknown, err
		}
		if n := part.Cardinality(); n < 0 {
			return n, nil
		}
		sum += part.Cardinality()
	}
}

func (d *interleaved) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator {
		it := &interleaveIterator{over: o, d: d, news: make(chan struct{}, 1)}
		if d.any {
			return &anyIterator{it}
		}
		return it
	})
}

type interleaveIterator struct {
	over
	d     *interleaved
	lanes []lane // grows up to cycle
	at    int
	taken int64 // of the block
	ended bool  // the input has
	plain bool  // elements of the input can be saved, as has been seen
	next  *lane // what was taken from the input, if its opening was cancelled; nil: nothing
	// news holds a token when a lane may have got an element since it was last
	// looked for one.
	news chan struct{}
}

// A lane is one of the datasets that the iterator goes around among.
type lane struct {
	of     Element  // what the dataset was made of
	before *State   // of the input, before that came from it, if it cannot be saved itself
	input  Iterator // nil: none
}

func (it *interleaveIterator) Next(ctx context.Context) (Element, error) {
	for {
		if it.at >= len(it.lanes) && int64(it.at) < it.d.cycle && !it.ended {
			it.lanes = append(it.lanes, lane{})
		}
		if it.at >= len(it.lanes) {
			it.at = 0
			if it.exhausted() {
				return nil, End
			}
		}
		e, err := it.step(ctx)
		if e != nil || err != nil {
			return e, err
		}
		if it.exhausted() {
			return nil, End
		}
	}
}

// exhausted reports whether nothing is left.
func (it *interleaveIterator) exhausted() bool {
	if !it.ended {
		return false
	}
	for _, l := range it.lanes {
		if l.input != nil {
			return false
		}
	}
	return true
}

// step takes an element from the lane that it is at, or goes on to another, or
// opens it.
func (it *interleaveIterator) step(ctx context.Context) (Element, error) {
	l := &it.lanes[it.at]
	if l.input == nil {
		if it.ended {
			it.advance()
			return nil, nil
		}
		return nil, it.open(ctx, l)
	}
	e, err := l.input.Next(ctx)
	if errors.Is(err, End) {
		l.input.Close()
		*l = lane{}
		it.advance()
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if it.taken++; it.taken == it.d.block {
		it.advance()
	}
	return e, it.d.spec.Check(e)
}

func (it *interleaveIterator) advance() {
	it.taken = 0
	it.at++
}

// open makes a dataset of the input's next element.
func (it *interleaveIterator) open(ctx context.Context, l *lane) error {
	if it.next == nil {
		if err := it.take(ctx); err != nil || it.next == nil {
			return err
		}
	}
	next := *it.next
	err := it.enter(ctx, l, next.of)
	if interrupted(ctx, err) {
		return err
	}
	it.next, l.before = nil, next.before
	return err
}

// take takes the input's next element, if there is one.
func (it *interleaveIterator) take(ctx context.Context) error {
	var before *State
	if it.d.nested() && !it.plain { // for the first element: later it may be large
		before = stateWithin(ctx)
		it.input.Save(before)
		if err := before.written(); interrupted(ctx, err) {
			return cancelled(ctx)
		}
	}
	e, err := it.input.Next(ctx)
	if errors.Is(err, End) {
		it.ended = true
		return nil
	}
	if err != nil {
		return err
	}
	if it.plain = savable(e); it.plain {
		before = nil
	}
	it.next = &lane{of: e, before: before}
	return nil
}

// savable reports whether states can have e.
func savable(e Element) bool {
	for _, t := range e {
		for _, v := range t.Variants() {
			switch v.Value.(type) {
			case core.VariantEncoder, *core.Tensor:
			default:
				return false
			}
		}
	}
	return true
}

// nested reports whether elements of the input may be datasets, which states do
// not have.
func (d *interleaved) nested() bool { return slices.Contains(d.input.Spec().Types, core.Variant) }

// enter begins with the dataset that is made of e.
func (it *interleaveIterator) enter(ctx context.Context, l *lane, e Element) error {
	d, err := datasetFrom(ctx, it.d.f, e, "Function must return a single scalar of dtype DT_VARIANT.")
	if err != nil {
		return err
	}
	if it.d.ahead > 0 {
		d = Prefetch(d, it.d.ahead)
	}
	input, err := d.Iterate()
	if err != nil {
		return err
	}
	if p, ok := input.(*prefetchIterator); ok && it.d.any {
		p.news = it.news
	}
	*l = lane{of: e, input: input}
	return nil
}

func (it *interleaveIterator) closeLanes() {
	for _, l := range it.lanes {
		if l.input != nil {
			l.input.Close()
		}
	}
	it.lanes = nil
}

func (it *interleaveIterator) Close() {
	it.closeLanes()
	it.over.Close()
}

func (it *interleaveIterator) Save(s *State) {
	it.over.Save(s)
	s.PutInt("at", int64(it.at))
	s.PutInt("taken", it.taken)
	s.PutBool("ended", it.ended)
	s.PutInt("lanes", int64(len(it.lanes)))
	for i, l := range it.lanes {
		part := s.Nth("lane", i)
		part.PutBool("open", l.input != nil)
		if l.input == nil {
			continue
		}
		l.saveOrigin(part)
		l.input.Save(part.Sub("input"))
	}
	if it.next != nil { // else nothing: earlier states have none
		it.next.saveOrigin(s.Sub("next"))
	}
}

// saveOrigin saves what the lane's dataset is made of.
func (l *lane) saveOrigin(s *State) {
	s.PutBool("again", l.before != nil)
	if l.before != nil {
		s.Sub("before").include(l.before)
	} else {
		s.PutElement("of", l.of)
	}
}

func (it *interleaveIterator) Restore(ctx context.Context, s *State) {
	it.closeLanes()
	it.next = nil
	it.lanes = make([]lane, s.Count("lanes", min(it.d.cycle, int64(len(s.all.by)))))
	it.at, it.taken, it.ended = int(s.Count("at", int64(len(it.lanes)))), s.Count("taken", it.d.block), s.Bool("ended")
	for i := range it.lanes {
		part := s.Nth("lane", i)
		if !part.Bool("open") {
			continue
		}
		if err := it.reopen(ctx, &it.lanes[i], part); err != nil {
			s.Fail(err)
			return
		}
		if it.lanes[i].input == nil {
			s.Fail(errTooMany)
			return
		}
		it.lanes[i].input.Restore(ctx, part.Sub("input"))
	}
	if part := s.Sub("next"); part.Has("again") {
		it.retake(ctx, part)
	}
	it.over.Restore(ctx, s)
}

// retake takes again what had been taken for a dataset that was not opened.
func (it *interleaveIterator) retake(ctx context.Context, part *State) {
	if !part.Bool("again") {
		of := part.Element("of")
		if err := it.d.input.Spec().Check(of); err != nil {
			part.Fail(otherDataset("%v", err))
			return
		}
		it.plain, it.next = true, &lane{of: of}
		return
	}
	it.plain = false
	it.input.Restore(ctx, part.Sub("before"))
	if err := it.take(ctx); err != nil {
		part.Fail(err)
	}
}

// reopen begins with the dataset that a lane was at.
func (it *interleaveIterator) reopen(ctx context.Context, l *lane, part *State) error {
	if !part.Bool("again") {
		it.plain = true
		of := part.Element("of")
		if err := part.Err(); err != nil {
			return err
		}
		return it.enter(ctx, l, of)
	}
	it.plain = false
	it.input.Restore(ctx, part.Sub("before"))
	if err := part.Err(); err != nil {
		return err
	}
	return it.open(ctx, l)
}

// datasetFrom calls a function that returns a dataset.
func datasetFrom(ctx context.Context, f Func, in Element, otherwise string) (Dataset, error) {
	out, err := f(ctx, in)
	if err != nil {
		return nil, err
	}
	if len(out) != 1 || out[0].DType() != core.Variant || out[0].Rank() != 0 {
		return nil, core.Errorf(core.InvalidArgument, "%s", otherwise)
	}
	return Of(out[0])
}
