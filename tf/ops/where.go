package ops

import (
	encoding "encoding/binary"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/elementwise"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "Where", In: "input: T", Out: "index: int64",
		Attrs: "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64, bool} = bool",
		Shape: whereShape, NoGrad: core.NoGradientDefined,
		Kernels: core.KernelSet{All: where, Types: map[string][]tf.DType{"T": {
			tf.Bool, tf.Float32, tf.Float64, tf.BFloat16, tf.Complex64, tf.Complex128,
			tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64,
		}}},
	})
}

// Where returns the indices of the elements of x that are true, or not zero,
// in row-major order: one row for each. The result is an int64 matrix with one
// column for each dimension of x. x holds bool or numbers; float16 and
// quantized numbers may stand in a graph but have no kernel, so the step fails
// with NOT_FOUND.
func Where(x tf.Output, opts ...tf.Option) tf.Output { return apply("Where", opts, x) }

func whereShape(c *core.Infer) error {
	if s := c.In(0); s != nil {
		c.Set(0, tf.Shape{-1, len(s)})
		return nil
	}
	c.Set(0, tf.Shape{-1, -1})
	return nil
}

func where(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		set := nonZero(c, x)
		count := countTrue(set)
		out, err := c.Alloc(0, tf.Int64, tf.Shape{count, x.Rank()})
		if err != nil {
			return err
		}
		putPositions(core.Data[int64](out), set, x.Shape())
		return nil
	}), nil
}

// nonZero tells which elements of x are not zero. A complex number is zero if
// both of its parts are.
func nonZero(c *core.OpContext, x *core.Tensor) []bool {
	if x.DType() == tf.Bool {
		return core.Data[bool](x)
	}
	set := core.Borrow[bool](c, x.Len())
	switch x.DType() {
	case tf.Complex64:
		kernel.Map2(set, core.Data[complex64](x), func(v complex64) bool { return v != 0 })
	case tf.Complex128:
		kernel.Map2(set, core.Data[complex128](x), func(v complex128) bool { return v != 0 })
	default:
		elementwise.Cast(set, core.AnyData(x))
	}
	return set
}

// putPositions writes the indices of the elements that are set, of a tensor of
// shape s.
func putPositions(dst []int64, set []bool, s tf.Shape) {
	switch len(s) {
	case 1:
		putPlaces(dst, set)
		return
	case 2:
		for i := range s[0] {
			dst = putPairs(dst, int64(i), set[i*s[1]:(i+1)*s[1]])
		}
		return
	}
	at := make([]int64, len(s))
	for _, v := range set {
		if v {
			dst = dst[copy(dst, at):]
		}
		for k := len(s) - 1; k >= 0; k-- {
			if at[k]++; at[k] < int64(s[k]) {
				break
			}
			at[k] = 0
		}
	}
}

// putPlaces is putPositions for a vector. Without a branch it does not matter how the
// elements alternate.
func putPlaces(dst []int64, set []bool) {
	n := 0
	for i, v := range set {
		if n == len(dst) {
			return
		}
		dst[n] = int64(i)
		if v {
			n++
		}
	}
}

// putPairs is putPlaces for a row of a matrix. It returns what is left of dst.
func putPairs(dst []int64, row int64, set []bool) []int64 {
	n := 0
	for i, v := range set {
		if n+2 > len(dst) {
			break
		}
		dst[n], dst[n+1] = row, int64(i)
		if v {
			n += 2
		}
	}
	return dst[n:]
}

// countTrue adds up bools as bytes, eight at a time: up to 255 of them in each byte of a sum.
func countTrue(set []bool) (n int) {
	x := kernel.Words[uint8](set)
	for len(x) >= 8 {
		some := x[:min(len(x), 8*255)&^7]
		var sum uint64
		for i := 0; i < len(some); i += 8 {
			sum += encoding.LittleEndian.Uint64(some[i:])
		}
		const low = 0x00ff00ff00ff00ff
		pairs := sum&low + sum>>8&low
		n += int(pairs * 0x0001000100010001 >> 48)
		x = x[len(some):]
	}
	for _, v := range x {
		n += int(v)
	}
	return n
}
