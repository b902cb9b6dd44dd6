// Package step is what direct sessions, workers and masters share: it makes a
// placed and pruned graph runnable (one executor for each device) and runs
// steps on it.
package step

import (
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// Kernels makes and keeps kernels. Those of nodes with state (variables,
// queues, random streams) are shared by all graphs of a session, by node name,
// so that state outlives the set of fetches it was first used for.
type Kernels struct {
	mu       sync.Mutex
	stateful map[kernelKey]core.Kernel
}

type kernelKey struct{ device, node string }

// For returns the function that finds kernels for a device.
func (k *Kernels) For(d core.Device) func(*core.Node) (core.Kernel, error) {
	name, typ := d.Spec().String(), d.Spec().Type
	return func(n *core.Node) (core.Kernel, error) {
		make, err := core.FindKernel(typ, n)
		if err != nil {
			return nil, err
		}
		if !n.Def.Stateful {
			return made(n, make)
		}
		return k.shared(kernelKey{name, n.Name}, n, make)
	}
}

func (k *Kernels) shared(key kernelKey, n *core.Node, make core.NewKernel) (core.Kernel, error) {
	if n.Role().MovesTensors() { // its name is the partition's: other graphs use it for other tensors
		return made(n, make)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if have := k.stateful[key]; have != nil {
		return have, nil
	}
	fresh, err := made(n, make)
	if err != nil {
		return nil, err
	}
	if k.stateful == nil {
		k.stateful = map[kernelKey]core.Kernel{}
	}
	k.stateful[key] = fresh
	return fresh, nil
}

// made makes the kernel of n.
func made(n *core.Node, make core.NewKernel) (k core.Kernel, err error) {
	defer core.Recover(&err, "making the kernel of "+n.OpName())
	return make(n)
}
