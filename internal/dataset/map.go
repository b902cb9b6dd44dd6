package dataset

import (
	"context"

	"github.com/gorge-tf/gorge/tf/core"
)

// Map returns what f makes of each element of input. An error of f concerns that
// element only. With keep, the number of elements is known to be the input's.
func Map(input Dataset, f Func, spec *Spec, keep bool) Dataset {
	return &mapped{derived{common{spec}, input}, f, keep}
}

type mapped struct {
	derived
	f    Func
	keep bool
}

// Cardinality is the input's if each element gives one. Else the function may end the
// dataset, also one whose input is infinite.
func (d *mapped) Cardinality() int64 {
	if d.keep {
		return d.input.Cardinality()
	}
	return Unknown
}

func (d *mapped) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &mapIterator{taking{over: o}, d} })
}

type mapIterator struct {
	taking
	d *mapped
}

func (it *mapIterator) Next(ctx context.Context) (Element, error) {
	in, err := it.take(ctx)
	if err != nil {
		return nil, err
	}
	out, err := it.d.apply(ctx, in)
	it.used(ctx, in, err)
	return out, err
}

func (it *mapIterator) Restore(ctx context.Context, s *State) { it.restore(ctx, s, it.d.input.Spec()) }

// apply calls the function. Without keep, one that is out of range ends the
// dataset; TensorFlow's readers rely on that.
func (d *mapped) apply(ctx context.Context, in Element) (Element, error) {
	out, err := d.f(ctx, in)
	if err == nil {
		return out, d.spec.Check(out)
	}
	return nil, d.failed(err)
}

// failed is what follows from an error of the function.
func (d *mapped) failed(err error) error {
	switch {
	case core.CodeOf(err) != core.OutOfRange:
		return err
	case !d.keep:
		return End
	}
	return core.Errorf(core.InvalidArgument, "Function invocation produced OutOfRangeError: %s", core.AsError(err).Message())
}

// Check compares an element that a function has returned with what it should be.
func (s *Spec) Check(e Element) error {
	if len(e) != len(s.Types) {
		return core.Errorf(core.InvalidArgument, "Number of components does not match: expected %d types but got %d.", len(s.Types), len(e))
	}
	for i, t := range e {
		if t.DType() != s.Types[i] {
			return core.Errorf(core.InvalidArgument, "Data type mismatch at component %d: expected %s but got %s.", i, s.Types[i].CName(), t.DType().CName())
		}
	}
	return nil
}

// Filter returns the elements of input for which predicate returns true.
func Filter(input Dataset, predicate Func) Dataset { return &filtered{like(input), predicate} }

type filtered struct {
	derived
	predicate Func
}

func (d *filtered) Cardinality() int64 { return Unknown }

func (d *filtered) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &filterIterator{taking{over: o}, d} })
}

type filterIterator struct {
	taking
	d *filtered
}

func (it *filterIterator) Next(ctx context.Context) (Element, error) {
	for {
		e, err := it.take(ctx)
		if err != nil {
			return nil, err
		}
		yes, err := holds(ctx, it.d.predicate, e, "Filter")
		if it.used(ctx, e, err); err != nil || yes {
			return e, err
		}
	}
}

func (it *filterIterator) Restore(ctx context.Context, s *State) {
	it.restore(ctx, s, it.d.input.Spec())
}

// holds calls a predicate.
func holds(ctx context.Context, f Func, e Element, who string) (bool, error) {
	out, err := f(ctx, e)
	if err != nil {
		return false, err
	}
	if len(out) != 1 || out[0].DType() != core.Bool || out[0].Len() != 1 {
		return false, core.Errorf(core.InvalidArgument, "%s `predicate` must return a scalar bool.", who)
	}
	return core.Data[bool](out[0])[0], nil
}

// TakeWhile returns the elements of input up to the first for which predicate
// returns false.
func TakeWhile(input Dataset, predicate Func) Dataset { return &takenWhile{like(input), predicate} }

type takenWhile struct {
	derived
	predicate Func
}

func (d *takenWhile) Cardinality() int64 { return Unknown }

func (d *takenWhile) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &takeWhileIterator{taking{over: o}, d, false} })
}

type takeWhileIterator struct {
	taking
	d     *takenWhile
	ended bool
}

func (it *takeWhileIterator) Next(ctx context.Context) (Element, error) {
	if it.ended {
		return nil, End
	}
	e, err := it.take(ctx)
	if err != nil {
		return nil, err
	}
	yes, err := holds(ctx, it.d.predicate, e, "TakeWhile")
	if it.used(ctx, e, err); err == nil && !yes {
		it.ended = true
		return nil, End
	}
	return e, err
}

func (it *takeWhileIterator) Save(s *State) {
	it.taking.Save(s)
	s.PutBool("over", it.ended)
}

func (it *takeWhileIterator) Restore(ctx context.Context, s *State) {
	it.restore(ctx, s, it.d.input.Spec())
	it.ended = s.Bool("over")
}
