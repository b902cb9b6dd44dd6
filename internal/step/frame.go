package step

import (
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// A Frame holds the arguments and results of one call.
type Frame struct {
	args []*core.Tensor
	mu   sync.Mutex
	rets []*core.Tensor
	room [2]*core.Tensor // where rets lie while they are few
}

// NewFrame returns the frame of a call with the given arguments, which stay
// the caller's, and number of results.
func NewFrame(args []*core.Tensor, results int) *Frame {
	f := &Frame{}
	f.Init(args, results)
	return f
}

// Init makes f, a zero Frame, what NewFrame returns.
func (f *Frame) Init(args []*core.Tensor, results int) {
	f.args = args
	if f.rets = f.room[:min(results, len(f.room))]; results > len(f.room) {
		f.rets = make([]*core.Tensor, results)
	}
}

// Arg returns argument i.
func (f *Frame) Arg(i int) (*core.Tensor, error) {
	if i < 0 || i >= len(f.args) {
		return nil, core.Errorf(core.InvalidArgument, "Argument index %d is out of range: the call has %d", i, len(f.args))
	}
	return f.args[i], nil
}

// SetRetval sets result i. The frame takes a reference of its own.
func (f *Frame) SetRetval(i int, t *core.Tensor) error {
	if i < 0 || i >= len(f.rets) {
		return core.Errorf(core.InvalidArgument, "Result index %d is out of range: the call has %d", i, len(f.rets))
	}
	t = t.Share()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rets[i] != nil {
		t.Release()
		return core.Errorf(core.Internal, "Retval[%d] has already been set.", i)
	}
	f.rets[i] = t
	return nil
}

// Leave returns the results as tensors that are the program's alone. The first
// one is written to into, memory of the program's, unless that is nil. That one is dead is
// the caller's mistake, who asked for it: of sessions TensorFlow says so, too, but not of functions.
func (f *Frame) Leave(into *core.Tensor) ([]*core.Tensor, error) {
	for i, t := range f.rets {
		if t == nil {
			f.Drop()
			return nil, core.Errorf(core.InvalidArgument, "Retval[%d] does not have value", i)
		}
	}
	for i, t := range f.rets {
		if i > 0 || into == nil {
			var err error
			if f.rets[i], err = t.TryLeave(); err != nil {
				f.Drop()
				return nil, err
			}
			continue
		}
		if err := t.CopyTo(into); err != nil {
			f.Drop()
			return nil, err
		}
		t.Release()
		f.rets[i] = into
	}
	return f.rets, nil
}

// Own returns the results that have been set, and nil for the others, which other
// tasks have.
func (f *Frame) Own() []*core.Tensor {
	for _, t := range f.rets {
		if t != nil {
			t.Escape()
		}
	}
	return f.rets
}

// Drop gives up the results of a call that has failed.
func (f *Frame) Drop() {
	for i, t := range f.rets {
		if t != nil {
			t.Release()
		}
		f.rets[i] = nil
	}
}
