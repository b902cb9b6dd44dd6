package queue

import "github.com/gorge-tf/gorge/tf/core"

// row returns copies of row i of all tensors of a batch.
func row(batch Tuple, i int) (Tuple, error) {
	out := make(Tuple, len(batch))
	for k, x := range batch {
		var err error
		if out[k], err = core.AllocTensor(x.DType(), x.Shape()[1:]); err != nil {
			return nil, err
		}
		n := out[k].Len()
		copyCells(out[k], 0, x, i*n, n)
	}
	return out, nil
}

// place copies x into row k of batch, at the low corner if the row is larger.
func place(batch *core.Tensor, k int, x *core.Tensor) {
	shape := batch.Shape()[1:]
	at := k * shape.NumElements()
	if x.Shape().Equal(shape) {
		copyCells(batch, at, x, 0, x.Len())
		return
	}
	placeCorner(batch, at, shape, x, 0, x.Shape())
}

// placeCorner copies a block of x that has the given sizes and begins at from.
func placeCorner(dst *core.Tensor, at int, room core.Shape, x *core.Tensor, from int, sizes core.Shape) {
	if len(sizes) == 1 {
		copyCells(dst, at, x, from, sizes[0])
		return
	}
	roomStep, step := room[1:].NumElements(), sizes[1:].NumElements()
	for i := range sizes[0] {
		placeCorner(dst, at+i*roomStep, room[1:], x, from+i*step, sizes[1:])
	}
}

// copyCells copies n elements of src, from the one numbered from, to dst.
func copyCells(dst *core.Tensor, at int, src *core.Tensor, from, n int) {
	switch size := dst.DType().Size(); dst.DType() {
	case core.String:
		copy(core.Data[string](dst)[at:at+n], core.Data[string](src)[from:])
	case core.Resource:
		copy(dst.Handles()[at:at+n], src.Handles()[from:])
	case core.Variant:
		copy(dst.Variants()[at:at+n], src.Variants()[from:])
	default:
		copy(dst.Buffer().Bytes()[at*size:(at+n)*size], src.Buffer().Bytes()[from*size:])
	}
}
