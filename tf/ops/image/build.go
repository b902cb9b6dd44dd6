package image

import (
	"math"

	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/internal/numeric"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// The lists of types that signatures repeat.
const (
	floatTypes = "half, bfloat16, float, double"
	imageTypes = "int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16"
)

var (
	floats = []tf.DType{tf.Float16, tf.BFloat16, tf.Float32, tf.Float64}
	reals  = append([]tf.DType{tf.Int8, tf.Uint8, tf.Int16, tf.Uint16, tf.Int32, tf.Int64}, floats...)
)

// grain is the least number of elements worth a task of their own.
const grain = 16 << 10

// apply adds an operation to the graph of its inputs and returns its output.
func apply(op string, opts []tf.Option, in ...tf.Output) tf.Output {
	return tf.Apply(nil, op, in, opts...).Output(0)
}

// forTypes returns one kernel for several types.
func forTypes(k core.NewKernel, types ...tf.DType) map[tf.DType]core.NewKernel {
	by := map[tf.DType]core.NewKernel{}
	for _, d := range types {
		by[d] = k
	}
	return by
}

// computed makes a kernel that reads no attributes beforehand.
func computed(run func(*core.OpContext) error) core.NewKernel {
	return func(*core.Node) (core.Kernel, error) { return core.Compute(run), nil }
}

var elementsOf = map[tf.DType]func(*core.Tensor) any{
	tf.Float32: sliceOf[float32], tf.Float64: sliceOf[float64], tf.Float16: sliceOf[tf.Half], tf.BFloat16: sliceOf[tf.BF16],
	tf.Int8: sliceOf[int8], tf.Int16: sliceOf[int16], tf.Int32: sliceOf[int32], tf.Int64: sliceOf[int64],
	tf.Uint8: sliceOf[uint8], tf.Uint16: sliceOf[uint16], tf.Uint32: sliceOf[uint32], tf.Uint64: sliceOf[uint64],
}

func sliceOf[T tf.Elem](t *core.Tensor) any { return core.Data[T](t) }

// inFloat32 returns the elements of t as float32: its memory if they are.
func inFloat32(c *core.OpContext, t *core.Tensor) []float32 {
	if t.DType() == tf.Float32 {
		return core.Data[float32](t)
	}
	x := core.Borrow[float32](c, t.Len())
	elementwise.Cast(x, elementsOf[t.DType()](t))
	return x
}

// output makes output i and returns memory to compute it in, as float32, and
// what stores it.
func output(c *core.OpContext, i int, d tf.DType, s tf.Shape) ([]float32, func(), error) {
	t, err := c.Alloc(i, d, s)
	if err != nil {
		return nil, nil, err
	}
	if d == tf.Float32 {
		return core.Data[float32](t), func() {}, nil
	}
	x := core.Borrow[float32](c, t.Len())
	return x, func() { elementwise.Cast(elementsOf[d](t), x) }, nil
}

// roundingOf returns what rounds a float32 to a type of 16 bits.
func roundingOf(d tf.DType) func(float32) float32 {
	if d == tf.BFloat16 {
		return func(x float32) float32 { return numeric.BFloat16FromFloat32(x).Float32() }
	}
	return func(x float32) float32 { return numeric.HalfFromFloat32(x).Float32() }
}

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}

// checkProduct refuses shapes of more elements than can be counted.
func checkProduct(s tf.Shape) error {
	n := 1
	for _, d := range s {
		if d > 0 && n > math.MaxInt64/d {
			return invalid("Encountered overflow when multiplying %d with %d, result: %d", n, d, n*d)
		}
		n *= d
	}
	return nil
}

// vector2 reads the two sizes in t, which messages call name.
func vector2(t *core.Tensor, name string) (a, b int, err error) {
	switch {
	case t.Rank() != 1:
		return 0, 0, invalid("%s must be 1-dimensional%s", name, t.Shape().String())
	case t.Len() != 2:
		return 0, 0, invalid("%s must have two elements%s", name, t.Shape().String())
	}
	v := core.Data[int32](t)
	return int(v[0]), int(v[1]), nil
}

// sizesAt returns what is known of the two sizes in input i.
func sizesAt(c *core.Infer, i int) (a, b int, err error) {
	s, err := c.Rank(i, 1)
	if err != nil {
		return 0, 0, err
	}
	if s[0] >= 0 && s[0] != 2 {
		return 0, 0, invalid("Dimension must be 2 but is %d", s[0])
	}
	if v, ok := c.ConstInts(i); ok && len(v) == 2 {
		return v[0], v[1], nil
	}
	return -1, -1, nil
}

func floor(x float32) int { return int(math.Floor(float64(x))) }

// within returns i, or the nearest number in [0, n).
func within(i, n int) int { return max(0, min(i, n-1)) }
