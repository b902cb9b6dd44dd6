// Package dense exchanges tensors with gorgonia.org/tensor, whose dense tensors
// may be views, lazily transposed, stored column by column, or masked. Numpy's
// files are in package npy below, which needs no gorgonia.
package dense

import (
	_ "go4.org/unsafe/assume-no-moving-gc" // gorgonia.org/tensor refuses to start without the release that knows Go 1.26
	"gorgonia.org/tensor"

	"github.com/gorge-tf/gorge/tf"
)

// A Feed is a gorgonia tensor that can be fed, or made a constant of, as it is.
// Sessions and graphs copy its elements. A masked tensor is refused: see Filled.
type Feed struct{ *tensor.Dense }

// AsTensor returns the elements as a tensor of the type that Go's has: int and
// uint become Int64 and Uint64.
func (f Feed) AsTensor() (*tf.Tensor, error) {
	if f.Dense == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "a tensor must not be nil")
	}
	if masked(f.Dense) {
		return nil, tf.Errorf(tf.InvalidArgument, "a masked tensor must be given values where it has none: use dense.Filled, got a mask of shape %v", tf.Shape(f.Shape()))
	}
	return convert(f.Dense, true)
}

// From copies a gorgonia tensor, whatever its layout. It refuses masked ones.
func From(d *tensor.Dense) (*tf.Tensor, error) {
	t, err := Feed{d}.AsTensor()
	if err != nil {
		return nil, err
	}
	return t.Clone(), nil
}

// Filled copies a gorgonia tensor and puts value, which must be of the type of
// its elements, where the mask says that there is none.
func Filled(d *tensor.Dense, value any) (*tf.Tensor, error) {
	if d == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "a tensor must not be nil")
	}
	t, err := convert(d, false)
	if err != nil || !masked(d) {
		return t, err
	}
	holes := gather(d.Mask(), tf.Shape(d.Shape()), d.Strides())
	if !elements[d.Dtype()].fill(t, value, holes) {
		return nil, tf.Errorf(tf.InvalidArgument, "the value that fills a tensor must be of its type: the tensor's is %v, the value's %T", d.Dtype(), value)
	}
	return t, nil
}

// To returns a gorgonia tensor over the memory of t, row by row. Neither may be
// changed while the other is in use; Clone the result to change it.
func To(t *tf.Tensor) (*tensor.Dense, error) {
	if t == nil {
		return nil, tf.Errorf(tf.InvalidArgument, "a tensor must not be nil")
	}
	if t.Len() == 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "gorgonia's tensors must have elements, got shape %v", t.Shape())
	}
	back, err := backing(t)
	if err != nil {
		return nil, err
	}
	shape := t.Shape().Clone()
	if len(shape) == 0 {
		shape = tf.Shape{1} // gorgonia lets no backing array stand behind a scalar
	}
	d := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(back))
	if t.Rank() == 0 {
		return d, d.Reshape()
	}
	return d, nil
}

// masked reports whether d has a mask; gorgonia takes an empty tensor for one.
func masked(d *tensor.Dense) bool { return len(d.Mask()) > 0 }
