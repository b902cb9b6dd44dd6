package parsing

import (
	"github.com/gorge-tf/gorge/internal/wire/example"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// form is what lists of features become.
type form uint8

const (
	denseForm form = iota
	sparseForm
	raggedForm
)

// A list is a feature that is there once a step. Its outputs are out, values and
// shapes: values, and if there are batches lengths, of a dense one; indices,
// values and shape of a sparse one; values, outer and inner splits of a ragged
// one.
type list struct {
	feature
	form        form
	mayBeAbsent bool // then it counts as one without steps
	lengths     bool // there is an output for them
}

// list sets the outputs of list k.
func (b *batch) list(k int) error {
	switch b.lists[k].dtype {
	case tf.Float32:
		return listAs(b, k, example.Floats, example.Feature.AppendFloats)
	case tf.Int64:
		return listAs(b, k, example.Ints, example.Feature.AppendInts)
	}
	return listAs(b, k, example.Strings, example.Feature.AppendStrings)
}

// walked is a list of all examples: the values, where those of each step end,
// and where the steps of each example end.
type walked[T any] struct {
	values          []T
	ends, stepsEnds []int
}

func listAs[T tf.Elem](b *batch, k int, kind example.Kind, read lister[T]) error {
	l := &b.lists[k]
	w := walked[T]{}
	for i := range b.examples {
		steps := b.steps[i*len(b.lists)+k]
		if steps == nil && l.form == denseForm && !l.mayBeAbsent {
			return tf.Errorf(tf.InvalidArgument, "Name: %s, Feature list '%s' is required but could not be found.  "+
				"Did you mean to include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?", b.name(i), l.name)
		}
		for s, v := range steps {
			ok := true
			switch v.Kind {
			case kind:
				w.values, ok = read(v, w.values)
			case example.None:
			default:
				return tf.Errorf(tf.InvalidArgument, "Name: %s, Feature list: %s, Index: %d.  Data types don't match. Expected type: %s", b.name(i), l.name, s, l.dtype.CName())
			}
			if !ok {
				return tf.Errorf(tf.InvalidArgument, "Name: %s, Feature list: %s, Index: %d.  Can't parse serialized Example.", b.name(i), l.name, s)
			}
			w.ends = append(w.ends, len(w.values))
		}
		w.stepsEnds = append(w.stepsEnds, len(w.ends))
	}
	switch l.form {
	case sparseForm:
		return sparseList(b, l, w)
	case raggedForm:
		return raggedList(b, l, w)
	}
	return denseList(b, l, w)
}

// widest returns the largest distance between ends that follow each other.
func widest(ends []int) (most int) {
	begin := 0
	for _, end := range ends {
		begin, most = end, max(most, end-begin)
	}
	return most
}

func sparseList[T tf.Elem](b *batch, l *list, w walked[T]) error {
	rank := 3
	if b.single {
		rank = 2
	}
	indices := core.NewTensor(tf.Int64, tf.Shape{len(w.values), rank})
	at, value, step := core.Data[int64](indices)[:0], 0, 0
	for i, last := range w.stepsEnds {
		for s := 0; step < last; s++ {
			for j := 0; value < w.ends[step]; j++ {
				if !b.single {
					at = append(at, int64(i))
				}
				at = append(at, int64(s), int64(j))
				value++
			}
			step++
		}
	}
	shape := []int64{int64(len(b.examples)), int64(widest(w.stepsEnds)), int64(widest(w.ends))}
	if b.single {
		shape = shape[1:]
	}
	b.c.Set(l.out, indices)
	return setVectors(b.c, l.values, w.values, l.shapes, shape)
}

func raggedList[T tf.Elem](b *batch, l *list, w walked[T]) error {
	outer, inner := append([]int{0}, w.stepsEnds...), append([]int{0}, w.ends...)
	set := setSplits[int32]
	if l.splits == tf.Int64 {
		set = setSplits[int64]
	}
	if err := set(b, l, outer, inner); err != nil {
		return err
	}
	t, err := core.FromSlice(append([]T{}, w.values...))
	if err == nil {
		b.c.Set(l.out, t)
	}
	return err
}

// setSplits sets the row splits of a ragged list. A single example has no outer
// ones: what stands for them is a scalar.
func setSplits[S interface {
	int32 | int64
	tf.Elem
}](b *batch, l *list, outer, inner []int) error {
	if err := setVectors(b.c, l.values, as[S](outer), l.shapes, as[S](inner)); err != nil || !b.single {
		return err
	}
	b.c.Set(l.values, core.Scalar(S(0)))
	return nil
}

// checkTotals checks that each example has whole steps of n values.
func (w walked[T]) checkTotals(l *list, n int) error {
	begin := 0
	for _, last := range w.stepsEnds {
		end := begin
		if last > 0 {
			end = w.ends[last-1]
		}
		if (end-begin)%n != 0 {
			return tf.Errorf(tf.InvalidArgument, "Feature list '%s' has an unexpected number of values.  Total values size: %d is not consistent with output shape: %s",
				l.name, end-begin, append(tf.Shape{-1}, l.shape...).String())
		}
		begin = end
	}
	return nil
}

func denseList[T tf.Elem](b *batch, l *list, w walked[T]) error {
	n := l.shape.NumElements()
	if err := w.checkTotals(l, max(n, 1)); err != nil {
		return err
	}
	steps := widest(w.stepsEnds)
	t, err := b.c.Alloc(l.out, l.dtype, b.batched(append(tf.Shape{steps}, l.shape...)))
	if err != nil {
		return err
	}
	out := core.Data[T](t)
	clear(out)
	lengths := core.Make[int64](len(b.examples))
	step, begin := 0, 0
	for i, last := range w.stepsEnds {
		for s := 0; step < last; s++ {
			if have := w.ends[step] - begin; have != n {
				return tf.Errorf(tf.InvalidArgument, "Name: %s, Key: %s, Index: %d.  Number of values != expected.  values size: %d but output shape: %s", b.name(i), l.name, s, have, l.shape.String())
			}
			copy(out[(i*steps+s)*n:], w.values[begin:w.ends[step]])
			begin = w.ends[step]
			step++
			lengths[i]++
		}
	}
	if !l.lengths {
		return nil
	}
	if b.single {
		b.c.Set(l.values, core.Scalar(lengths[0]))
		return nil
	}
	x, err := core.FromSlice(lengths)
	if err == nil {
		b.c.Set(l.values, x)
	}
	return err
}
