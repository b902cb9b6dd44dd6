package handle

import (
	"fmt"
	"runtime"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// Anonymous keeps a resource under a name that begins with kind and that no
// other has, and returns its handle. It stays until it is deleted or its
// session ends.
func Anonymous[T any](c *core.OpContext, kind string, v T) (*core.Tensor, error) {
	if c.Step == nil || c.Resources == nil {
		return nil, core.Errorf(core.Internal, "a node that keeps a resource needs a resource manager")
	}
	name, typ := fmt.Sprintf("%s%d", kind, owned.Add(1)-1), resource.TypeOf[T]()
	if err := resource.Create(c.Resources, "", name, v); err != nil {
		return nil, err
	}
	return core.HandleTensor(core.ResourceHandle{
		Device: deviceName(c), Container: c.Resources.Container(""), Name: name, HashCode: typ.Hash, TypeName: typ.Name,
	}), nil
}

// Counted is Anonymous for a resource that goes with the last copy of its handle, if it has
// not been deleted before.
func Counted[T any](c *core.OpContext, kind string, v T) (*core.Tensor, error) {
	t, err := Anonymous(c, kind, v)
	if err != nil {
		return nil, err
	}
	h, o := &t.Handles()[0], &owner{}
	runtime.AddCleanup(o, drop[T], place{c.Resources, h.Container, h.Name})
	h.Object = o
	return t, nil
}

// An owner is what all copies of a handle have in common. It has a pointer, so that it is
// not collected together with others: only objects without pointers share blocks of memory.
type owner struct{ _ *owner }
