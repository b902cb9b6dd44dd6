package ops

import (
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// computedIn says how tensors of some type are computed as slices of T: as
// they are, or converted there and back.
type computedIn[T core.Plain] struct {
	load  func(*core.OpContext, *core.Tensor) []T // the tensor's memory, or what the kernel borrows
	store func(*core.Tensor, []T)                 // nil if load returns the tensor's memory
}

// asItself computes a type as it is.
func asItself[T elem]() computedIn[T] { return computedIn[T]{load: dataOf[T]} }

// elem is what tensors without pointers hold.
type elem interface {
	tf.Elem
	core.Plain
}

func dataOf[T tf.Elem](_ *core.OpContext, t *core.Tensor) []T { return core.Data[T](t) }

// asFloat32 computes a 16-bit type in float32 and rounds once.
func asFloat32[H interface {
	numeric.HalfFloat
	tf.Elem
}]() computedIn[float32] {
	return computedIn[float32]{load: wide[H], store: narrowTo[H]}
}

// alloc makes output i and returns it, with memory to compute it in.
func (k computedIn[T]) alloc(c *core.OpContext, i int, d tf.DType, s tf.Shape) (*core.Tensor, []T, error) {
	out, err := c.Alloc(i, d, s)
	return k.room(c, out, err)
}

// allocFrom is alloc, in the memory of an input if nothing else reads that.
func (k computedIn[T]) allocFrom(c *core.OpContext, from, i int, d tf.DType, s tf.Shape) (*core.Tensor, []T, error) {
	out, err := c.AllocFrom(from, i, d, s)
	return k.room(c, out, err)
}

// room returns an output with memory to compute it in.
func (k computedIn[T]) room(c *core.OpContext, out *core.Tensor, err error) (*core.Tensor, []T, error) {
	switch {
	case err != nil:
		return nil, nil, err
	case k.store != nil:
		return out, core.Borrow[T](c, out.Len()), nil
	}
	return out, k.load(c, out), nil
}

// finish stores what was computed in the memory of alloc.
func (k computedIn[T]) finish(out *core.Tensor, z []T) {
	if k.store != nil {
		k.store(out, z)
	}
}
