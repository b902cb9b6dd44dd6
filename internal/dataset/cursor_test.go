package dataset

import (
	"context"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// brittle is a dataset whose iterators panic when they are restored, as for lack of memory.
type brittle struct {
	Dataset
	closed *int
}

func (d brittle) Iterate() (Iterator, error) {
	it, err := d.Dataset.Iterate()
	return brittleIterator{it, d.closed}, err
}

type brittleIterator struct {
	Iterator
	closed *int
}

func (it brittleIterator) Restore(context.Context, *State) { panic("no room") }

func (it brittleIterator) Close() {
	*it.closed++
	it.Iterator.Close()
}

// TestRestoreWithoutMemory: an iterator that cannot be restored is closed, and the one
// before goes on.
func TestRestoreWithoutMemory(t *testing.T) {
	d := brittle{numbers(t, 0, 3, 1), new(int)}
	c := NewCursor(*d.Spec())
	defer c.Close()
	if err := c.Start(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	err := core.Guard("a restoration", func() error { return c.Restore(t.Context(), NewState()) })
	if core.CodeOf(err) != core.Internal || *d.closed != 1 {
		t.Errorf("%v, %d iterators are closed, want 1", err, *d.closed)
	}
	if e, err := c.Next(t.Context()); err != nil || core.Data[int64](e[0])[0] != 0 {
		t.Errorf("then: %v (%v), want 0", e, err)
	}
}
