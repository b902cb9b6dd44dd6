package ops

import (
	"math/bits"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "ListDiff", In: "x: T; y: T", Out: "out: T; idx: out_idx", Attrs: "T: type; out_idx: {int32, int64} = int32",
		Shape: listDiffShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", byType{
			tf.Float32: listDiff(missing[float32]), tf.Float64: listDiff(missing[float64]),
			tf.Float16: listDiff(missingHalves[tf.Half]), tf.BFloat16: listDiff(missingHalves[tf.BF16]),
			tf.Int8: listDiff(missing[int8]), tf.Int16: listDiff(missing[int16]), tf.Int32: listDiff(missingInts[int32]), tf.Int64: listDiff(missingInts[int64]),
			tf.Uint8: listDiff(missing[uint8]), tf.Uint16: listDiff(missing[uint16]), tf.Uint32: listDiff(missing[uint32]), tf.Uint64: listDiff(missing[uint64]),
			tf.String: listDiff(missing[string]),
		}),
	})
}

// ListDiffOpts are the optional attributes of ListDiff: the type of the
// positions, int32 unless OutIdx says int64.
type ListDiffOpts struct{ OutIdx tf.DType }

// Apply sets the attributes.
func (o ListDiffOpts) Apply(s *tf.Spec) {
	if o.OutIdx != tf.Invalid {
		s.Set("out_idx", o.OutIdx)
	}
}

// ListDiff returns the elements of vector x that are not in vector y, in
// order, and their positions in x. Its options are [ListDiffOpts]. Elements
// that occur repeatedly in x stay so. x and y have one type: integers,
// floating-point numbers (float16, bfloat16, float32, float64) or strings.
// Arguments that are no vectors are refused with INVALID_ARGUMENT, when the
// graph is built if they are known, else in the step.
func ListDiff(x, y tf.Output, opts ...tf.Option) (out, idx tf.Output) {
	ys := outputs(2, "ListDiff", opts, x, y)
	return ys[0], ys[1]
}

func listDiffShape(c *core.Infer) error {
	for i := range 2 {
		if _, err := c.Rank(i, 1); err != nil {
			return err
		}
		c.Set(i, tf.Shape{-1})
	}
	return nil
}

// listDiff makes the kernel of a type from what appends to at where the elements of x are that are
// not in y.
func listDiff[T tf.Elem](missing func(at []int, x, y []T) []int) core.NewKernel {
	return func(n *core.Node) (core.Kernel, error) {
		d := n.Type("out_idx")
		return core.Compute(func(c *core.OpContext) error {
			for i, name := range []string{"x", "y"} {
				if s := c.Input(i).Shape(); len(s) != 1 {
					return tf.Errorf(tf.InvalidArgument, "%s should be a 1D vector.", name)
				}
			}
			x := core.Data[T](c.Input(0))
			at := missing(core.Borrow[int](c, len(x))[:0], x, core.Data[T](c.Input(1)))
			out, err := c.Alloc(0, c.Input(0).DType(), tf.Shape{len(at)})
			if err != nil {
				return err
			}
			for i, from := range at {
				core.Data[T](out)[i] = x[from]
			}
			return allocInts(c, 1, d, at)
		}), nil
	}
}

func missing[T comparable](at []int, x, y []T) []int {
	in := make(map[T]bool, len(y))
	for _, v := range y {
		in[v] = true
	}
	for i, v := range x {
		if !in[v] {
			at = append(at, i)
		}
	}
	return at
}

func missingHalves[H tf.Half | tf.BF16](at []int, x, y []H) []int {
	ids := halfIDs(slices.Concat(x, y))
	return missingInts(at, ids[:len(x)], ids[len(x):])
}

// missingInts finds what is in y by a table with open addressing, of twice as many places at least. A
// place has a number, 0 if it is empty: whether y has 0 is known apart.
func missingInts[T int32 | int64](at []int, x, y []T) []int {
	size, zero := 1<<bits.Len(uint(2*len(y))), false
	table, loan := core.Lend[T](size)
	clear(table)
	for _, v := range y {
		table[placeOf(table, v)] = v
		zero = zero || v == 0
	}
	for i, v := range x {
		if v == 0 && !zero || v != 0 && table[placeOf(table, v)] == 0 {
			at = append(at, i)
		}
	}
	loan.Return()
	return at
}

// placeOf returns where v is in the table, or is to be put.
func placeOf[T int32 | int64](table []T, v T) int {
	high, low := bits.Mul64(uint64(v)^uniqueSecrets[0], uniqueSecrets[1])
	at := int(high^low) & (len(table) - 1)
	for table[at] != 0 && table[at] != v {
		at = (at + 1) & (len(table) - 1)
	}
	return at
}
