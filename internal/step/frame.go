package step

import (
	"sync"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
)

// A Frame holds the arguments and results of one call.
type Frame struct {
	mu   sync.Mutex
	args []*tf.Tensor
	rets []*tf.Tensor
}

// NewFrame returns the frame of a call with the given arguments and number of
// results.
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

// SetRetval sets result i; the frame takes over the caller's reference.
func (f *Frame) SetRetval(i int, t *tf.Tensor) error {
	if i < 0 || i >= len(f.rets) {
		return tf.Errorf(tf.InvalidArgument, "Result index %d is out of range: the call has %d", i, len(f.rets))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rets[i] = t
	return nil
}

// Results returns the results, which the program may keep.
func (f *Frame) Results() ([]*tf.Tensor, error) {
	for i, t := range f.rets {
		if t == nil {
			return nil, tf.Errorf(tf.Internal, "Retval[%d] does not have value", i)
		}
		t.Escape()
	}
	return f.rets, nil
}

func stepContainer(id int64) string { return resource.StepContainer(id) }
