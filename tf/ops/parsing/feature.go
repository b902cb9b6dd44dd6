package parsing

import (
	"fmt"
	"sync"

	"github.com/gorge-tf/gorge/internal/wire/example"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A feature says what of each example becomes tensors, and how.
type feature struct {
	name  string
	dtype tf.DType

	def   *core.Tensor // of a dense one: what stands for a missing one, or pads
	shape tf.Shape     // of a dense one: the first size may be open

	splits tf.DType // of a ragged one: the type of its row splits

	out int // of a dense one, or of the indices or values of others
	// The outputs of a sparse or ragged one that belong to out.
	values, shapes int
}

// A batch is a number of examples that are parsed together. A single example is
// a batch of one whose results have no dimension for it.
type batch struct {
	c        *core.OpContext
	examples []string
	names    []string // of the examples, for messages; empty: none are known
	single   bool
	dense    []feature
	sparse   []feature
	ragged   []feature
	lists    []list // of sequences, whose contexts have the features above

	found []example.Feature   // by example and feature
	steps [][]example.Feature // by example and list; nil: it is missing
}

func (b *batch) width() int { return len(b.dense) + len(b.sparse) + len(b.ragged) }

// parse sets all outputs.
func (b *batch) parse() error {
	defer b.release()
	if err := b.find(); err != nil {
		return err
	}
	errs := make([]error, b.width()+len(b.lists))
	b.c.ParallelFor(len(errs), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			if k < b.width() {
				errs[k] = b.column(k)
			} else {
				errs[k] = b.list(k - b.width())
			}
		}
	})
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// find notes where the features lie in the examples.
func (b *batch) find() error {
	slots := map[string][]int{}
	for k := range b.width() {
		name := b.feature(k).name
		slots[name] = append(slots[name], k)
	}
	lists := map[string][]int{}
	for k := range b.lists {
		lists[b.lists[k].name] = append(lists[b.lists[k].name], k)
	}
	b.reserve()
	b.steps = core.Make[[]example.Feature](len(b.examples) * len(b.lists))
	bad := core.Make[bool](len(b.examples))
	b.c.ParallelFor(len(b.examples), 64, func(lo, hi int) {
		known, row := places{slots: slots}, []example.Feature(nil)
		feature := func(name string, v example.Feature) {
			for _, k := range known.next(name) {
				row[k] = v
			}
		}
		for i := lo; i < hi; i++ {
			row, known.at = b.found[i*b.width():(i+1)*b.width()], 0
			if b.lists == nil {
				bad[i] = !example.Features(b.examples[i], feature)
				continue
			}
			bad[i] = !example.Sequence(b.examples[i], feature, func(name string, steps []example.Feature) {
				for _, k := range lists[name] {
					b.steps[i*len(b.lists)+k] = append([]example.Feature{}, steps...)
				}
			})
		}
	})
	for i, wrong := range bad {
		if wrong {
			return tf.Errorf(tf.InvalidArgument, "Could not parse example input, value: '%s'", b.examples[i])
		}
	}
	return nil
}

// foundLists are there to be used again: batches are parsed in every step.
var foundLists sync.Pool // of *[]example.Feature, whose elements are zero

// mostFound bounds what a list that is kept can hold.
const mostFound = 1 << 16

// reserve makes room for the features of all examples.
func (b *batch) reserve() {
	n := len(b.examples) * b.width()
	if list, ok := foundLists.Get().(*[]example.Feature); ok && cap(*list) >= n {
		b.found = (*list)[:n]
		return
	}
	b.found = core.Make[example.Feature](n)
}

// release gives back what reserve has taken. Nothing of the examples stays in it.
func (b *batch) release() {
	if cap(b.found) > mostFound {
		return
	}
	list := b.found // not the field, which would keep the batch
	clear(list)
	foundLists.Put(&list)
}

// places finds the columns that features belong to. Most records have theirs in the
// same order: what the last record had at a place is looked at first.
type places struct {
	slots map[string][]int
	last  []place
	at    int // of the next feature
}

type place struct {
	name    string
	columns []int
}

// next returns the columns of the next feature of a record.
func (p *places) next(name string) []int {
	at := p.at
	p.at++
	switch {
	case at < len(p.last):
		if p.last[at].name != name {
			p.last[at] = place{name, p.slots[name]}
		}
	case at < maxPlaces:
		p.last = append(p.last, place{name, p.slots[name]})
	default:
		return p.slots[name]
	}
	return p.last[at].columns
}

// maxPlaces bounds what is remembered of records with very many features.
const maxPlaces = 1024

// feature returns the feature of column k.
func (b *batch) feature(k int) *feature {
	switch d, s := len(b.dense), len(b.sparse); {
	case k < d:
		return &b.dense[k]
	case k < d+s:
		return &b.sparse[k-d]
	default:
		return &b.ragged[k-d-s]
	}
}

// column sets the outputs of column k.
func (b *batch) column(k int) error {
	switch b.feature(k).dtype {
	case tf.Float32:
		return columnAs(b, k, example.Floats, example.Feature.AppendFloats)
	case tf.Int64:
		return columnAs(b, k, example.Ints, example.Feature.AppendInts)
	}
	return columnAs(b, k, example.Strings, example.Feature.AppendStrings)
}

// lister appends the values of a feature.
type lister[T any] func(v example.Feature, dst []T) ([]T, bool)

func columnAs[T tf.Elem](b *batch, k int, kind example.Kind, list lister[T]) error {
	f := b.feature(k)
	switch d, s := len(b.dense), len(b.sparse); {
	case k >= d+s:
		return raggedColumn(b, k, f, kind, list)
	case k >= d:
		return sparseColumn(b, k, f, kind, list)
	case len(f.shape) > 0 && f.shape[0] < 0:
		return openColumn(b, k, f, kind, list)
	}
	return denseColumn(b, k, f, kind, list)
}

// kindTypes are the types of the kinds of features.
var kindTypes = map[example.Kind]tf.DType{example.Floats: tf.Float32, example.Ints: tf.Int64, example.Strings: tf.String}

// kindNames are what messages call the kinds.
var kindNames = map[example.Kind]string{example.Floats: "float", example.Ints: "int64", example.Strings: "bytes"}

// at says where example i has a feature.
func (b *batch) at(i int, f *feature) string {
	if b.single {
		return "Key: " + f.name + ".  "
	}
	return fmt.Sprintf("Name: %s, Key: %s, Index: %d.  ", b.name(i), f.name, i)
}

func (b *batch) name(i int) string {
	if len(b.names) == 0 {
		return "<unknown>"
	}
	return b.names[i]
}

func (b *batch) refuse(i int, f *feature, format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, "%s"+format, append([]any{b.at(i, f)}, args...)...)
}

// gather reads all values of a column, and where those of each example end.
func gather[T tf.Elem](g *gathered[T], b *batch, k int, f *feature, kind example.Kind, list lister[T]) error {
	for i := range b.examples {
		v := b.found[i*b.width()+k]
		if v.Kind != example.None && v.Kind != kind {
			if b.lists != nil {
				return tf.Errorf(tf.InvalidArgument, "Name: %s, Context feature: %s.  Data types don't match. Expected type: %s", b.name(i), f.name, f.dtype.CName())
			}
			return b.refuse(i, f, "Data types don't match. Expected type: %s, Actual type: %s", f.dtype.CName(), kindTypes[v.Kind].CName())
		}
		ok := true
		if v.Kind != example.None {
			g.values, ok = list(v, g.values)
		}
		if !ok {
			return b.refuse(i, f, "Can't parse serialized Example.")
		}
		g.ends[i] = len(g.values)
	}
	return nil
}

// sparseColumn sets the indices, values and shape of a sparse tensor.
func sparseColumn[T tf.Elem](b *batch, k int, f *feature, kind example.Kind, list lister[T]) error {
	g := newGathered[T](len(b.examples))
	defer g.release()
	if err := gather(g, b, k, f, kind, list); err != nil {
		return err
	}
	rank := 2
	if b.single {
		rank = 1
	}
	indices, err := b.c.Alloc(f.out, tf.Int64, tf.Shape{len(g.values), rank})
	if err != nil {
		return err
	}
	at, begin, widest := core.Data[int64](indices), 0, 0
	for i, end := range g.ends {
		for j := range end - begin {
			if !b.single {
				at[0], at = int64(i), at[1:]
			}
			at[0], at = int64(j), at[1:]
		}
		begin, widest = end, max(widest, end-begin)
	}
	shape := []int64{int64(len(b.examples)), int64(widest)}
	if b.single {
		shape = shape[1:]
	}
	return setVectors(b.c, f.values, g.values, f.shapes, shape)
}

// setVectors makes copies of slices two outputs.
func setVectors[A, B tf.Elem](c *core.OpContext, i int, a []A, k int, b []B) error {
	if err := setVector(c, i, a); err != nil {
		return err
	}
	return setVector(c, k, b)
}

func setVector[T tf.Elem](c *core.OpContext, i int, v []T) error {
	t, err := c.Alloc(i, tf.TypeOf[T](), tf.Shape{len(v)})
	if err == nil {
		copy(core.Data[T](t), v)
	}
	return err
}

// raggedColumn sets the values and row splits of a ragged tensor.
func raggedColumn[T tf.Elem](b *batch, k int, f *feature, kind example.Kind, list lister[T]) error {
	g := newGathered[T](len(b.examples))
	defer g.release()
	if err := gather(g, b, k, f, kind, list); err != nil {
		return err
	}
	var splits []int
	if !b.single {
		splits = append([]int{0}, g.ends...)
	}
	if f.splits == tf.Int64 {
		return setVectors(b.c, f.out, g.values, f.values, as[int64](splits))
	}
	return setVectors(b.c, f.out, g.values, f.values, as[int32](splits))
}

func as[T int32 | int64](v []int) []T {
	out := make([]T, len(v))
	for i, x := range v {
		out[i] = T(x)
	}
	return out
}

// checkKind checks the kind of a dense feature.
func (b *batch) checkKind(i int, f *feature, v example.Feature, kind example.Kind) error {
	if v.Kind != kind {
		return b.refuse(i, f, "Data types don't match. Data type: %s but expected type: %s", kindTypes[v.Kind].CName(), f.dtype.CName())
	}
	return nil
}

// denseColumn sets a tensor of features that all have one shape.
func denseColumn[T tf.Elem](b *batch, k int, f *feature, kind example.Kind, list lister[T]) error {
	n := f.shape.NumElements()
	t, err := b.c.Alloc(f.out, f.dtype, b.batched(f.shape))
	if err != nil {
		return err
	}
	out := core.Data[T](t)
	for i := range b.examples {
		v, to := b.found[i*b.width()+k], out[i*n:(i+1)*n:(i+1)*n]
		if v.Kind == example.None {
			if err := fillDefault(b, i, f, to); err != nil {
				return err
			}
			continue
		}
		if err := b.checkKind(i, f, v, kind); err != nil {
			return err
		}
		values, ok := list(v, to[:0]) // which stay there unless there are too many
		if !ok {
			return b.refuse(i, f, "Can't parse serialized Example.")
		}
		if len(values) != n {
			return b.count(i, f, kind, len(values))
		}
	}
	return nil
}

// count refuses a number of values that is not that of the shape.
func (b *batch) count(i int, f *feature, kind example.Kind, n int) error {
	if b.single {
		return b.refuse(i, f, "Can't parse serialized Example: Some %s_list slice was not parsed.", kindNames[kind])
	}
	return b.refuse(i, f, "Number of %s values != expected.  Values size: %d but output shape: %s", kindNames[kind], n, f.shape.String())
}

// fillDefault gives an example without a feature the default.
func fillDefault[T tf.Elem](b *batch, i int, f *feature, to []T) error {
	def := core.Data[T](f.def)
	if len(def) == 0 && (len(to) > 0 || f.def.Rank() == 1) {
		who := ""
		if !b.single {
			who = "Name: " + b.name(i) + ", "
		}
		return tf.Errorf(tf.InvalidArgument, "%sFeature: %s (data type: %s) is required but could not be found.", who, f.name, f.dtype.CName())
	}
	copy(to, def)
	return nil
}

// batched returns the shape of an output of which each example has a part.
func (b *batch) batched(s tf.Shape) tf.Shape {
	if b.single {
		return s
	}
	return append(tf.Shape{len(b.examples)}, s...)
}

// openColumn sets a tensor of features whose first size is open: as large as the
// largest, and padded with the default.
func openColumn[T tf.Elem](b *batch, k int, f *feature, kind example.Kind, list lister[T]) error {
	stride := f.shape[1:].NumElements()
	for i := range b.examples {
		if v := b.found[i*b.width()+k]; v.Kind != example.None {
			if err := b.checkKind(i, f, v, kind); err != nil {
				return err
			}
		}
	}
	g := newGathered[T](len(b.examples))
	defer g.release()
	if err := gather(g, b, k, f, kind, list); err != nil {
		return err
	}
	widest, begin := 0, 0
	for i, end := range g.ends {
		n := end - begin
		if n%stride != 0 && b.single {
			return tf.Errorf(tf.InvalidArgument, "Error while parsing feature with key %s: number of elements should be divisible by %d, found %d instead", f.name, stride, n)
		}
		if n%stride != 0 {
			return b.refuse(i, f, "Number of %s values is not a multiple of stride length. Saw %d values but output shape is: %s", kindNames[kind], n, f.shape.String())
		}
		begin, widest = end, max(widest, n/stride)
	}
	t, err := b.c.Alloc(f.out, f.dtype, b.batched(append(tf.Shape{widest}, f.shape[1:]...)))
	if err != nil {
		return err
	}
	pad(core.Data[T](t), g.values, g.ends, widest*stride, core.Data[T](f.def))
	return nil
}

// pad copies the values of each example to rows of n elements.
func pad[T any](out, values []T, ends []int, n int, def []T) {
	begin := 0
	for i, end := range ends {
		row := out[i*n : (i+1)*n]
		rest := row[copy(row, values[begin:end]):]
		for k := range rest {
			rest[k] = def[0]
		}
		begin = end
	}
}
