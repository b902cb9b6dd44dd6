// Package stage has barriers, staging areas and maps in which steps leave tuples
// for each other, and mutexes. Operations wait without a goroutine.
package stage

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/handle"
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A tuple is what is staged together.
type tuple []*core.Tensor

func (t tuple) bytes() (n int) {
	for _, x := range t {
		if x != nil {
			n += x.NumBytes()
		}
	}
	return n
}

// shared returns a tuple with references of its own.
func (t tuple) shared() tuple {
	own := make(tuple, len(t))
	for i, x := range t {
		if x != nil {
			own[i] = x.Share()
		}
	}
	return own
}

const names = "container: string = ''; shared_name: string = ''"

// Opts are the optional attributes of the ops on staging areas and maps. Nodes
// of equal container and shared name have one; without a shared name it is that
// of the nodes of one name.
type Opts struct {
	Capacity    int // of elements; 0: any number
	MemoryLimit int // in bytes; 0: none

	Container, SharedName string
}

// Apply sets the attributes.
func (o Opts) Apply(s *tf.Spec) {
	s.Set("capacity", o.Capacity)
	s.Set("memory_limit", o.MemoryLimit)
	s.Set("container", o.Container)
	s.Set("shared_name", o.SharedName)
}

// limits say how much there may be in an area or a map.
type limits struct{ capacity, memory int }

// roomFor reports whether n more bytes fit beside what is there.
func (l limits) roomFor(n, elements, bytes int) bool {
	return (l.capacity == 0 || elements < l.capacity) && (l.memory == 0 || bytes+n <= l.memory)
}

// check refuses what will never fit.
func (l limits) check(n int) error {
	if l.memory > 0 && n > l.memory {
		return tf.Errorf(tf.ResourceExhausted, "Attempted to insert tensors with combined size of '%d' bytes into Staging Area with a memory limit of '%d'.", n, l.memory)
	}
	return nil
}

func limitsOf(n *core.Node) limits { return limits{n.Int("capacity"), n.Int("memory_limit")} }

// A use is what a node does with a resource. It calls done once.
type use[T any] func(c *core.OpContext, r T, done func(error))

// kernel makes the factory of kernels of ops whose attributes name a resource,
// which is made if need be.
func kernel[T any](make func(*core.Node) T, f use[T]) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		if err := handle.CheckNames(n); err != nil {
			return nil, err
		}
		container, name := n.Str("container"), n.Str("shared_name")
		if name == "" {
			name = n.Name
		}
		return core.AsyncCompute(func(c *core.OpContext, done func(error)) {
			r, err := resource.LookupOrCreate(c.Resources, container, name, func() (T, error) { return make(n), nil })
			if err != nil {
				done(err)
				return
			}
			f(c, r, done)
		}), nil
	}
}

// now makes a use of what never waits.
func now[T any](f func(c *core.OpContext, r T) error) use[T] {
	return func(c *core.OpContext, r T, done func(error)) { done(f(c, r)) }
}

// set makes a tuple the outputs from the one numbered at.
func (t tuple) set(c *core.OpContext, at int) error {
	if len(t) != len(c.Out)-at {
		return tf.Errorf(tf.InvalidArgument, "Mismatch stage/unstage: %d vs. %d", len(t), len(c.Out)-at)
	}
	types := make([]tf.DType, len(t))
	for i, x := range t {
		types[i] = x.DType()
	}
	if !slices.Equal(types, c.Node.OutTypes[at:]) {
		return tf.Errorf(tf.InvalidArgument, "Mismatch stage/unstage: types %v vs. %v", types, c.Node.OutTypes[at:])
	}
	for i, x := range t {
		c.Set(at+i, x)
	}
	return nil
}

// outputs returns the outputs of an operation, which carry its error.
func outputs(o *tf.Operation, n int) []tf.Output {
	out := make([]tf.Output, n)
	for i := range out {
		out[i] = o.Output(i)
	}
	return out
}

func anyShape(*core.Infer) error { return nil }

func register(name, in, out, attrs string, shape func(*core.Infer) error, k core.NewKernel) {
	core.Register(core.OpDef{
		Name: name, In: in, Out: out, Attrs: attrs, Stateful: true, Shape: shape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(k),
	})
}
