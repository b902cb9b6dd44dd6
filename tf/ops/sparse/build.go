package sparse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// byType lists the kernels of an op by type.
type byType = map[tf.DType]core.NewKernel

// The types that kernels serve.
var (
	integers = []tf.DType{tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64}
	reals    = slices.Concat(integers, []tf.DType{tf.Float16, tf.BFloat16, tf.Float32, tf.Float64})
	numbers  = slices.Concat(reals, []tf.DType{tf.Complex64, tf.Complex128})
	anything = slices.Concat(numbers, []tf.DType{tf.Bool, tf.String, tf.Resource, tf.Variant})
)

// sameFor returns the kernels of an op that one factory serves for all types
// given.
func sameFor(k core.NewKernel, types ...tf.DType) byType {
	by := byType{}
	for _, d := range types {
		by[d] = k
	}
	return by
}

// computed makes a kernel that reads no attributes beforehand.
func computed(run func(*core.OpContext) error) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) { return core.Compute(run), nil }
}

// apply adds an operation to the graph of its inputs.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}

// values returns the elements of t as a slice of T: its memory if they are of
// that type; float16 and bfloat16 are computed in float32.
func values[T tf.Elem](t *core.Tensor) []T {
	switch t.DType() {
	case tf.Float16:
		return cast[T](core.Data[tf.Half](t))
	case tf.BFloat16:
		return cast[T](core.Data[tf.BF16](t))
	}
	return core.Data[T](t)
}

func cast[T, S tf.Elem](src []S) []T {
	dst := core.Make[T](len(src))
	elementwise.Cast(dst, src)
	return dst
}

// result makes output i, of the type of like, and returns a slice of T to
// compute it in and what stores that.
func result[T tf.Elem](c *core.OpContext, i int, d tf.DType, s tf.Shape) ([]T, func(), error) {
	t, err := c.Alloc(i, d, s)
	if err != nil {
		return nil, nil, err
	}
	switch d {
	case tf.Float16:
		x := core.Make[T](t.Len())
		return x, func() { elementwise.Cast(core.Data[tf.Half](t), x) }, nil
	case tf.BFloat16:
		x := core.Make[T](t.Len())
		return x, func() { elementwise.Cast(core.Data[tf.BF16](t), x) }, nil
	}
	return core.Data[T](t), func() {}, nil
}

// allocInts makes output i a tensor of v.
func allocInts(c *core.OpContext, i int, s tf.Shape, v []int64) error {
	t, err := c.Alloc(i, tf.Int64, s)
	if err == nil {
		copy(core.Data[int64](t), v)
	}
	return err
}

// allocShape makes output i a vector of the sizes in s.
func allocShape(c *core.OpContext, i int, s tf.Shape) error {
	t, err := c.Alloc(i, tf.Int64, tf.Shape{len(s)})
	if err != nil {
		return err
	}
	for k, d := range s {
		core.Data[int64](t)[k] = int64(d)
	}
	return nil
}
