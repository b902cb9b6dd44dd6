package sparse

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
)

// byType lists the kernels of an op by type.
type byType = map[tf.DType]tf.NewKernel

// The types that kernels serve.
var (
	integers = []tf.DType{tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64}
	reals    = slices.Concat(integers, []tf.DType{tf.Float16, tf.BFloat16, tf.Float32, tf.Float64})
	numbers  = slices.Concat(reals, []tf.DType{tf.Complex64, tf.Complex128})
	anything = slices.Concat(numbers, []tf.DType{tf.Bool, tf.String, tf.Resource, tf.Variant})
)

// sameFor returns the kernels of an op that one factory serves for all types
// given.
func sameFor(k tf.NewKernel, types ...tf.DType) byType {
	by := byType{}
	for _, d := range types {
		by[d] = k
	}
	return by
}

// computed makes a kernel that reads no attributes beforehand.
func computed(run func(*tf.OpContext) error) tf.NewKernel {
	return func(*tf.Node) (tf.Kernel, error) { return tf.Compute(run), nil }
}

// apply adds an operation to the graph of its inputs.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// attrs puts options that a Go function sets before those of its caller.
func attrs(caller []tf.Option, own ...tf.Option) []tf.Option { return append(own, caller...) }

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}

// values returns the elements of t as a slice of T: its memory if they are of
// that type; float16 and bfloat16 are computed in float32.
func values[T tf.Elem](t *tf.Tensor) []T {
	switch t.DType() {
	case tf.Float16:
		return cast[T](tf.Data[tf.Half](t))
	case tf.BFloat16:
		return cast[T](tf.Data[tf.BF16](t))
	}
	return tf.Data[T](t)
}

func cast[T, S tf.Elem](src []S) []T {
	dst := make([]T, len(src))
	kernel.Cast(dst, src)
	return dst
}

// result makes output i, of the type of like, and returns a slice of T to
// compute it in and what stores that.
func result[T tf.Elem](c *tf.OpContext, i int, d tf.DType, s tf.Shape) ([]T, func(), error) {
	t, err := c.Alloc(i, d, s)
	if err != nil {
		return nil, nil, err
	}
	switch d {
	case tf.Float16:
		x := make([]T, t.Len())
		return x, func() { kernel.Cast(tf.Data[tf.Half](t), x) }, nil
	case tf.BFloat16:
		x := make([]T, t.Len())
		return x, func() { kernel.Cast(tf.Data[tf.BF16](t), x) }, nil
	}
	return tf.Data[T](t), func() {}, nil
}

// allocInts makes output i a tensor of v.
func allocInts(c *tf.OpContext, i int, s tf.Shape, v []int64) error {
	t, err := c.Alloc(i, tf.Int64, s)
	if err == nil {
		copy(tf.Data[int64](t), v)
	}
	return err
}

// allocShape makes output i a vector of the sizes in s.
func allocShape(c *tf.OpContext, i int, s tf.Shape) error {
	t, err := c.Alloc(i, tf.Int64, tf.Shape{len(s)})
	if err != nil {
		return err
	}
	for k, d := range s {
		tf.Data[int64](t)[k] = int64(d)
	}
	return nil
}
