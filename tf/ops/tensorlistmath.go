package ops

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// Lists and optionals as numbers: gradients of them are added, and there is a
// zero.

// variantZeros is ZerosLike of lists and optionals.
func variantZeros(c *core.OpContext) error {
	x := c.Input(0)
	if err := core.CheckNesting(x); err != nil {
		return err
	}
	out := core.NewTensor(tf.Variant, x.Shape())
	if err := zeroVariants(out, x); err != nil {
		return err
	}
	c.Set(0, out)
	return nil
}

// variantSum is AddN of lists and optionals.
func variantSum(c *core.OpContext) error {
	first := c.Input(0)
	if err := core.CheckNesting(first); err != nil { // the others are gone through as far as it goes
		return err
	}
	out := core.NewTensor(tf.Variant, first.Shape())
	copyElements(out, 0, first, 0, first.Len())
	for k := 1; k < c.Inputs(); k++ {
		if err := sameShapes(c, 0, k); err != nil {
			return err
		}
		for i, v := range c.Input(k).Variants() {
			sum, err := addVariants(out.Variants()[i], v)
			if err != nil {
				return err
			}
			out.Variants()[i].Value = sum
		}
	}
	c.Set(0, out)
	return nil
}

// A Summable is an element of a Variant, of another package, that can be added to
// one of its kind and has a zero of its shape.
type Summable interface {
	Plus(other any) (any, error)
	Zero() any
}

func addVariants(a, b core.VariantValue) (any, error) {
	if x, ok := a.Value.(*optional); ok {
		if y, ok := b.Value.(*optional); ok {
			return x.plus(y)
		}
	}
	if x, ok := a.Value.(*tensorMap); ok {
		if y, ok := b.Value.(*tensorMap); ok {
			return x.plus(y)
		}
	}
	if x, ok := a.Value.(Summable); ok {
		return x.Plus(b.Value)
	}
	if x, ok := isPrimitive(a.Value); ok {
		if y, ok := isPrimitive(b.Value); ok {
			if z, ok := addPrimitives(x, y); ok {
				return z, nil
			}
		}
	}
	return addLists(a, b)
}

func addLists(a, b core.VariantValue) (*tensorList, error) {
	x, err := asList(a)
	if err != nil {
		return nil, err
	}
	y, err := asList(b)
	if err != nil {
		return nil, err
	}
	s, ok := x.shape.Merge(y.shape)
	switch {
	case x.elem != y.elem:
		return nil, tf.Errorf(tf.InvalidArgument, "Trying to add two lists of tensors of different dtypes. One is %s and the other is %s", x.elem.CName(), y.elem.CName())
	case len(x.items) != len(y.items):
		return nil, tf.Errorf(tf.InvalidArgument, "Trying to add two lists of tensors with different lengths. One is %d and the other is %d", len(x.items), len(y.items))
	case !ok:
		return nil, tf.Errorf(tf.InvalidArgument, "Trying to add two lists of tensors with incompatible element shapes. One is %s and the other is %s", x.shape.String(), y.shape.String())
	}
	sum := newList(x.elem, s, make([]*core.Tensor, len(x.items)))
	for i := range sum.items {
		if sum.items[i], err = addItems(x.items[i], y.items[i]); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// addItems adds two elements; one that is not set is zero.
func addItems(a, b *core.Tensor) (*core.Tensor, error) {
	switch {
	case a == nil:
		return b, nil
	case b == nil:
		return a, nil
	}
	return sumOf(a, b)
}

// sumOf computes AddN of two tensors.
func sumOf(a, b *core.Tensor) (*core.Tensor, error) {
	n, err := core.NewNode("AddN", "AddN", core.Attrs{"N": int64(2), "T": a.DType()})
	if err != nil {
		return nil, err
	}
	find, err := core.FindKernel("CPU", n)
	if err != nil {
		return nil, err
	}
	k, err := find(n)
	if err != nil {
		return nil, err
	}
	compute, ok := core.AsCompute(k)
	if !ok {
		return nil, tf.Errorf(tf.Internal, "the kernel of AddN must not wait")
	}
	c := &core.OpContext{Node: n, In: []core.Slot{{T: a}, {T: b}}, Out: make([]core.Slot, 1)}
	if err := compute(c); err != nil {
		return nil, err
	}
	return c.Out[0].T, nil
}
