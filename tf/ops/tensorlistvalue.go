package ops

import (
	"slices"
	"sync/atomic"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A tensorList is the value of a list of tensors of one type, as a Variant
// holds it. It does not change: ops make other lists. An element that is nil
// has not been set.
type tensorList struct {
	elem  tf.DType
	shape tf.Shape // what all elements have in common
	limit int      // how many there may be; -1: any number
	items []*core.Tensor
	used  *atomic.Int64 // how much of the memory of items some list has
}

func newList(elem tf.DType, shape tf.Shape, items []*core.Tensor) *tensorList {
	l := &tensorList{elem: elem.Base(), shape: shape, limit: -1, items: items, used: new(atomic.Int64)}
	l.used.Store(int64(len(items)))
	return l
}

// with returns a list like l of other elements.
func (l *tensorList) with(items []*core.Tensor) *tensorList {
	n := newList(l.elem, l.shape, items)
	n.limit = l.limit
	return n
}

// push returns l with one more element. Lists that grow out of each other
// share memory: the first to push has the place behind the last element, another
// one makes a copy.
func (l *tensorList) push(t *core.Tensor) *tensorList {
	n := len(l.items)
	if !l.used.CompareAndSwap(int64(n), int64(n+1)) {
		return l.with(append(slices.Clone(l.items), t))
	}
	p := *l
	p.items = append(l.items, t)
	return &p
}

// pop returns l without its last element.
func (l *tensorList) pop() *tensorList {
	p := *l
	p.items = l.items[:len(l.items)-1]
	return &p
}

// set returns l with element i replaced.
func (l *tensorList) set(i int, t *core.Tensor) *tensorList {
	items := slices.Clone(l.items)
	items[i] = t
	return l.with(items)
}

// keep returns t as an element: lists are Go objects, so its memory must not go
// back to a pool.
func keep(t *core.Tensor) *core.Tensor { return t.Share().Escape() }

// variantOf returns a scalar that holds v.
func variantOf(v any) *core.Tensor {
	t := core.NewTensor(tf.Variant, tf.Shape{})
	t.Variants()[0].Value = v
	return t
}

// listInput returns the list that input i holds.
func listInput(c *core.OpContext, i int) (*tensorList, error) {
	t := c.Input(i)
	if t.Rank() != 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Input list must be a scalar saw: %s", t.Shape().String())
	}
	return asList(t.Variants()[0])
}

func asList(v core.VariantValue) (*tensorList, error) {
	if l, ok := v.Value.(*tensorList); ok {
		return l, nil
	}
	return nil, tf.Errorf(tf.InvalidArgument, "Input handle is not a list. Saw: '%T'", v.Value)
}

// listOf is listInput for an op that declares what the elements are.
func listOf(c *core.OpContext, i int, elem tf.DType) (*tensorList, error) {
	l, err := listInput(c, i)
	if err == nil && l.elem != elem.Base() {
		err = tf.Errorf(tf.InvalidArgument, "Invalid data types; op elements %s but list elements %s", elem.CName(), l.elem.CName())
	}
	return l, err
}

// partialShape reads an element shape: a vector of sizes, of which -1 is not
// known, or the scalar -1, of which nothing is.
func partialShape(t *core.Tensor) (tf.Shape, error) {
	v, err := t.Ints()
	if err != nil {
		return nil, err
	}
	if t.Rank() == 0 {
		if v[0] == -1 {
			return nil, nil
		}
		return nil, tf.Errorf(tf.InvalidArgument, "The only valid scalar shape tensor is the fully unknown shape specified as -1.")
	}
	if t.Rank() > 1 {
		return nil, tf.Errorf(tf.InvalidArgument, "Shape must be at most rank 1 but is rank %d", t.Rank())
	}
	for _, d := range v {
		if d < -1 {
			return nil, tf.Errorf(tf.InvalidArgument, "Dimension %d must be >= -1", d)
		}
	}
	return append(tf.Shape{}, v...), nil
}

// elementShape returns the shape that input i asks for, merged with what the
// list says of its elements.
func elementShape(c *core.OpContext, i int, l *tensorList) (tf.Shape, error) {
	s, err := partialShape(c.Input(i))
	if err != nil {
		return nil, err
	}
	m, ok := s.Merge(l.shape)
	if !ok {
		return nil, mergeError(s, l.shape)
	}
	return m, nil
}

// mergeError tells that no shape is both a and b.
func mergeError(a, b tf.Shape) error {
	if len(a) != len(b) {
		return tf.Errorf(tf.InvalidArgument, "PartialTensorShape: Incompatible ranks during merge: %d vs. %d", len(a), len(b))
	}
	return tf.Errorf(tf.InvalidArgument, "PartialTensorShape: Incompatible shapes during merge: %s vs. %s", a.String(), b.String())
}

// commonShape merges the shapes of all items that are set into s.
func commonShape(s tf.Shape, items []*core.Tensor) (tf.Shape, error) {
	for _, t := range items {
		if t == nil {
			continue
		}
		m, ok := s.Merge(t.Shape())
		if !ok {
			return nil, mergeError(s, t.Shape())
		}
		s = m
	}
	return s, nil
}

// zerosTensor returns zeros.
func zerosTensor(d tf.DType, s tf.Shape) (*core.Tensor, error) {
	if err := core.CheckSize(d, s); err != nil {
		return nil, err
	}
	return core.NewTensor(d, s), nil
}

// copyElements copies n elements of src, from the given one on, to dst, of the
// same type.
func copyElements(dst *core.Tensor, at int, src *core.Tensor, from, n int) {
	switch {
	case dst.Buffer() != nil:
		size := dst.DType().Size()
		copy(dst.Buffer().Bytes()[at*size:(at+n)*size], src.Buffer().Bytes()[from*size:(from+n)*size])
	case dst.DType() == tf.String:
		copy(core.Data[string](dst)[at:at+n], core.Data[string](src)[from:from+n])
	case dst.DType() == tf.Resource:
		copy(dst.Handles()[at:at+n], src.Handles()[from:from+n])
	default:
		copy(dst.Variants()[at:at+n], src.Variants()[from:from+n])
	}
}

// cutOut returns elements of t from the given one on as a tensor of shape s.
func cutOut(t *core.Tensor, from int, s tf.Shape) *core.Tensor {
	p := core.NewTensor(t.DType(), s)
	copyElements(p, 0, t, from, s.NumElements())
	return p
}

// rowTensors splits t along its first dimension.
func rowTensors(t *core.Tensor) []*core.Tensor {
	s := t.Shape()[1:]
	out := make([]*core.Tensor, t.Dim(0))
	for i := range out {
		out[i] = cutOut(t, i*s.NumElements(), s)
	}
	return out
}

// zeros returns a list of zeros like l's elements.
func (l *tensorList) zeros() (*tensorList, error) {
	items := make([]*core.Tensor, len(l.items))
	for i, t := range l.items {
		if t != nil {
			items[i] = core.NewTensor(t.DType(), t.Shape())
			if err := zeroVariants(items[i], t); err != nil {
				return nil, err
			}
		}
	}
	return l.with(items), nil
}

// zeroVariants makes the elements of dst zeros like those of src, if they are
// variants.
func zeroVariants(dst, src *core.Tensor) error {
	if src.DType() != tf.Variant {
		return nil
	}
	for i, v := range src.Variants() {
		z, err := zeroVariant(v)
		if err != nil {
			return err
		}
		dst.Variants()[i].Value = z
	}
	return nil
}

// zeroVariant returns a zero like v.
func zeroVariant(v core.VariantValue) (any, error) {
	switch x := v.Value.(type) {
	case *tensorList:
		return x.zeros()
	case *optional:
		return x.zeros()
	case Summable:
		return x.Zero(), nil
	case *tensorMap:
		return newMap(), nil
	case *pb.VariantTensorDataProto:
		if _, ok := isPrimitive(x); ok {
			return zeroPrimitive(x), nil
		}
	}
	return nil, tf.Errorf(tf.Internal, "No unary variant unary_op function found for op ZEROS_LIKE Variant type_name: %T", v.Value)
}
