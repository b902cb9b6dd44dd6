package fake

import (
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// block is the device's memory as opaque buffers know it.
type block struct{ private *memory.Buffer }

// Release gives up the memory, with the last reference on the opaque buffer.
func (b *block) Release() { b.private.Unref() }

// seal returns t, a tensor that only the device knows, as the world may see
// it. Tensors of objects are the same for all. The result has a reference on
// t's memory; t keeps its own.
func seal(t *core.Tensor) *core.Tensor {
	b := t.Buffer()
	if b == nil {
		return t.Share()
	}
	return core.TensorOf(t.DType(), t.Shape(), memory.NewOpaque(Type, &block{b.Ref()}, b.Len()))
}

// open returns the private tensor behind t, which goes on holding its memory.
func open(t *core.Tensor) (*core.Tensor, error) {
	if t.Buffer() == nil {
		return t.Share(), nil
	}
	b, ok := t.Buffer().Handle().(*block)
	if !ok {
		return nil, core.Errorf(core.Internal, "a %s device computes with tensors in its own memory, got %v%v in space %q", Type, t.DType(), t.Shape(), t.Buffer().Space())
	}
	return core.TensorOf(t.DType(), t.Shape(), b.private.Ref()), nil
}
