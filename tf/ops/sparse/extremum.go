package sparse

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const in = "a_indices: int64; a_values: T; a_shape: int64; b_indices: int64; b_values: T; b_shape: int64"
	extremum := func(name, types string, kernels byType) {
		core.Register(core.OpDef{
			Name: name, In: in, Out: "output_indices: int64; output_values: T", Attrs: "T: " + types,
			Shape: extremumShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", kernels),
		})
	}
	extremum("SparseSparseMaximum", "realnumbertype", byType{
		tf.Float32: extreme(greater[float32]), tf.Float64: extreme(greater[float64]), tf.Float16: extreme(greater[float32]), tf.BFloat16: extreme(greater[float32]),
		tf.Int8: extreme(greater[int8]), tf.Int16: extreme(greater[int16]), tf.Int32: extreme(greater[int32]), tf.Int64: extreme(greater[int64]),
		tf.Uint8: extreme(greater[uint8]), tf.Uint16: extreme(greater[uint16]), tf.Uint32: extreme(greater[uint32]), tf.Uint64: extreme(greater[uint64]),
	})
	extremum("SparseSparseMinimum", "numbertype", byType{
		tf.Float32: extreme(lesser[float32]), tf.Float64: extreme(lesser[float64]), tf.Float16: extreme(lesser[float32]), tf.BFloat16: extreme(lesser[float32]),
		tf.Int8: extreme(lesser[int8]), tf.Int16: extreme(lesser[int16]), tf.Int32: extreme(lesser[int32]), tf.Int64: extreme(lesser[int64]),
		tf.Uint8: extreme(lesser[uint8]), tf.Uint16: extreme(lesser[uint16]), tf.Uint32: extreme(lesser[uint32]), tf.Uint64: extreme(lesser[uint64]),
	})
}

// SparseSparseMaximum returns the greater of the elements of two sparse
// tensors of equal shape, with indices in order, wherever one of them has a
// value. Both have one integer or floating-point type. What has a value in
// one of them only is compared with 0, and NaN is the result where one is NaN. Parts that do not fit together are
// refused with INVALID_ARGUMENT, when the graph is built if their shapes are
// known, else in the step. Different shapes and indices out of bounds fail
// with INVALID_ARGUMENT in the step; that indices are in order is not
// checked.
func SparseSparseMaximum(a, b Tensor, opts ...tf.Option) Tensor {
	return extremumOf("SparseSparseMaximum", a, b, opts)
}

// SparseSparseMinimum is SparseSparseMaximum for the lesser of the elements.
// Types, shapes and errors are the same.
func SparseSparseMinimum(a, b Tensor, opts ...tf.Option) Tensor {
	return extremumOf("SparseSparseMinimum", a, b, opts)
}

func extremumOf(op string, a, b Tensor, opts []tf.Option) Tensor {
	o := tf.Apply(nil, op, flat(a, b), opts...)
	return Tensor{o.Output(0), o.Output(1), a.DenseShape}
}

func extremumShape(c *core.Infer) error {
	for i, rank := range []int{2, 1, 1, 2, 1, 1} {
		if _, err := c.Rank(i, rank); err != nil {
			return err
		}
	}
	c.Set(0, tf.Shape{-1, -1})
	c.Set(1, tf.Shape{-1})
	return nil
}

func greater[T realNumber](a, b T) T {
	if b > a || b != b {
		return b
	}
	return a
}

func lesser[T realNumber](a, b T) T {
	if b < a || b != b {
		return b
	}
	return a
}

// extreme makes the kernel that chooses between elements.
func extreme[T realNumber](choose func(a, b T) T) core.NewKernel {
	return computed(func(c *core.OpContext) error {
		a, err := bounded(c.Input(0), c.Input(1), c.Input(2))
		if err != nil {
			return err
		}
		b, err := bounded(c.Input(3), c.Input(4), c.Input(5))
		if err != nil {
			return err
		}
		if err := equalShapes(c); err != nil {
			return err
		}
		var out union[T]
		x, y := values[T](a.values), values[T](b.values)
		merge(a, b, func(i, j int) {
			switch {
			case j < 0:
				out.add(a.index(i), choose(x[i], 0))
			case i < 0:
				out.add(b.index(j), choose(0, y[j]))
			default:
				out.add(a.index(i), choose(x[i], y[j]))
			}
		})
		return out.write(c, a.values.DType(), a.rank)
	})
}
