package train

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/author"
	"github.com/gorge-tf/gorge/tf/core"
)

// A Saveable is something with state, other than a variable, that a [Saver]
// saves: an iterator, a table. Its name is what it is sorted by.
type Saveable struct {
	Name  string
	Specs []SaveSpec
	// Restore adds what restores the state from the values of Specs, in their
	// order.
	Restore func(values []tf.Output) *tf.Operation
	Device  string

	err error // why there is nothing to save
}

// A SaveSpec is a tensor of a checkpoint.
type SaveSpec struct {
	Name  string
	Slice string // "4 5 0,2:0,5": rows 0 and 1 of a 4×5 matrix; "": all of it
	DType tf.DType
	// Tensor returns what to save. It is called where the operation that saves
	// is added.
	Tensor func() tf.Output
}

// IteratorSaveable returns what saves how far an iterator of a graph's dataset
// is, with all that its transformations hold. The iterator is that of tf/ops/data, a resource;
// external says what happens if its functions have state that is not saved: 0
// warns, 1 is silent, 2 fails.
func IteratorSaveable(iterator tf.Output, external int) *Saveable {
	if iterator.IsZero() {
		return &Saveable{err: tf.Errorf(tf.InvalidArgument, "the iterator to save must be an output, got the zero Output")}
	}
	name := iterator.Operation().Name
	return &Saveable{
		Name: name, Device: iterator.Operation().Device,
		Specs: []SaveSpec{{Name: name + "_STATE", DType: tf.Variant, Tensor: func() tf.Output {
			return tf.Apply(nil, "SerializeIterator", []tf.Output{iterator}, tf.Attr("external_state_policy", external)).Output(0)
		}}},
		Restore: func(values []tf.Output) *tf.Operation {
			return tf.Apply(nil, "DeserializeIterator", []tf.Output{iterator, values[0]})
		},
	}
}

// An item is what a saver saves under one name: a variable, its parts, or a
// Saveable.
type item struct {
	name  string
	v     *tf.Variable // a variable or a part of one
	other *Saveable
}

// itemOf returns the item of s; that of nil is one that checkItems refuses.
func itemOf(s *Saveable) item {
	if s == nil {
		return item{}
	}
	return item{name: s.Name, other: s}
}

// itemsOf returns what o asks to save, in the order of names.
func itemsOf(g *tf.Graph, o *SaverOptions) ([]item, error) {
	var items []item
	if o.Named != nil || o.NamedParts != nil {
		items = append(namedItems(o.Named), namedParts(o.NamedParts)...)
	} else {
		items = listed(g, o)
	}
	for _, s := range o.Saveables {
		items = append(items, itemOf(s))
	}
	slices.SortStableFunc(items, func(a, b item) int { return strings.Compare(a.name, b.name) })
	return items, checkItems(g, items)
}

// scopeName is the form of names of scopes.
var scopeName = regexp.MustCompile(`^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$`)

// checkScope refuses a name that no scope can have before anything is added under it: the error of
// an operation would be that of the whole graph.
func (o *SaverOptions) checkScope(g *tf.Graph) error {
	if o.Name == "" || scopeName.MatchString(o.Name) || g.CurrentScope() != "" && scopeName.MatchString("x"+o.Name) {
		return nil
	}
	return author.Called(tf.Errorf(tf.InvalidArgument, "'%s' is not a valid scope name", o.Name))
}

func namedItems(vs map[string]*tf.Variable) (out []item) {
	for _, name := range slices.Sorted(maps.Keys(vs)) {
		out = append(out, item{name: name, v: vs[name]})
	}
	return out
}

func namedParts(vs map[string][]*tf.Variable) (out []item) {
	for _, name := range slices.Sorted(maps.Keys(vs)) {
		for _, v := range vs[name] {
			out = append(out, item{name: name, v: v})
		}
	}
	return out
}

// listed returns the items of Vars, or all that a graph has to save.
func listed(g *tf.Graph, o *SaverOptions) (out []item) {
	vs := o.Vars
	if len(vs) == 0 && len(o.Saveables) == 0 {
		vs = tf.Variables(g, tf.GlobalVariables)
		for _, x := range g.Collection(SaveableObjects) {
			if s, ok := x.(*Saveable); ok {
				out = append(out, itemOf(s))
			}
		}
	}
	for _, v := range vs {
		name := "" // of nil, which checkItems refuses
		if v != nil {
			name = wholeName(v)
		}
		out = append(out, item{name: name, v: v})
	}
	return out
}

// check refuses a Saveable that lacks what saves or restores.
func (s *Saveable) check() error {
	switch {
	case s == nil: // the item is a variable
		return nil
	case s.err != nil:
		return s.err
	case s.Restore == nil || slices.ContainsFunc(s.Specs, func(spec SaveSpec) bool { return spec.Tensor == nil }):
		return tf.Errorf(tf.InvalidArgument, "a Saveable needs Restore, and Tensor in each of its Specs: %q has a nil function", s.Name)
	}
	return nil
}

func noSaveable(name string) error {
	return tf.Errorf(tf.InvalidArgument, "a saver saves variables and Saveables, got nil for %q", name)
}

// checkItems refuses names that are taken twice and variables that have two.
func checkItems(g *tf.Graph, items []item) error {
	names := map[*tf.Variable]string{}
	for i, it := range items {
		if it.v == nil && it.other == nil {
			return noSaveable(it.name)
		}
		if err := it.other.check(); err != nil {
			return err
		}
		if it.v != nil && it.v.Graph() != g {
			return tf.Errorf(tf.InvalidArgument, "a saver's variables must belong to its graph, %s does not", it.v.Name())
		}
		if i > 0 && items[i-1].name == it.name && !it.besides(items[i-1]) {
			return tf.Errorf(tf.InvalidArgument, "At least two variables have the same name: %s", it.name)
		}
		if it.v == nil {
			continue
		}
		if other, twice := names[it.v]; twice {
			return tf.Errorf(tf.InvalidArgument, "The same saveable will be restored with two names: %s and %s", other, it.name)
		}
		names[it.v] = it.name
	}
	return nil
}

// besides reports whether it and other are parts of one variable.
func (it item) besides(other item) bool {
	if it.v == nil || other.v == nil {
		return false
	}
	a, b := it.v.Slice(), other.v.Slice()
	return a != nil && b != nil && a.FullName == b.FullName && a.FullShape.Equal(b.FullShape)
}

// specs returns the tensors of an item.
func (it item) specs() []SaveSpec {
	if it.v == nil {
		return it.other.Specs
	}
	value := it.v.Value
	if it.v.IsReference() {
		value = it.v.Handle
	}
	return []SaveSpec{{Name: it.name, Slice: sliceSpec(it.v.Slice()), DType: it.v.DType(), Tensor: value}}
}

// sliceSpec says in SaveV2's notation which part of a variable one is.
func sliceSpec(s *tf.SliceInfo) string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	for _, d := range s.FullShape {
		fmt.Fprintf(&b, "%d ", d)
	}
	for i := range s.Offset {
		if i > 0 {
			b.WriteByte(':')
		}
		if s.Shape[i] == 0 { // all of nothing: slices that are written with a length have one
			b.WriteByte('-')
			continue
		}
		fmt.Fprintf(&b, "%d,%d", s.Offset[i], s.Shape[i])
	}
	return b.String()
}

// restore adds what gives the item the values of its tensors.
func (it item) restore(values []tf.Output, reshape bool) *tf.Operation {
	if it.v == nil {
		return it.other.Restore(values)
	}
	return assign(it.v, values[0], reshape)
}

// device is where the item lives.
func (it item) device() string {
	if it.v == nil {
		return it.other.Device
	}
	return deviceOf(&it.v.Handle().Operation().Node)
}

func deviceOf(n *core.Node) string { return n.Device }
