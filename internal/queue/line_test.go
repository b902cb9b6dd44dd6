package queue

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// counter is a state on which requests wait for a number.
type counter struct {
	Line
	n      int
	served []int
}

func (c *counter) wait(ctx context.Context, want int) chan error {
	answer := make(chan error, 1)
	c.Wait(ctx, "Count", func() (bool, error) { return c.n >= want, nil }, func(err error) {
		c.served = append(c.served, want)
		answer <- err
	})
	return answer
}

func (c *counter) set(n int) { _ = c.Change(func() error { c.n = n; return nil }) }

func TestLineServesWhomItCan(t *testing.T) {
	for inOrder, want := range map[bool][]int{false: {1, 3, 5}, true: {5, 1, 3}} {
		c := &counter{Line: Line{InOrder: inOrder}}
		for _, n := range []int{5, 1, 3} {
			c.wait(background, n)
		}
		for _, n := range []int{1, 3, 5} {
			c.set(n)
		}
		if !slices.Equal(c.served, want) {
			t.Errorf("in order %v: served %v, want %v", inOrder, c.served, want)
		}
	}
}

func TestLineCancels(t *testing.T) {
	c := &counter{Line: Line{InOrder: true}}
	ctx, cancel := context.WithCancel(background)
	first, second := c.wait(ctx, 9), c.wait(background, 1)
	c.set(1)
	cancel()
	if err := <-first; core.CodeOf(err) != core.Canceled || core.AsError(err).Message() != "Count operation was cancelled" {
		t.Error(err)
	}
	if err := <-second; err != nil {
		t.Error("the one behind is not served:", err)
	}
	if err := <-c.wait(ctx, 0); core.CodeOf(err) != core.Canceled {
		t.Error("a context that has ended:", err)
	}
}

func TestLineCloses(t *testing.T) {
	c, gone := &counter{}, errors.New("gone")
	answers := []chan error{c.wait(background, 1), c.wait(background, 2)}
	c.Close(gone)
	for _, a := range answers {
		if err := <-a; err != gone {
			t.Error(err)
		}
	}
	broken := errors.New("broken")
	var got error
	c.Wait(background, "Fail", func() (bool, error) { return false, broken }, func(err error) { got = err })
	if got != broken {
		t.Error(got)
	}
}

// TestLineOutlivesPanics: what panics under the lock, for lack of memory say, fails by
// itself. Others are served.
func TestLineOutlivesPanics(t *testing.T) {
	c := &counter{}
	err := core.Guard("a change", func() error { return c.Change(func() error { panic("no room") }) })
	if core.CodeOf(err) != core.Internal {
		t.Errorf("a change that panics: %v", err)
	}
	broken := make(chan error, 1)
	c.Wait(background, "Break", func() (bool, error) {
		if c.n > 0 {
			panic("no room")
		}
		return false, nil
	}, func(err error) { broken <- err })
	other := c.wait(background, 1)
	c.set(1)
	if err := <-broken; core.CodeOf(err) != core.Internal {
		t.Errorf("a request that panics: %v", err)
	}
	if err := <-other; err != nil {
		t.Errorf("the one behind: %v", err)
	}
}
