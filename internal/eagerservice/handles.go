package eagerservice

import (
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A name is that of one output of an operation, as the client gives it.
type name struct {
	op     int64
	output int32
}

// A value is what lies under a name: a tensor on a device, or several that stand
// for one, each on a device of its own.
type value struct {
	tensor *core.Tensor
	device core.Device
	packed []input

	// A result of a function may be on a device of another task, where it is
	// kept: only its shape is known here.
	away  string
	shape *pb.TensorShapeProto
}

// handles is the table of results that a client has left here.
type handles struct {
	mu  sync.RWMutex
	all map[name]value

	failed map[int64]error // by operation, the last ones
	order  []int64         // of which this is the order
}

// keptFailures bounds the operations whose failure is remembered.
const keptFailures = 1024

// fail notes why an operation has no outputs: a client may have sent what uses
// them before it heard of it.
func (h *handles) fail(op int64, err error) {
	if op == notKept {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failed == nil {
		h.failed = map[int64]error{}
	}
	if len(h.order) == keptFailures {
		delete(h.failed, h.order[0])
		h.order = append(h.order[:0], h.order[1:]...)
	}
	h.failed[op] = err
	h.order = append(h.order, op)
}

// add keeps a value. As in TensorFlow the first one of a name stays.
func (h *handles) add(n name, v value) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[name]value{}
	}
	if _, there := h.all[n]; !there {
		h.all[n] = v
	}
}

func (h *handles) get(n name) (value, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	v, ok := h.all[n]
	if err := h.failed[n.op]; !ok && err != nil {
		return value{}, err
	}
	if !ok {
		return value{}, core.Errorf(core.InvalidArgument, "Unable to find the relevant tensor remote_handle: Op ID: %d, Output num: %d. "+
			"One possible cause is that the tensor was accessed after deallocation in a distributed worker setup."+
			"Try setting `os.environ['TF_ENABLE_EAGER_CLIENT_STREAMING_ENQUEUE']='False'` in your client to disable async streaming behavior to see if it fixes the problem.", n.op, n.output)
	}
	return v, nil
}

// drop gives a value up.
func (h *handles) drop(n name) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.all[n]; !ok {
		return core.Errorf(core.InvalidArgument, "Unable to find the relevant tensor remote_handle: Op ID: %d, Output num: %d", n.op, n.output)
	}
	delete(h.all, n)
	return nil
}

// len returns the number of values that are kept.
func (h *handles) len() int {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return len(h.all)
}

func (h *handles) clear() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = nil
}

// An input is what an operation is given: a value that is here, or one that is
// not and only a function can use, where it is.
type input struct {
	value
	remote *pb.RemoteTensorHandle
}

// resolve finds what a handle names.
func (c *Context) resolve(h *pb.RemoteTensorHandle) (input, error) {
	if !c.isHere(h.GetOpDevice()) && !c.isHere(h.GetDevice()) {
		at := h.GetOpDevice()
		if at == "" {
			at = h.GetDevice()
		}
		if at == "" || !c.knows(at) { // clients may list a device without a name
			return input{}, core.Errorf(core.InvalidArgument, "%s unknown device.", at)
		}
		return input{remote: h}, nil
	}
	v, err := c.handles.get(name{h.GetOpId(), h.GetOutputNum()})
	return input{value: v}, err
}

func (c *Context) isHere(device string) bool { return c.session.Devices().Lookup(device) != nil }

// dtype returns the type of what is given.
func (in input) dtype() core.DType {
	switch {
	case in.remote != nil:
		return core.DType(in.remote.GetDtype())
	case in.tensor == nil && len(in.packed) > 0:
		return in.packed[0].dtype()
	}
	return in.tensor.DType()
}
