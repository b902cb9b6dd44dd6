package dataset

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/gorge-tf/gorge/tf/core"
)

// Window returns datasets of size elements of input each, which are stride
// elements apart; the next begins shift elements after the last one. What is
// left in the end is dropped, or a smaller window.
func Window(input Dataset, size, shift, stride int64, dropRemainder bool) (Dataset, error) {
	for _, n := range []struct {
		name  string
		value int64
	}{{"size", size}, {"shift", shift}, {"stride", stride}} {
		if n.value <= 0 {
			return nil, core.Errorf(core.InvalidArgument, "Window %s must be greater than zero. Got %d.", n.name, n.value)
		}
	}
	if size-1 > (math.MaxInt64-1)/stride {
		return nil, core.Errorf(core.InvalidArgument, "Window target buffer size overflow: (window_size=%d - 1) * window_stride=%d + 1 is not representable.", size, stride)
	}
	spec := &Spec{}
	for range input.Spec().Types {
		spec.Types, spec.Shapes = append(spec.Types, core.Variant), append(spec.Shapes, core.Shape{})
	}
	return &windowed{derived{common{spec}, input}, size, shift, stride, dropRemainder}, nil
}

type windowed struct {
	derived
	size, shift, stride int64
	drop                bool
}

// span is how many elements of the input lie from the first to the last one of
// a window.
func (d *windowed) span() int64 { return (d.size-1)*d.stride + 1 }

func (d *windowed) Cardinality() int64 {
	n := d.input.Cardinality()
	switch {
	case n < 0:
		return n
	case !d.drop:
		return n/d.shift + min(1, n%d.shift) // a sum with the shift might overflow
	case n < d.span():
		return 0
	}
	return (n-d.span())/d.shift + 1
}

func (d *windowed) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator { return &windowIterator{over: o, d: d} })
}

type windowIterator struct {
	over
	d     *windowed
	have  []result // from the beginning of the next window on
	skip  int64    // elements before that
	ended bool
}

func (it *windowIterator) Next(ctx context.Context) (Element, error) {
	if err := it.fill(ctx); err != nil {
		return nil, err
	}
	span := it.d.span()
	if len(it.have) == 0 || it.d.drop && int64(len(it.have)) < span {
		return nil, End
	}
	var window []Element
	var failed error // an error in the input concerns the windows that it is in
	for i := int64(0); i < min(span, int64(len(it.have))); i += it.d.stride {
		window = append(window, it.have[i].e)
		failed = cmp.Or(failed, it.have[i].err)
	}
	n := min(it.d.shift, int64(len(it.have)))
	it.have, it.skip = it.have[n:], it.d.shift-n
	if failed != nil {
		return nil, failed
	}
	return it.split(window), nil
}

// fill takes as many elements from the input as a window spans.
func (it *windowIterator) fill(ctx context.Context) error {
	for !it.ended && (it.skip > 0 || int64(len(it.have)) < it.d.span()) {
		e, err := it.input.Next(ctx)
		switch {
		case errors.Is(err, End):
			it.ended = true
		case interrupted(ctx, err): // else the element has been taken, though ctx may have ended meanwhile
			return cancelled(ctx)
		case it.skip > 0:
			it.skip--
		default:
			it.have = append(it.have, result{e, err})
		}
	}
	return nil
}

// split makes a dataset of each component of a window.
func (it *windowIterator) split(window []Element) Element {
	in := it.d.input.Spec()
	out := make(Element, len(in.Types))
	for k := range out {
		list := make([]Element, len(window))
		for i, e := range window {
			list[i] = Element{e[k]}
		}
		out[k] = Value(List(&Spec{in.Types[k : k+1], in.Shapes[k : k+1]}, list))
	}
	return out
}

func (it *windowIterator) Save(s *State) {
	it.over.Save(s)
	s.putResults("have", it.have)
	s.PutInt("skip", it.skip)
	s.PutBool("ended", it.ended)
}

func (it *windowIterator) Restore(ctx context.Context, s *State) {
	it.over.Restore(ctx, s)
	it.have, it.skip, it.ended = s.results("have"), s.Count("skip", it.d.shift), s.Bool("ended")
}

// List returns the elements of list.
func List(spec *Spec, elements []Element) Dataset {
	get := func(i int64) (Element, error) { return elements[i], nil }
	return &list{indexed{common{spec}, int64(len(elements)), get}, elements}
}

// GroupByWindow puts elements of input together whose key, an integer that a
// function makes, is the same. When there are as many as another function says
// for the key, or in the end, reduce makes a dataset of the key and a dataset of
// them, whose elements are returned.
func GroupByWindow(input Dataset, key, reduce, size Func, spec *Spec) Dataset {
	return &grouped{derived{common{spec}, input}, key, reduce, size}
}

type grouped struct {
	derived
	key, reduce, size Func
}

func (d *grouped) Cardinality() int64 {
	if n := d.input.Cardinality(); n == 0 || n == Infinite {
		return n
	}
	return Unknown
}

func (d *grouped) Iterate() (Iterator, error) {
	return iterate(d.input, func(o over) Iterator {
		return &groupIterator{taking: taking{over: o}, d: d, groups: map[int64]*group{}}
	})
}

// A group has the elements of one key.
type group struct {
	size int64
	list []Element
}

type groupIterator struct {
	taking
	d      *grouped
	groups map[int64]*group
	ended  bool
	full   []int64 // the key whose group is complete, if opening its window was cancelled

	window Iterator // over the window that is being given out; nil: none
	key    int64    // of that window
	of     []Element
}

func (it *groupIterator) Next(ctx context.Context) (Element, error) {
	for {
		if it.window != nil {
			e, err := it.window.Next(ctx)
			if !errors.Is(err, End) {
				return e, err
			}
			it.closeWindow()
		}
		if err := it.collect(ctx); err != nil {
			return nil, err
		}
	}
}

func (it *groupIterator) closeWindow() {
	if it.window != nil {
		it.window.Close()
		it.window, it.of = nil, nil
	}
}

// collect goes on until there is a window.
func (it *groupIterator) collect(ctx context.Context) error {
	if len(it.full) > 0 {
		return it.open(ctx, it.full[0])
	}
	for !it.ended {
		e, err := it.take(ctx)
		if errors.Is(err, End) {
			it.ended = true
			break
		}
		if err != nil {
			return err
		}
		key, g, err := it.groupOf(ctx, e)
		it.used(ctx, e, err)
		if err != nil {
			return err
		}
		if g.list = append(g.list, e); int64(len(g.list)) == g.size {
			return it.open(ctx, key)
		}
	}
	return it.rest(ctx)
}

// groupOf returns the group of an element, and its key.
func (it *groupIterator) groupOf(ctx context.Context, e Element) (int64, *group, error) {
	key, err := integerOf(ctx, it.d.key, e, "`key_func` must return a scalar int64.")
	if err != nil {
		return 0, nil, err
	}
	g, err := it.group(ctx, key)
	return key, g, err
}

// rest begins with what is left of the lowest key.
func (it *groupIterator) rest(ctx context.Context) error {
	first, found := int64(0), false
	for key := range it.groups {
		if !found || key < first {
			first, found = key, true
		}
	}
	if !found {
		return End
	}
	return it.open(ctx, first)
}

func (it *groupIterator) group(ctx context.Context, key int64) (*group, error) {
	if g := it.groups[key]; g != nil {
		return g, nil
	}
	size, err := integerOf(ctx, it.d.size, Element{core.Scalar(key)}, "`window_size_func` must return a scalar int64.")
	if err != nil {
		return nil, err
	}
	if size <= 0 {
		return nil, core.Errorf(core.InvalidArgument, "Window size must be greater than zero, but got %d.", size)
	}
	it.groups[key] = &group{size: size}
	return it.groups[key], nil
}

// integerOf calls a function that returns a number.
func integerOf(ctx context.Context, f Func, in Element, otherwise string) (int64, error) {
	out, err := f(ctx, in)
	if err != nil {
		return 0, err
	}
	if len(out) != 1 || out[0].DType() != core.Int64 || out[0].Len() != 1 {
		return 0, core.Errorf(core.InvalidArgument, "%s", otherwise)
	}
	return core.Data[int64](out[0])[0], nil
}

// open begins to give out the window of a key.
func (it *groupIterator) open(ctx context.Context, key int64) error {
	err := it.enter(ctx, key, it.groups[key].list)
	it.full = nil
	if !interrupted(ctx, err) {
		delete(it.groups, key)
	} else if !it.ended {
		it.full = []int64{key}
	}
	return err
}

func (it *groupIterator) enter(ctx context.Context, key int64, list []Element) error {
	d, err := datasetFrom(ctx, it.d.reduce, Element{core.Scalar(key), Value(List(it.d.input.Spec(), list))}, "`reduce_func` must return a single dataset.")
	if err != nil {
		return err
	}
	it.key, it.of = key, list
	it.window, err = d.Iterate()
	return err
}

func (it *groupIterator) Close() {
	it.closeWindow()
	it.over.Close()
}

func (it *groupIterator) Save(s *State) {
	it.taking.Save(s)
	s.PutBool("ended", it.ended)
	s.PutInt("groups", int64(len(it.groups)))
	i := 0
	for key, g := range it.groups {
		part := s.Nth("group", i)
		part.PutInt("key", key)
		part.PutInt("size", g.size)
		part.PutElements("list", g.list)
		i++
	}
	s.PutBool("open", it.window != nil)
	if it.window != nil {
		s.PutInt("key", it.key)
		s.PutElements("of", it.of)
		it.window.Save(s.Sub("window"))
	}
}

func (it *groupIterator) Restore(ctx context.Context, s *State) {
	it.closeWindow()
	it.restore(ctx, s, it.d.input.Spec())
	it.ended, it.groups, it.full = s.Bool("ended"), map[int64]*group{}, nil
	for i := range s.Count("groups", int64(len(s.all.by))) {
		part := s.Nth("group", int(i))
		key, g := part.Int("key"), &group{part.Int("size"), part.Elements("list")}
		if it.groups[key] = g; int64(len(g.list)) >= g.size && !it.ended {
			it.full = []int64{key}
		}
	}
	if !s.Bool("open") || s.Err() != nil {
		return
	}
	if err := it.enter(ctx, s.Int("key"), s.Elements("of")); err != nil {
		s.Fail(err)
		return
	}
	it.window.Restore(ctx, s.Sub("window"))
}
