package sparse

import (
	"cmp"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// setElem is what sets are of.
type setElem interface {
	tf.Elem
	cmp.Ordered
}

// A setReader reads the sets of a tensor one after the other.
type setReader[T setElem] struct {
	shape tf.Shape
	key   []int64 // of the set: its indices but for the last dimension
	set   []T     // which ascends
	// advance puts the next key and its values, in any order, into the reader;
	// false at the end.
	advance func(r *setReader[T]) bool
	ended   bool
}

// next goes to the next set.
func (r *setReader[T]) next() {
	if r.ended = !r.advance(r); !r.ended {
		slices.Sort(r.set)
		r.set = slices.Compact(r.set)
	}
}

// denseSets reads the rows of a dense tensor.
func denseSets[T setElem](t *core.Tensor) *setReader[T] {
	data, i := core.Data[T](t), 0
	s := t.Shape()
	width, rows := s[len(s)-1], s[:len(s)-1].NumElements()
	r := &setReader[T]{shape: s, key: make([]int64, len(s)-1)}
	r.advance = func(r *setReader[T]) bool {
		if i == rows {
			return false
		}
		if i > 0 {
			increment(r.key, s)
		}
		r.set = append(r.set[:0], data[i*width:(i+1)*width]...)
		i++
		return true
	}
	return r
}

// increment makes an index into the first dimensions of s the next one.
func increment(at []int64, s tf.Shape) {
	for k := len(at) - 1; k >= 0; k-- {
		if at[k]++; at[k] < int64(s[k]) {
			return
		}
		at[k] = 0
	}
}

// sparseSets reads the groups of a sparse tensor that differ in the last index
// only.
func sparseSets[T setElem](t *coo) *setReader[T] {
	data, i := core.Data[T](t.values), 0
	r := &setReader[T]{shape: t.shape}
	r.advance = func(r *setReader[T]) bool {
		if i == t.n {
			return false
		}
		r.set = r.set[:0]
		for r.key = t.index(i)[:t.rank-1]; i < t.n && slices.Equal(t.index(i)[:t.rank-1], r.key); i++ {
			r.set = append(r.set, data[i])
		}
		return true
	}
	return r
}

// sparseOperand reads the sets of the sparse tensor in inputs i to i+2.
func sparseOperand[T setElem](c *core.OpContext, i int, validate bool) (*setReader[T], error) {
	t, err := groupedInput(c, i, validate)
	if err != nil {
		return nil, err
	}
	return sparseSets[T](t), nil
}

// groupedInput reads a sparse tensor whose last dimension has the sets.
func groupedInput(c *core.OpContext, i int, validate bool) (*coo, error) {
	if s := c.Input(i + 2); s.Rank() == 1 && s.Len() < 2 {
		return nil, invalid("Invalid rank %d.", s.Len())
	}
	t, err := inputCOO(c, i)
	if err != nil {
		return nil, err
	}
	if validate {
		return t, t.valid()
	}
	for k := range t.n {
		for d, at := range t.index(k) {
			if uint64(at) >= uint64(t.shape[d]) {
				return nil, tf.Errorf(tf.Internal, "indices[%d, %d] expected < %d, got %d.", k, d, t.shape[d], at)
			}
		}
	}
	return t, nil
}

func setSize[T setElem](n *core.Node) (core.Kernel, error) {
	validate := n.Bool("validate_indices")
	return core.Compute(func(c *core.OpContext) error {
		r, err := sparseOperand[T](c, 0, validate)
		if err != nil {
			return err
		}
		s := r.shape[:len(r.shape)-1]
		out, err := c.Alloc(0, tf.Int32, s)
		if err != nil {
			return err
		}
		count := core.Data[int32](out)
		clear(count)
		for r.next(); !r.ended; r.next() {
			count[offset(r.key, s)] = int32(len(r.set))
		}
		return nil
	}), nil
}

// offset returns where in a dense tensor of shape s an index points to.
func offset(at []int64, s tf.Shape) int {
	n := 0
	for k, v := range at {
		n = n*s[k] + int(v)
	}
	return n
}

// setKernel makes the kernel of a set operation.
func setKernel[T setElem](o operands) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		s, err := newSelection(n.Str("set_operation"))
		if err != nil {
			return nil, err
		}
		validate := n.Bool("validate_indices")
		return core.Compute(func(c *core.OpContext) error {
			a, err := operand[T](c, o[0].at, o[0].sparse, validate)
			if err != nil {
				return err
			}
			b, err := operand[T](c, o[1].at, o[1].sparse, validate)
			if err != nil {
				return err
			}
			if err := checkOperands(a.shape, b.shape); err != nil {
				return err
			}
			return mergeSets(s, a, b).write(c)
		}), nil
	}
}

func operand[T setElem](c *core.OpContext, i int, sparse, validate bool) (*setReader[T], error) {
	if sparse {
		return sparseOperand[T](c, i, validate)
	}
	if c.Input(i).Rank() < 2 {
		s := c.Input(i).Shape()
		return nil, invalid("Shape %s has rank %d < 2", s.String(), len(s))
	}
	return denseSets[T](c.Input(i)), nil
}

// checkOperands wants shapes that are equal but for the last dimension.
func checkOperands(a, b tf.Shape) error {
	if g, h := a[:len(a)-1], b[:len(b)-1]; !g.Equal(h) {
		return invalid("Mismatched shapes %s vs %s", g.String(), h.String())
	}
	return nil
}

// A setList is the result of a set operation.
type setList[T setElem] struct {
	group  tf.Shape
	at     []int64
	values []T
	most   int // elements of a set
}

// mergeSets combines the sets that a and b have under equal keys.
func mergeSets[T setElem](s selection, a, b *setReader[T]) *setList[T] {
	l := &setList[T]{group: a.shape[:len(a.shape)-1]}
	a.next()
	b.next()
	for !a.ended || !b.ended {
		var left, right []T
		order := compareKeys(a, b)
		key := a.key
		if order <= 0 {
			left = a.set
		}
		if order >= 0 {
			right, key = b.set, b.key
		}
		from := len(l.values)
		l.values = combine(s, l.values, left, right)
		l.addIndices(key, len(l.values)-from)
		if order <= 0 {
			a.next()
		}
		if order >= 0 {
			b.next()
		}
	}
	return l
}

// compareKeys tells which of two readers is at the first set.
func compareKeys[T setElem](a, b *setReader[T]) int {
	switch {
	case b.ended:
		return -1
	case a.ended:
		return 1
	}
	return slices.Compare(a.key, b.key)
}

// addIndices adds the indices of a set of n elements.
func (l *setList[T]) addIndices(key []int64, n int) {
	for i := range n {
		l.at = append(append(l.at, key...), int64(i))
	}
	l.most = max(l.most, n)
}

// write makes the list the outputs of a kernel.
func (l *setList[T]) write(c *core.OpContext) error {
	shape := append(l.group.Clone(), l.most)
	if err := allocInts(c, 0, tf.Shape{len(l.values), len(shape)}, l.at); err != nil {
		return err
	}
	v, err := c.Alloc(1, tf.TypeOf[T](), tf.Shape{len(l.values)})
	if err != nil {
		return err
	}
	copy(core.Data[T](v), l.values)
	return allocShape(c, 2, shape)
}
