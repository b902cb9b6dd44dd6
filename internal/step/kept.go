package step

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf/core"
)

// Kept holds the tensors that a session keeps between its steps. It is a
// [tf.SessionTensors], safe for concurrent use.
type Kept struct {
	pending atomic.Int64 // tensors of steps that are not over

	mu    sync.Mutex
	next  int64
	steps map[int64]map[string]keptTensor // by step and node
	all   map[string]*core.Tensor         // by handle
}

type keptTensor struct {
	handle string
	t      *core.Tensor
}

// Add keeps t for a step.
func (k *Kept) Add(step int64, node, device string, t *core.Tensor) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.steps[step]
	if _, twice := of[node]; twice {
		return "", core.Errorf(core.InvalidArgument, "Failed to add a tensor with name '%s' to the tensor store.", node)
	}
	if of == nil {
		if k.steps == nil {
			k.steps = map[int64]map[string]keptTensor{}
		}
		of = map[string]keptTensor{}
		k.steps[step] = of
	}
	handle := fmt.Sprintf("%s;%d;%s", node, k.next, device)
	k.next++
	k.pending.Add(1)
	of[node] = keptTensor{handle, t.Share()}
	return handle, nil
}

// Get returns a tensor that has been kept.
func (k *Kept) Get(handle string) (*core.Tensor, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.all[handle]
	if t == nil {
		return nil, core.Errorf(core.InvalidArgument, "The tensor with handle '%s' is not in the session store.", handle)
	}
	return t.Share(), nil
}

// Fed returns what a feed stands for: the tensor that is kept, if it is the handle
// of one, or t itself. It takes over the reference to t.
func (k *Kept) Fed(t *core.Tensor) (*core.Tensor, error) {
	h := t.Handles()
	if len(h) != 1 || h[0].Container != keptIn {
		return t, nil
	}
	t.Release()
	return k.Get(h[0].Name)
}

// keptIn is the container that handles of kept tensors name: all that those have
// which clients make of the string.
const keptIn = "TensorHandle"

// Delete gives up a tensor.
func (k *Kept) Delete(handle string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.all[handle]
	if t == nil {
		return core.Errorf(core.InvalidArgument, "Failed to delete a tensor with handle '%s' in the session store.", handle)
	}
	delete(k.all, handle)
	t.Release()
	return nil
}

// Pending reports whether a step that is not over has kept something.
func (k *Kept) Pending() bool { return k.pending.Load() > 0 }

// End ends a step: what the nodes have kept whose outputs it fetches stays, if it
// has succeeded. Nearly all steps keep nothing, which costs them nothing.
func (k *Kept) End(step int64, fetches []string, succeeded bool) {
	if !k.Pending() {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	of := k.steps[step]
	delete(k.steps, step)
	k.pending.Add(-int64(len(of)))
	if succeeded {
		k.commit(of, fetches)
	}
	for _, v := range of {
		v.t.Release()
	}
}

// commit keeps what is fetched beyond the step.
func (k *Kept) commit(of map[string]keptTensor, fetches []string) {
	for _, f := range fetches {
		node, _, err := core.ParseTensorName(f)
		v, kept := of[node]
		if err != nil || !kept {
			continue
		}
		if k.all == nil {
			k.all = map[string]*core.Tensor{}
		}
		k.all[v.handle] = v.t
		delete(of, node)
	}
}

// Close gives up all tensors.
func (k *Kept) Close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for handle, t := range k.all {
		delete(k.all, handle)
		t.Release()
	}
}
