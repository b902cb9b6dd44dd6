package ops

import (
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// anonymousName is the shared name of variables that TensorFlow's eager programs
// make: each has a name of its own, and goes with its last handle.
const anonymousName = core.AnonymousName

// anonymousVariables counts them.
var anonymousVariables atomic.Int64

// anonymousVariable is the kernel of a handle that is another one in each step.
func anonymousVariable(n *core.Node) core.Kernel {
	d, s, container := n.Type("dtype"), n.ShapeAttr("shape"), n.Str("container")
	return core.Compute(func(c *core.OpContext) error {
		if c.Step == nil || c.Resources == nil {
			return tf.Errorf(tf.Internal, "a node that keeps a resource needs a resource manager")
		}
		h := core.ResourceHandle{
			Device: deviceName(c), Container: c.Resources.Container(container), HashCode: variableType.Hash, TypeName: variableType.Name,
			Name: fmt.Sprintf("_AnonymousVar%d", anonymousVariables.Add(1)-1), DType: d, Shape: s,
		}
		h.Object = newHolder(c.Resources, h)
		c.Set(0, core.HandleTensor(h))
		return nil
	})
}

// A holder is what all copies of a handle have in common: the variable goes when
// it does.
type holder struct{ _ [1]byte }

func newHolder(m *resource.Manager, h core.ResourceHandle) *holder {
	o := &holder{}
	type place struct {
		m               *resource.Manager
		container, name string
	}
	// It may be gone already, with its container.
	runtime.AddCleanup(o, func(p place) { _ = resource.Delete[*variable](p.m, p.container, p.name) }, place{m, h.Container, h.Name})
	return o
}
