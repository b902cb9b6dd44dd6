package io

import "sync/atomic"

// A handover decides which side goes on after a callback: the caller, if it has been
// called back before it looks, or else the callback. So long chains of
// callbacks that come at once are a loop, not a deep stack.
type handover struct{ state atomic.Int32 }

const (
	first = iota // neither side has come
	left         // one has, and leaves the rest to the other
)

// later is the callback's question: does it go on? No if the caller has not
// looked yet and will.
func (h *handover) later() bool { return !h.state.CompareAndSwap(first, left) }

// now is the caller's question: has it been called back, and goes on?
func (h *handover) now() bool {
	return !h.state.CompareAndSwap(first, left) && h.state.Load() != dropped
}

const dropped = 2

// drop tells the caller, should it still look, that there is nothing to go on
// with.
func (h *handover) drop() { h.state.Store(dropped) }
