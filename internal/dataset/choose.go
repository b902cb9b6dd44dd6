package dataset

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gorge-tf/gorge/tf/core"
)

// IgnoreErrors returns the elements of input for which there is no error.
func IgnoreErrors(input Dataset) Dataset { return &ignored{like(input)} }

type ignored struct{ derived }

func (d *ignored) Cardinality() int64 {
	if d.input.Cardinality() == Infinite {
		return Infinite
	}
	return Unknown
}

func (d *ignored) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &ignoreIterator{o} })
}

type ignoreIterator struct{ over }

func (it *ignoreIterator) Next(ctx context.Context) (Element, error) {
	for {
		e, err := it.input.Next(ctx)
		if err == nil || errors.Is(err, End) {
			return e, err
		}
		if ctx.Err() != nil { // err may be one to ignore
			return nil, cancelled(ctx)
		}
	}
}

// Sleep returns the elements of input, each after a while.
func Sleep(input Dataset, d time.Duration) Dataset { return &slow{like(input), d} }

type slow struct {
	derived
	d time.Duration
}

func (d *slow) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &slowIterator{o, d.d} })
}

type slowIterator struct {
	over
	d time.Duration
}

func (it *slowIterator) Next(ctx context.Context) (Element, error) {
	t := time.NewTimer(it.d)
	defer t.Stop()
	select {
	case <-t.C:
		return it.input.Next(ctx)
	case <-ctx.Done():
		return nil, cancelled(ctx)
	}
}

// Unique returns the elements of input, of one component, that are not equal to
// one before.
func Unique(input Dataset) (Dataset, error) {
	types := input.Spec().Types
	if len(types) != 1 {
		return nil, core.Errorf(core.InvalidArgument, "UniqueDataset only supports inputs with a single component.")
	}
	if !slices.Contains([]core.DType{core.Int32, core.Int64, core.String}, types[0]) {
		return nil, core.Errorf(core.InvalidArgument, "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component.")
	}
	return &unique{like(input)}, nil
}

type unique struct{ derived }

func (d *unique) Cardinality() int64 {
	if n := d.input.Cardinality(); n == 0 {
		return 0
	}
	return Unknown
}

func (d *unique) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &uniqueIterator{over: o, seen: map[string]bool{}} })
}

type uniqueIterator struct {
	over
	seen map[string]bool
	list []Element
}

func (it *uniqueIterator) Next(ctx context.Context) (Element, error) {
	for {
		e, err := it.input.Next(ctx)
		if err != nil || it.note(e) {
			return e, err
		}
	}
}

// note remembers e, and reports whether it is new.
func (it *uniqueIterator) note(e Element) bool {
	key := keyOf(e[0])
	if it.seen[key] {
		return false
	}
	it.seen[key] = true
	it.list = append(it.list, e)
	return true
}

// keyOf returns a text that only equal tensors have.
func keyOf(t *core.Tensor) string {
	shape := t.Shape().String()
	if t.DType() != core.String {
		return shape + string(t.Buffer().Bytes()[:t.NumBytes()])
	}
	var b strings.Builder
	b.WriteString(shape)
	for _, s := range core.Data[string](t) {
		b.WriteString(strings.NewReplacer("\x00", "\x00\x01").Replace(s) + "\x00\x00")
	}
	return b.String()
}

func (it *uniqueIterator) Save(s *State) {
	it.over.Save(s)
	s.PutElements("seen", it.list)
}

func (it *uniqueIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	it.seen, it.list = map[string]bool{}, nil
	for _, e := range s.Elements("seen") {
		if len(e) != 1 {
			s.Fail(errTooMany)
			return
		}
		it.note(e)
	}
}

// Choose returns the next element of one of the inputs, always of the one whose
// number the selector gives. An input that has ended is passed over, or, with
// stop, ends all.
func Choose(selector Dataset, inputs []Dataset, stop bool) (Dataset, error) {
	if s := selector.Spec(); len(s.Types) != 1 || s.Types[0] != core.Int64 || len(s.Shapes[0]) != 0 {
		return nil, core.Errorf(core.InvalidArgument, "The selector dataset must yield scalar int64 elements.")
	}
	spec := &Spec{Types: inputs[0].Spec().Types, Shapes: slices.Clone(inputs[0].Spec().Shapes)}
	for _, in := range inputs[1:] {
		s := in.Spec()
		if !slices.Equal(s.Types, spec.Types) {
			return nil, core.Errorf(core.InvalidArgument, "All inputs must have the same output_types. First input has types %s, and some other input has types %s", typeNames(spec.Types), typeNames(s.Types))
		}
		for i := range spec.Shapes {
			spec.Shapes[i] = commonShape(spec.Shapes[i], s.Shapes[i])
		}
	}
	return &chosen{derived{common{spec}, selector}, inputs, stop}, nil
}

type chosen struct {
	derived
	inputs []Dataset
	stop   bool
}

// Cardinality is known where all inputs are infinite, or empty, and where one that is
// infinite remains.
func (d *chosen) Cardinality() int64 {
	n, same, some := d.inputs[0].Cardinality(), true, false
	for _, in := range d.inputs {
		of := in.Cardinality()
		same, some = same && of == n, some || of == Infinite
	}
	selector := d.input.Cardinality()
	switch {
	case same && n == Infinite, some && !d.stop && selector == Infinite:
		return selector
	case same && n == 0:
		return 0
	}
	return Unknown
}

func (d *chosen) Iterate() (Iterator, error) {
	all, err := iterateAll(d.inputs)
	if err != nil {
		return nil, err
	}
	it, err := iterate(d.input, func(o over) Iterator {
		return &choiceIterator{over: o, all: all, choice: -1, ended: make([]bool, len(all)), stop: d.stop}
	})
	if err != nil {
		all.Close()
	}
	return it, err
}

type choiceIterator struct {
	over
	all    several
	choice int64 // what the selector gave for the element that comes next; -1: it has not been asked
	ended  []bool
	stop   bool
}

func (it *choiceIterator) Next(ctx context.Context) (Element, error) {
	for slices.Contains(it.ended, false) {
		if err := it.choose(ctx); err != nil {
			return nil, err
		}
		i := it.choice
		if it.ended[i] {
			it.choice = -1
			continue
		}
		e, err := it.all[i].Next(ctx)
		if interrupted(ctx, err) {
			return nil, err // the choice stands
		}
		it.choice = -1
		if !errors.Is(err, End) {
			return e, err
		}
		it.ended[i] = true
		for k := range it.ended {
			it.ended[k] = it.ended[k] || it.stop
		}
	}
	return nil, End
}

// choose asks the selector, unless a cancelled call has done so.
func (it *choiceIterator) choose(ctx context.Context) error {
	if it.choice >= 0 {
		return nil
	}
	e, err := it.input.Next(ctx)
	if err != nil {
		return err
	}
	if e[0].Rank() != 0 { // the selector has not said
		return core.Errorf(core.InvalidArgument, "The selector dataset must yield scalar int64 elements, got shape %s.", e[0].Shape().String())
	}
	i := core.Data[int64](e[0])[0]
	if i < 0 || i >= int64(len(it.all)) {
		return core.Errorf(core.InvalidArgument, "Selector index out of range: %d >= %d", i, len(it.all))
	}
	it.choice = i
	return nil
}

func (it *choiceIterator) Close() {
	it.all.Close()
	it.over.Close()
}

func (it *choiceIterator) Save(s *State) {
	it.over.Save(s)
	it.all.Save(s)
	if it.choice >= 0 { // states of earlier versions never have it
		s.PutInt("choice", it.choice)
	}
	for i, ended := range it.ended {
		s.Nth("input", i).PutBool("over", ended)
	}
}

func (it *choiceIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	it.all.Restore(ctx, s)
	if it.choice = -1; s.Has("choice") {
		it.choice = s.Count("choice", int64(len(it.all)-1))
	}
	for i := range it.ended {
		it.ended[i] = s.Nth("input", i).Bool("over")
	}
}

// FilterByLast returns the elements of input whose last component is true,
// without it.
func FilterByLast(input Dataset) (Dataset, error) {
	in := input.Spec()
	n := len(in.Types) - 1
	if n < 0 || in.Types[n] != core.Bool {
		return nil, core.Errorf(core.InvalidArgument, "The last component must be a bool scalar")
	}
	yes := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) { return e[n:], nil }
	first := func(_ context.Context, e []*core.Tensor) ([]*core.Tensor, error) { return e[:n], nil }
	return Map(Filter(input, yes), first, &Spec{in.Types[:n], in.Shapes[:n]}, true), nil
}

// ParallelFilter is Filter with up to calls calls of predicate at once.
func ParallelFilter(input Dataset, predicate Func, calls int64, inOrder bool) (Dataset, error) {
	in := input.Spec()
	spec := &Spec{append(slices.Clone(in.Types), core.Bool), append(slices.Clone(in.Shapes), core.Shape{})}
	judged := func(ctx context.Context, e []*core.Tensor) ([]*core.Tensor, error) {
		yes, err := holds(ctx, predicate, e, "Filter")
		return append(slices.Clone(e), core.Scalar(yes)), err
	}
	return FilterByLast(ParallelMap(input, judged, spec, true, calls, inOrder))
}
