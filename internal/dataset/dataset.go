package dataset

import (
	"context"
	"errors"

	"github.com/gorge-tf/gorge/tf/core"
)

// An Element is what an iterator gives at a time: the values of the components.
// Its tensors may be shared and must not be changed.
type Element = []*core.Tensor

// Spec says what the components of a dataset's elements are.
type Spec struct {
	Types  []core.DType
	Shapes []core.Shape
}

// A Dataset describes a sequence of elements. It does not change, and any number
// of iterators may be over it at once.
type Dataset interface {
	Spec() *Spec
	// Cardinality returns the number of elements, [Infinite] or [Unknown].
	Cardinality() int64
	// Iterate returns an iterator at the first element.
	Iterate() (Iterator, error)
}

// An Iterator gives the elements of a dataset one after the other. It is for one
// goroutine at a time, and has to be closed.
type Iterator interface {
	// Next returns the next element, or the error [End] after the last one.
	// Any other error concerns one element: the next call goes on behind it.
	Next(ctx context.Context) (Element, error)
	// Save notes where the iterator is. Restore brings one of the same
	// dataset there. What is wrong is in the state's Err.
	Save(s *State)
	Restore(ctx context.Context, s *State)
	// Close ends what the iterator has under way, and waits for that.
	Close()
}

// A Func computes some tensors from others. The arguments stay the caller's.
type Func func(ctx context.Context, in []*core.Tensor) ([]*core.Tensor, error)

// End is what Next returns after the last element. It has the code OutOfRange, by
// which TensorFlow's programs know the end.
var End = core.Errorf(core.OutOfRange, "End of sequence")

// FuncError returns err as a [Func] may return it. A function may itself read
// another dataset to its end: that End becomes an equal error that is not End, so
// that it is not taken for the end of the dataset that calls the function.
func FuncError(err error) error {
	if !errors.Is(err, End) {
		return err
	}
	e := *core.AsError(err)
	e.Err = nil
	return &e
}

// Cardinalities that are no number.
const (
	Infinite = int64(-1)
	Unknown  = int64(-2)
)

// common is what all datasets have.
type common struct{ spec *Spec }

// Spec returns what the elements are.
func (c *common) Spec() *Spec { return c.spec }

// derived is a dataset that has the elements of another.
type derived struct {
	common
	input Dataset
}

func like(input Dataset) derived { return derived{common{input.Spec()}, input} }

// Cardinality is the input's.
func (d *derived) Cardinality() int64 { return d.input.Cardinality() }

// over is an iterator over the elements of another.
type over struct{ input Iterator }

// Close closes the input.
func (o *over) Close() { o.input.Close() }

// Save saves the input.
func (o *over) Save(s *State) { o.input.Save(s.Sub("input")) }

// Restore restores the input.
func (o *over) Restore(ctx context.Context, s *State) { o.input.Restore(ctx, s.Sub("input")) }

// iterate returns an iterator that make builds over one of the input.
func iterate(input Dataset, make func(over) Iterator) (Iterator, error) {
	it, err := input.Iterate()
	if err != nil {
		return nil, err
	}
	return make(over{it}), nil
}

// Value returns a tensor that holds d, as elements of datasets of datasets do.
func Value(d Dataset) *core.Tensor {
	t := core.NewTensor(core.Variant, core.Shape{})
	t.Variants()[0].Value = d
	return t
}

// Of returns the dataset that a tensor holds.
func Of(t *core.Tensor) (Dataset, error) {
	if t.DType() != core.Variant || t.Rank() != 0 {
		return nil, core.Errorf(core.InvalidArgument, "Dataset tensor must be a scalar of dtype DT_VARIANT.")
	}
	d, _ := open(t.Variants()[0].Value)
	if d == nil {
		return nil, core.Errorf(core.InvalidArgument, "Tensor must be a Dataset object.")
	}
	return d, nil
}
