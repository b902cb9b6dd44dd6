package ragged

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// byType lists the kernels of an op by type.
type byType = map[tf.DType]core.NewKernel

// valueTypes are the types of values that kernels serve.
var valueTypes = []tf.DType{
	tf.Float32, tf.Float64, tf.Float16, tf.BFloat16, tf.Complex64, tf.Complex128, tf.Bool, tf.String,
	tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64,
	tf.QInt8, tf.QUint8, tf.QInt16, tf.QUint16, tf.QInt32,
}

// sameFor returns the kernels of an op that one factory serves for all types of
// values.
func sameFor(k core.NewKernel) byType {
	by := byType{}
	for _, d := range valueTypes {
		by[d] = k
	}
	return by
}

// invalid returns an INVALID_ARGUMENT error.
func invalid(format string, args ...any) error {
	return tf.Errorf(tf.InvalidArgument, format, args...)
}

// allocInts makes output i a vector of v in type d, int32 or int64, which has
// to hold the numbers.
func allocInts(c *core.OpContext, i int, d tf.DType, v []int) error {
	if d == tf.Int32 && len(v) > 0 && slices.Max(v) > math.MaxInt32 {
		return invalid("row splits up to %d do not fit into int32", slices.Max(v))
	}
	t, err := c.Alloc(i, d, tf.Shape{len(v)})
	if err == nil {
		putInts(t, v)
	}
	return err
}

// putInts makes v the elements of t, of type int32 or int64.
func putInts(t *core.Tensor, v []int) {
	if t.DType() == tf.Int32 {
		for i, x := range v {
			core.Data[int32](t)[i] = int32(x)
		}
		return
	}
	for i, x := range v {
		core.Data[int64](t)[i] = int64(x)
	}
}

// splitsOf reads inputs 0 to n-1, the row splits of dimensions from the outside
// inwards.
func splitsOf(c *core.OpContext, n int) ([][]int, error) {
	splits := core.Make[[]int](n)
	for i := range splits {
		v, err := c.Input(i).Ints()
		if err != nil {
			return nil, err
		}
		splits[i] = v
	}
	return splits, nil
}

// splitsRank wants inputs 0 to n-1 to be vectors, and input n to have a
// dimension.
func splitsRank(c *core.Infer, n int) error {
	for i := range n {
		if _, err := c.Rank(i, 1); err != nil {
			return err
		}
	}
	if s := c.In(n); s != nil && len(s) == 0 {
		return invalid("Shape must be at least rank 1 but is rank 0")
	}
	return nil
}

// width returns how many elements a row of t has.
func width(t *core.Tensor) int { return t.Shape()[1:].NumElements() }
