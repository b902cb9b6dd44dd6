package dataset

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Cursor is an iterator that any number of goroutines may use, and that can
// be put on another dataset of the same types: the resource of iterator ops.
type Cursor struct {
	spec Spec
	turn chan struct{} // holds a token while the iterator is not in use
	life context.Context
	end  context.CancelFunc

	// Used by the holder of the turn.
	dataset Dataset
	it      Iterator
	source  *core.Tensor // that the dataset is from; nil: it is from none
}

var _ = resource.Declare[*Cursor]("tensorflow::data::IteratorResource")

// NewCursor returns one for datasets of the given types and shapes, that is on
// none.
func NewCursor(spec Spec) *Cursor {
	c := &Cursor{spec: spec, turn: make(chan struct{}, 1)}
	c.life, c.end = context.WithCancel(context.Background())
	c.turn <- struct{}{}
	return c
}

// Spec returns what its elements are.
func (c *Cursor) Spec() *Spec { return &c.spec }

// Admits reports why something of other types cannot stand for s.
func (s *Spec) Admits(o *Spec) error {
	if len(s.Types) != len(o.Types) {
		return core.Errorf(core.InvalidArgument, "Number of components does not match: expected %d types but got %d.", len(s.Types), len(o.Types))
	}
	for i, d := range s.Types {
		if o.Types[i] != d {
			return core.Errorf(core.InvalidArgument, "Data type mismatch at component %d: expected %s but got %s.", i, d.CName(), o.Types[i].CName())
		}
	}
	for i := range min(len(s.Shapes), len(o.Shapes)) {
		if !s.Shapes[i].Compatible(o.Shapes[i]) {
			return core.Errorf(core.InvalidArgument, "Incompatible shapes at component %d: expected %s but got %s.", i, s.Shapes[i].String(), o.Shapes[i].String())
		}
	}
	return nil
}

// Start puts the cursor before the first element of d.
func (c *Cursor) Start(ctx context.Context, d Dataset) error { return c.start(ctx, d, nil) }

// StartOn is Start for the dataset that a tensor holds.
func (c *Cursor) StartOn(ctx context.Context, t *core.Tensor) error {
	d, err := Of(t)
	if err != nil {
		return err
	}
	return c.start(ctx, d, t.Share())
}

func (c *Cursor) start(ctx context.Context, d Dataset, source *core.Tensor) error {
	if err := c.spec.Admits(d.Spec()); err != nil {
		return err
	}
	it, err := d.Iterate()
	if err != nil {
		return err
	}
	if err := c.begin(ctx); err != nil {
		it.Close()
		return err
	}
	defer c.leave()
	if c.it != nil {
		c.it.Close()
	}
	c.dataset, c.it, c.source = d, it, source
	return nil
}

// Source returns the tensor that the cursor's dataset is from; nil if it is from
// none.
func (c *Cursor) Source(ctx context.Context) (*core.Tensor, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	defer c.leave()
	return c.source, nil
}

// Started reports whether the cursor is on a dataset.
func (c *Cursor) Started() bool {
	<-c.turn
	defer c.leave()
	return c.it != nil
}

// begin waits for the caller's turn. A caller whose ctx has ended gets an error, even where the
// dataset itself does not check ctx.
func (c *Cursor) begin(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return cancelled(ctx)
	default:
	}
	select {
	case <-c.turn:
	case <-ctx.Done():
		return cancelled(ctx)
	}
	if c.life.Err() != nil {
		c.leave()
		return errDeleted
	}
	return nil
}

func (c *Cursor) leave() { c.turn <- struct{}{} }

// Next returns the next element, or [End] after the last one.
func (c *Cursor) Next(ctx context.Context) (Element, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	defer c.leave()
	if c.it == nil {
		return nil, errNotInitialized
	}
	own, cancel := c.within(ctx)
	defer cancel()
	e, err := c.it.Next(own)
	if errors.Is(err, End) {
		return nil, End
	}
	return e, c.ended(ctx, err)
}

// within is ctx until the cursor is closed.
func (c *Cursor) within(ctx context.Context) (own context.Context, cancel func()) {
	own, end := context.WithCancel(ctx)
	forget := context.AfterFunc(c.life, end)
	return own, func() { forget(); end() }
}

// ended returns err, or that the cursor was closed if that is what ended the call.
func (c *Cursor) ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil && c.life.Err() != nil {
		return errDeleted
	}
	return err
}

var errDeleted = core.Errorf(core.Canceled, "Iterator was deleted.")

var errNotInitialized = core.Errorf(core.FailedPrecondition, "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this iterator before getting the next element.")

// Save returns where the cursor is. It waits until no element is being computed, as long as
// ctx lasts and the cursor is not closed.
func (c *Cursor) Save(ctx context.Context) (*State, error) {
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	defer c.leave()
	if c.it == nil {
		return nil, core.Errorf(core.FailedPrecondition, "Save() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this iterator before saving it.")
	}
	own, cancel := c.within(ctx)
	defer cancel()
	s := stateWithin(own)
	c.it.Save(s)
	return s, c.ended(ctx, s.written())
}

// Restore brings the cursor, which must be on the same dataset, where it was.
// What the iterator had before is lost even when that fails.
func (c *Cursor) Restore(ctx context.Context, s *State) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	defer c.leave()
	if c.it == nil {
		return core.Errorf(core.FailedPrecondition, "Restore() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this iterator before restoring it.")
	}
	it, err := c.dataset.Iterate()
	if err != nil {
		return err
	}
	lost := it
	defer func() {
		if lost != nil { // there was no memory to restore it
			lost.Close()
		}
	}()
	it.Restore(ctx, s)
	c.it.Close()
	c.it, lost = it, nil
	return s.Err()
}

// Close ends what the iterator has under way. The caller has made it unreachable.
func (c *Cursor) Close() {
	c.end()
	<-c.turn
	defer c.leave()
	if c.it != nil {
		c.it.Close()
		c.it = nil
	}
}

// cancelled is the error of a wait that ctx has ended, by its deadline perhaps.
func cancelled(ctx context.Context) error {
	code := core.Canceled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		code = core.DeadlineExceeded
	}
	return &core.Error{Code: code, Msg: "Iterator was cancelled", Err: context.Cause(ctx), Derived: true}
}

// interrupted reports whether err is that of a call which ctx has ended. An input has then
// given nothing, and what was taken from others before is kept for the next call.
func interrupted(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && !errors.Is(err, End)
}
