// Package handle makes and follows the handles of resources that a node owns
// or shares by name: queues, readers, accumulators. Handles are of two
// generations: resource tensors, and references to two strings, the container
// and the name.
package handle

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Maker says what resource a node stands for.
type Maker[T any] struct {
	// New makes the resource if there is none of that name yet.
	New func(name string) (T, error)
	// Matches reports how one that was there differs from what the node
	// wants; nil: any serves.
	Matches func(T) error
}

// Kernel returns the kernel of a node whose output is a handle. Nodes of equal
// shared_name and container share a resource; without a shared_name it is the
// node's own, and goes when the kernel is collected.
func Kernel[T comparable](n *core.Node, m Maker[T]) core.Kernel {
	s := newState(n, m)
	isRef, illegal := n.OutTypes[0].IsRef(), CheckNames(n)
	return core.Compute(func(c *core.OpContext) error {
		if illegal != nil {
			return illegal
		}
		if err := s.ensure(c.Resources); err != nil {
			return err
		}
		if isRef {
			c.Out[0].Ref = s.reference(c.Resources)
			return nil
		}
		c.Set(0, s.tensor(c).Share())
		return nil
	})
}

// Name returns the kernel of a node whose output is a handle of a resource that
// another node makes, see [FindOrCreate].
func Name[T comparable](n *core.Node) core.Kernel {
	s, illegal := newState(n, Maker[T]{}), CheckNames(n)
	return core.Compute(func(c *core.OpContext) error {
		if illegal != nil {
			return illegal
		}
		c.Set(0, s.tensor(c).Share())
		return nil
	})
}

func newState[T comparable](n *core.Node, m Maker[T]) *state[T] {
	s := &state[T]{Maker: m, container: n.Str("container"), name: n.Str("shared_name")}
	if s.name == "" {
		s.name, s.private = ownName(n.Name), true
	}
	return s
}

// CheckNames applies TensorFlow's rule to the attributes container and
// shared_name of a node that keeps a resource.
func CheckNames(n *core.Node) error {
	if c := n.Str("container"); !containerForm.MatchString(c) {
		return core.Errorf(core.InvalidArgument, "container contains invalid characters: %s", c)
	}
	if name := n.Str("shared_name"); strings.HasPrefix(name, "_") {
		return core.Errorf(core.InvalidArgument, "shared_name cannot start with '_':%s", name)
	}
	return nil
}

var containerForm = regexp.MustCompile(`^([A-Za-z0-9.][A-Za-z0-9./-]*)?$`)

// owned numbers the resources that are no one's but their node's.
var owned atomic.Int64

// ownName returns a name that no other node has, in the form that TensorFlow's
// messages show.
func ownName(node string) string { return fmt.Sprintf("_%d_%s", owned.Add(1)-1, node) }

// state is what a kernel keeps between steps.
type state[T comparable] struct {
	Maker[T]
	container, name string
	private         bool

	mu    sync.Mutex
	known T // the resource that has been checked
	ref   *core.Ref
	made  *core.Tensor
}

// ensure sees to it that the resource exists and is what the node wants.
func (s *state[T]) ensure(m *resource.Manager) error {
	if m == nil {
		return core.Errorf(core.Internal, "a node that keeps a resource needs a resource manager")
	}
	v, err := resource.LookupOrCreate(m, s.container, s.name, func() (T, error) { return s.New(s.name) })
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if v == s.known {
		return nil
	}
	if s.Matches != nil {
		if err := s.Matches(v); err != nil {
			return err
		}
	}
	if none := *new(T); s.private && s.known == none {
		runtime.AddCleanup(s, drop[T], place{m, s.container, s.name})
	}
	s.known = v
	return nil
}

// A place is where a private resource lies.
type place struct {
	m               *resource.Manager
	container, name string
}

// drop deletes a private resource whose node is gone. It may be gone already,
// with its container.
func drop[T any](p place) {
	go func() { _ = resource.Delete[T](p.m, p.container, p.name) }() // Close may wait for what is under way, cleanups must not
}

func (s *state[T]) reference(m *resource.Manager) *core.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ref == nil {
		t := core.NewTensor(core.String, core.Shape{2})
		copy(core.Data[string](t), []string{m.Container(s.container), s.name})
		s.ref = &core.Ref{}
		s.ref.Store(t)
	}
	return s.ref
}

func (s *state[T]) tensor(c *core.OpContext) *core.Tensor {
	here := deviceName(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made == nil || s.made.Handles()[0].Device != here {
		typ := resource.TypeOf[T]()
		h := core.ResourceHandle{Device: here, Container: c.Resources.Container(s.container), Name: s.name, HashCode: typ.Hash, TypeName: typ.Name}
		if s.private {
			h.Object = s // which the resource lasts as long as: that of an eager graph has nothing else that keeps it
		}
		s.made = core.HandleTensor(h)
	}
	return s.made
}

// deviceName returns the full name of the device that the kernel runs on.
func deviceName(c *core.OpContext) string {
	if c.Step == nil || c.Device == nil {
		return ""
	}
	if d, ok := c.Device.(interface{ Name() string }); ok {
		return d.Name()
	}
	return c.Device.Spec().String()
}

// Find returns the resource that input i, a handle of either generation, names.
func Find[T any](c *core.OpContext, i int) (T, error) {
	var none T
	container, name, err := follow[T](c, i)
	if err != nil {
		return none, err
	}
	return resource.Lookup[T](c.Resources, container, name)
}

// FindOrCreate returns the resource that input i names, which create makes if
// there is none.
func FindOrCreate[T any](c *core.OpContext, i int, create func() (T, error)) (T, error) {
	var none T
	container, name, err := follow[T](c, i)
	if err != nil {
		return none, err
	}
	return resource.LookupOrCreate(c.Resources, container, name, create)
}

// Delete deletes the resource that input i names.
func Delete[T any](c *core.OpContext, i int) error {
	container, name, err := follow[T](c, i)
	if err != nil {
		return err
	}
	return resource.Delete[T](c.Resources, container, name)
}

// follow returns where the resource is that input i names.
func follow[T any](c *core.OpContext, i int) (container, name string, err error) {
	if c.Step == nil || c.Resources == nil {
		return "", "", core.Errorf(core.Internal, "a handle can be followed only where resources are")
	}
	if c.In[i].Ref != nil {
		return pair(c.In[i].Ref.Load())
	}
	t := c.Input(i)
	if t == nil || len(t.Handles()) != 1 {
		if t != nil && t.DType() == core.String {
			return pair(t)
		}
		return "", "", core.Errorf(core.InvalidArgument, "a resource handle must be a scalar")
	}
	h := t.Handles()[0]
	if here := deviceName(c); h.Device != here {
		return "", "", core.Errorf(core.InvalidArgument, "Trying to access resource %s located in device %s from device %s", h.Name, h.Device, here)
	}
	return h.Container, h.Name, resource.Check[T](h.Name, h.HashCode, h.TypeName)
}

// pair reads a handle of the first generation.
func pair(t *core.Tensor) (container, name string, err error) {
	if t == nil || t.DType() != core.String || t.Len() != 2 {
		return "", "", core.Errorf(core.InvalidArgument, "Resource handle must have 2 elements, but had shape: %s", shapeOf(t))
	}
	v := core.Data[string](t)
	return v[0], v[1], nil
}

func shapeOf(t *core.Tensor) string {
	if t == nil {
		return "<none>"
	}
	return t.Shape().String()
}
