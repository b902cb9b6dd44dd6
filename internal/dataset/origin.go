package dataset

import (
	"github.com/gorge-tf/gorge/internal/resource"
	"github.com/gorge-tf/gorge/tf/core"
)

// An Origin tells how an op made a dataset: what is needed to make another like
// it, and to tell of it.
type Origin struct {
	Node *core.Node
	// In are the inputs; those that hold datasets may have an origin too.
	In        []*core.Tensor
	Functions core.FunctionCaller // nil: there are none
	Resources *resource.Manager
}

// made is a dataset together with its origin, in a tensor.
type made struct {
	d      Dataset
	origin *Origin
}

// encodable is made for datasets that can leave their process.
type encodable struct {
	made
	core.VariantEncoder
}

func (m made) parts() (Dataset, *Origin) { return m.d, m.origin }

// Made is [Value] for a dataset that an op has made.
func Made(d Dataset, o *Origin) *core.Tensor {
	t := core.NewTensor(core.Variant, core.Shape{})
	if e, ok := d.(core.VariantEncoder); ok {
		t.Variants()[0].Value = encodable{made{d, o}, e}
	} else {
		t.Variants()[0].Value = made{d, o}
	}
	return t
}

// OriginOf returns how the dataset that a tensor holds was made; nil if
// that is not known, or it holds none.
func OriginOf(t *core.Tensor) *Origin {
	if t.DType() != core.Variant || t.Rank() != 0 {
		return nil
	}
	_, o := open(t.Variants()[0].Value)
	return o
}

// open returns the dataset that an element of a tensor is; nil if it is none.
func open(v any) (Dataset, *Origin) {
	switch v := v.(type) {
	case interface{ parts() (Dataset, *Origin) }:
		return v.parts()
	case Dataset:
		return v, nil
	}
	return nil, nil
}
