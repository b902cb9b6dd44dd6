package ops

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A cell is what moving data takes an element for: so many bytes, or a Go
// object. Operations that only move elements are written once per kind of cell,
// not per type.
type cell interface {
	uint8 | uint16 | uint32 | uint64 | complex128 | string | core.ResourceHandle | core.VariantValue
}

// cells views the elements of t as cells of type C, which must be t's kind of
// cell.
func cells[C cell](t *core.Tensor) []C {
	if b := t.Buffer(); b != nil {
		if t.Len() == 0 {
			return nil
		}
		return memory.Slice[C](b)
	}
	var data any
	switch t.DType() {
	case tf.String:
		data = core.Data[string](t)
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
	bytes                  map[int]core.NewKernel
	str, resource, variant core.NewKernel
}

// byCell lists the forms of a kernel by the cell that they move: 1, 2, 4, 8
// and 16 bytes, strings, resource handles and variants.
func byCell(k1, k2, k4, k8, k16, str, resource, variant core.NewKernel) mover {
	return mover{map[int]core.NewKernel{1: k1, 2: k2, 4: k4, 8: k8, 16: k16}, str, resource, variant}
}

// on returns the kernels for all types that attribute attr may have, the
// quantized and the small ones only as far as they are listed.
func (m mover) on(attr string, special ...[]tf.DType) core.KernelSet {
	by := byType{tf.Resource: m.resource, tf.Variant: m.variant, tf.String: m.str}
	for _, d := range slices.Concat(append(special, plainTypes)...) {
		by[d] = m.bytes[d.Size()]
	}
	return core.ByType(attr, by)
}

// dataOn is on without resource handles and variants, for ops whose results
// hold values that such types do not have.
func (m mover) dataOn(attr string, special ...[]tf.DType) core.KernelSet {
	k := m.on(attr, special...)
	delete(k.By, tf.Resource)
	delete(k.By, tf.Variant)
	return k
}

// The types whose elements lie in memory as they are.
var (
	plainTypes = []tf.DType{
		tf.Float32, tf.Float64, tf.Float16, tf.BFloat16, tf.Complex64, tf.Complex128, tf.Bool,
		tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64,
	}
	wideQuantized = []tf.DType{tf.QInt8, tf.QUint8, tf.QInt32}
	smallFloats   = []tf.DType{tf.Float8E5M2, tf.Float8E4M3}
	smallInts     = []tf.DType{tf.Int4, tf.Uint4}
	allQuantized  = []tf.DType{tf.QInt8, tf.QUint8, tf.QInt32, tf.QInt16, tf.QUint16}
)

// clearCells sets all elements of t to zero, the empty string or no handle.
func clearCells(t *core.Tensor) {
	if b := t.Buffer(); b != nil {
		clear(b.Bytes())
		return
	}
	switch t.DType() {
	case tf.String:
		clear(core.Data[string](t))
	case tf.Resource:
		clear(t.Handles())
	default:
		clear(t.Variants())
	}
}
