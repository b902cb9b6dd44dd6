package step

import (
	"sync"

	"github.com/gorge-tf/gorge/tf"
)

// A Frame holds the arguments and results of one call.
type Frame struct {
	args []*tf.Tensor
	mu   sync.Mutex
	rets []*tf.Tensor
}

// NewFrame returns the frame of a call with the given arguments, which stay
// the caller's, and number of results.
func NewFrame(args []*tf.Tensor, results int) *Frame {
	return &Frame{args: args, rets: make([]*tf.Tensor, results)}
}

// Arg returns argument i.
func (f *Frame) Arg(i int) (*tf.Tensor, error) {
	if i < 0 || i >= len(f.args) {
		return nil, tf.Errorf(tf.InvalidArgument, "Argument index %d is out of range: the call has %d", i, len(f.args))
	}
	return f.args[i], nil
}

// SetRetval sets result i. The frame takes a reference of its own.
func (f *Frame) SetRetval(i int, t *tf.Tensor) error {
	if i < 0 || i >= len(f.rets) {
		return tf.Errorf(tf.InvalidArgument, "Result index %d is out of range: the call has %d", i, len(f.rets))
	}
	t = t.Share()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rets[i] != nil {
		t.Release()
		return tf.Errorf(tf.Internal, "Retval[%d] has already been set.", i)
	}
	f.rets[i] = t
	return nil
}

// Results returns the results, which the program may keep.
func (f *Frame) Results() ([]*tf.Tensor, error) {
	for i, t := range f.rets {
		if t == nil {
			f.Drop()
			return nil, tf.Errorf(tf.Internal, "Retval[%d] does not have value", i)
		}
	}
	for _, t := range f.rets {
		t.Escape()
	}
	return f.rets, nil
}

// Own returns the results that have been set, and nil for the others, which other
// tasks have.
func (f *Frame) Own() []*tf.Tensor {
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
