package sparse

import (
	"cmp"
	"strings"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const types = "T: {int8, int16, int32, int64, uint8, uint16, string}"
	const result = "result_indices: int64; result_values: T; result_shape: int64"
	core.Register(core.OpDef{
		Name: "SetSize", In: "set_indices: int64; set_values: T; set_shape: int64", Out: "size: int32", Attrs: "validate_indices: bool = true; " + types,
		Shape: func(*core.Infer) error { return nil }, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", byType{
			tf.Int8: setSize[int8], tf.Int16: setSize[int16], tf.Int32: setSize[int32], tf.Int64: setSize[int64],
			tf.Uint8: setSize[uint8], tf.Uint16: setSize[uint16], tf.String: setSize[string],
		}),
	})
	dense := func(name string) string { return name + ": T" }
	sparse := func(name string) string {
		return name + "_indices: int64; " + name + "_values: T; " + name + "_shape: int64"
	}
	for _, op := range []struct {
		name, in string
		operands operands
	}{
		{"DenseToDense", dense("set1") + "; " + dense("set2"), operands{{0, false}, {1, false}}},
		{"DenseToSparse", dense("set1") + "; " + sparse("set2"), operands{{0, false}, {1, true}}},
		{"SparseToSparse", sparse("set1") + "; " + sparse("set2"), operands{{0, true}, {3, true}}},
	} {
		core.Register(core.OpDef{
			Name: op.name + "SetOperation", In: op.in, Out: result, Attrs: "set_operation: string; validate_indices: bool = true; " + types,
			Shape: op.operands.infer, NoGrad: core.NotDifferentiable,
			Kernels: core.ByType("T", byType{
				tf.Int8: setKernel[int8](op.operands), tf.Int16: setKernel[int16](op.operands), tf.Int32: setKernel[int32](op.operands),
				tf.Int64: setKernel[int64](op.operands), tf.Uint8: setKernel[uint8](op.operands), tf.Uint16: setKernel[uint16](op.operands),
				tf.String: setKernel[string](op.operands),
			}),
		})
	}
}

// SetOpts is the optional attribute of the operations on sets: Unchecked
// indices are not checked to ascend, which makes results of some that do not
// meaningless.
type SetOpts struct{ Unchecked bool }

// Apply sets the attributes.
func (o SetOpts) Apply(s *tf.Spec) { s.Set("validate_indices", !o.Unchecked) }

// SetSize returns how many different values each set has, int32. The sets are
// what lies along the last dimension of a sparse tensor of rank 2 or more.
// They have int8, int16, int32, int64, uint8, uint16 or string elements; the
// result has the shape of set without the last dimension. Parts that do not
// fit together, a lower rank, and indices out of order or bounds fail with
// INVALID_ARGUMENT in the step; with Unchecked indices out of bounds fail
// with INTERNAL. Its options are [SetOpts].
func SetSize(set Tensor, opts ...tf.Option) tf.Output {
	return apply("SetSize", opts, flat(set)...)
}

// DenseToDenseSetOperation computes with the sets along the last dimension of
// a and b, tensors of integers or strings of equal shape but for that:
// operation is "a-b", "b-a", "intersection" or "union". The sets of the
// result ascend. Both have one type: int8, int16, int32, int64, uint8, uint16
// or string. Ranks below 2, and shapes that differ, are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step; another operation fails with it in the step.
// Its options are [SetOpts].
func DenseToDenseSetOperation(a, b tf.Output, operation string, opts ...tf.Option) Tensor {
	return setOperation("DenseToDense", operation, opts, a, b)
}

// DenseToSparseSetOperation is DenseToDenseSetOperation for a sparse b.
// Indices of b that are out of order or bounds fail with INVALID_ARGUMENT in
// the step; other errors are the same. Its options are [SetOpts].
func DenseToSparseSetOperation(a tf.Output, b Tensor, operation string, opts ...tf.Option) Tensor {
	return setOperation("DenseToSparse", operation, opts, append([]tf.Output{a}, flat(b)...)...)
}

// SparseToSparseSetOperation is DenseToDenseSetOperation for sparse tensors.
// Indices that are out of order or bounds fail with INVALID_ARGUMENT in the
// step; other errors are the same. Its options are [SetOpts].
func SparseToSparseSetOperation(a, b Tensor, operation string, opts ...tf.Option) Tensor {
	return setOperation("SparseToSparse", operation, opts, flat(a, b)...)
}

func setOperation(op, operation string, opts []tf.Option, in ...tf.Output) Tensor {
	return tensorOf(tf.Apply(nil, op+"SetOperation", in, tf.Join(opts, tf.Attr("set_operation", operation))...))
}

// operands says where the two operands of a set operation begin among the
// inputs, and whether they are sparse.
type operands [2]struct {
	at     int
	sparse bool
}

// infer gives the result the rank that both operands have.
func (o operands) infer(c *core.Infer) error {
	rank := -1
	for i, x := range o {
		r, err := -1, error(nil)
		if x.sparse {
			r, err = knownRank(c, x.at)
		} else if s := c.In(x.at); s != nil {
			r = len(s)
		}
		if err != nil {
			return err
		}
		if r >= 0 && r < 2 {
			return invalid("Input %d, expected rank >= 2, got %d.", i, r)
		}
		if rank, err = mergeDim(rank, r); err != nil {
			return err
		}
	}
	if a, b := c.In(0), c.In(1); !o[1].sparse && a != nil && b != nil {
		if n := rank - 1; !a[:n].Compatible(b[:n]) {
			return invalid("Shapes must be equal but for the last dimension: %v and %v", a, b)
		}
	}
	setSparse(c, 0, rank)
	return nil
}

// A selection says which elements of two sets are in the result: those of one
// only, and those of both.
type selection struct{ a, b, both bool }

func newSelection(operation string) (selection, error) {
	switch strings.ToLower(operation) {
	case "a-b":
		return selection{a: true}, nil
	case "b-a":
		return selection{b: true}, nil
	case "intersection":
		return selection{both: true}, nil
	case "union":
		return selection{true, true, true}, nil
	}
	return selection{}, invalid("Invalid set_operation %s.", operation)
}

// combine appends to dst what is selected from two sets, which ascend.
func combine[T cmp.Ordered](s selection, dst, a, b []T) []T {
	for len(a) > 0 && len(b) > 0 {
		order := cmp.Compare(a[0], b[0])
		if order < 0 && s.a || order == 0 && s.both {
			dst = append(dst, a[0])
		} else if order > 0 && s.b {
			dst = append(dst, b[0])
		}
		if order <= 0 {
			a = a[1:]
		}
		if order >= 0 {
			b = b[1:]
		}
	}
	if s.a {
		dst = append(dst, a...)
	}
	if s.b {
		dst = append(dst, b...)
	}
	return dst
}
