package sparse

import (
	"cmp"
	"slices"

	"github.com/gorge-tf/gorge/internal/rows"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "SparseReorder", In: "input_indices: int64; input_values: T; input_shape: int64", Out: "output_indices: int64; output_values: T", Attrs: "T: type",
		Shape: reorderShape, Grad: tf.GradFunc(reorderGrad), Kernels: core.ByType("T", sameFor(computed(reorder), anything...)),
	})
}

// SparseReorder returns t with its indices in order, as most operations on
// sparse tensors want them. t has any type. Equal indices keep their order,
// and indices out of bounds are sorted too; the numbers in the shape do not
// matter. Parts that do not fit together are refused with INVALID_ARGUMENT,
// when the graph is built if their shapes are known, else in the step.
func SparseReorder(t Tensor, opts ...tf.Option) Tensor {
	op := tf.Apply(nil, "SparseReorder", flat(t), opts...)
	return Tensor{op.Output(0), op.Output(1), t.DenseShape}
}

func reorderShape(c *core.Infer) error {
	for i, rank := range []int{2, 1, 1} {
		s, err := c.Rank(i, rank)
		if err != nil {
			return err
		}
		if i < 2 {
			c.Set(i, s)
		}
	}
	return nil
}

// reorderGrad puts the gradients back to where the values have come from: it
// reorders their numbers.
func reorderGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	if dy[1].IsZero() {
		return make([]tf.Gradient, 3)
	}
	g := dy[1].Graph()
	zero, one := ops.Scalar(g, int32(0)), ops.Scalar(g, int32(1))
	numbers := ops.Range(nil, zero, ops.Size(op.Input(1)), one)
	from := SparseReorder(Tensor{op.Input(0), numbers, op.Input(2)}).Values
	return tf.Grads(tf.Output{}, ops.Gather(dy[1], ops.InvertPermutation(from), 0), tf.Output{})
}

func reorder(c *core.OpContext) error {
	t, err := unsized(c.Input(0), c.Input(1), c.Input(2))
	if err != nil {
		return err
	}
	order := t.order()
	if order == nil {
		c.Forward(0, 0)
		c.Forward(1, 1)
		return nil
	}
	return t.write(c, order)
}

// order returns the numbers of the values in the order of their indices, nil if
// they are in order.
func (t *coo) order() []int {
	compare := func(a, b int) int {
		return cmp.Or(compareIndices(t.index(a), t.index(b)), a-b)
	}
	sorted := true
	for i := 1; i < t.n && sorted; i++ {
		sorted = compare(i-1, i) < 0
	}
	if sorted {
		return nil
	}
	order := core.Make[int](t.n)
	for i := range order {
		order[i] = i
	}
	if checkSizes(t.shape) != nil || !t.inside() { // places could overflow
		slices.SortFunc(order, compare)
		return order
	}
	t.sortByPlace(order)
	return order
}

// sort puts t, which is the caller's own, in the order of its indices.
func (t *coo) sort() {
	order := t.order()
	if order == nil {
		return
	}
	at, vals := core.Make[int64](len(t.at))[:0], core.NewTensor(t.values.DType(), t.values.Shape())
	put := rows.Mover(vals, t.values)
	for k, i := range order {
		at = append(at, t.index(i)...)
		put(k, i, 1)
	}
	t.at, t.values = at, vals
}

// inside reports whether all indices lie within the shape.
func (t *coo) inside() bool {
	for i := range t.n {
		if !within(t.index(i), t.shape) {
			return false
		}
	}
	return true
}

// A placed is a value's place in a dense tensor, and its number.
type placed struct{ place, i int }

// sortByPlace sorts the numbers of values by where the values lie in a dense
// tensor, which is faster than to compare indices.
func (t *coo) sortByPlace(order []int) {
	items := core.Make[placed](len(order))
	most := 0
	for i := range items {
		items[i] = placed{offset(t.index(i), t.shape), i}
		most = max(most, items[i].place)
	}
	if len(items) < digitsLeast {
		slices.SortFunc(items, func(a, b placed) int { return cmp.Or(cmp.Compare(a.place, b.place), a.i-b.i) })
	} else {
		items = sortByDigits(items, most)
	}
	for k, x := range items {
		order[k] = x.i
	}
}

// digitsLeast items are sorted sooner by digits than by comparing them.
const digitsLeast = 512

// sortByDigits sorts items by places up to most, digit by digit from the last, and keeps the
// order of equal ones. It returns them where they have come to lie.
func sortByDigits(items []placed, most int) []placed {
	const digit = 10 // bits: as many counts stay in the cache
	other := core.Make[placed](len(items))
	for shift := 0; most>>shift > 0; shift += digit {
		var ends [1 << digit]int
		for _, x := range items {
			ends[uint(x.place)>>shift%uint(len(ends))]++
		}
		sum := 0
		for i, n := range ends {
			ends[i] = sum
			sum += n
		}
		for _, x := range items {
			at := &ends[uint(x.place)>>shift%uint(len(ends))]
			other[*at] = x
			*at++
		}
		items, other = other, items
	}
	return items
}

// write makes indices and values of t, those of the numbers given, outputs 0
// and 1.
func (t *coo) write(c *core.OpContext, order []int) error {
	at, err := c.Alloc(0, tf.Int64, tf.Shape{len(order), t.rank})
	if err != nil {
		return err
	}
	vals, err := c.Alloc(1, t.values.DType(), tf.Shape{len(order)})
	if err != nil {
		return err
	}
	dst, put := core.Data[int64](at), rows.Mover(vals, t.values)
	for k, i := range order {
		copy(dst[k*t.rank:(k+1)*t.rank], t.index(i))
		put(k, i, 1)
	}
	return nil
}
