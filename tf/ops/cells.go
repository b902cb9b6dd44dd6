package ops

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
)

// A cell is what moving data takes an element for: so many bytes, or a Go
// object. Operations that only move elements are written once per kind of cell,
// not per type.
type cell interface {
	uint8 | uint16 | uint32 | uint64 | complex128 | string | tf.ResourceHandle | tf.VariantValue
}

// cells views the elements of t as cells of type C, which must be t's kind of
// cell.
func cells[C cell](t *tf.Tensor) []C {
	if b := t.Buffer(); b != nil {
		if t.Len() == 0 {
			return nil
		}
		return memory.Slice[C](b)
	}
	var data any
	switch t.DType() {
	case tf.String:
		data = tf.Data[string](t)
	case tf.Resource:
		data = t.Handles()
	default:
		data = t.Variants()
	}
	c, _ := data.([]C)
	return c
}

// A mover holds one kernel for each kind of cell.
type mover struct {
	bytes                  map[int]tf.NewKernel
	str, resource, variant tf.NewKernel
}

// byCell lists the forms of a kernel by the cell that they move: 1, 2, 4, 8
// and 16 bytes, strings, resource handles and variants.
func byCell(k1, k2, k4, k8, k16, str, resource, variant tf.NewKernel) mover {
	return mover{map[int]tf.NewKernel{1: k1, 2: k2, 4: k4, 8: k8, 16: k16}, str, resource, variant}
}

// on returns the kernels for all types that attribute attr may have.
func (m mover) on(attr string) tf.KernelSet {
	by := map[tf.DType]tf.NewKernel{tf.String: m.str, tf.Resource: m.resource, tf.Variant: m.variant}
	for d := tf.Float32; d.Valid() || d < lastDType; d++ {
		if k := m.bytes[d.Size()]; k != nil {
			by[d] = k
		}
	}
	return tf.ByType(attr, by)
}

// lastDType is the greatest of the plain types' numbers.
const lastDType = tf.Uint4

// moving returns the mover without the types that attribute attr excludes: an
// op whose kernel exists for data proper, not for handles.
func (m mover) dataOn(attr string) tf.KernelSet {
	m.resource, m.variant = nil, nil
	k := m.on(attr)
	delete(k.By, tf.Resource)
	delete(k.By, tf.Variant)
	return k
}

// clearCells sets all elements of t to zero, the empty string or no handle.
func clearCells(t *tf.Tensor) {
	if b := t.Buffer(); b != nil {
		clear(b.Bytes())
		return
	}
	switch t.DType() {
	case tf.String:
		clear(tf.Data[string](t))
	case tf.Resource:
		clear(t.Handles())
	default:
		clear(t.Variants())
	}
}

// cellSize is the size of one cell in memory.
func cellSize[C cell]() int { var c C; return int(unsafe.Sizeof(c)) }
