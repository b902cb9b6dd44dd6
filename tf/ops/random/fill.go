package random

import (
	"github.com/gorge-tf/gorge/internal/memory"
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

// A draw fills a tensor from the stream that begins at base. at is the input
// that the parameters of the distribution begin with.
type draw func(c *core.OpContext, base stream.Philox, out *core.Tensor, at int) error

// byGroup fills out in pieces that begin where groups do, so that the numbers
// do not depend on the pieces.
func byGroup[T any](c *core.OpContext, base stream.Philox, size int, out []T, f func(stream.Philox, uint64, []T)) {
	c.ParallelFor((len(out)+size-1)/size, grain/size, func(lo, hi int) {
		f(base, uint64(lo), out[lo*size:min(hi*size, len(out))])
	})
}

func groupSize(d tf.DType) int {
	if d.Size() == 8 {
		return stream.Group64
	}
	return stream.Group
}

// filled is the draw of a distribution without parameters.
func filled[T tf.Elem](f func(stream.Philox, uint64, []T)) draw {
	return func(c *core.OpContext, base stream.Philox, out *core.Tensor, _ int) error {
		byGroup(c, base, groupSize(out.DType()), core.Data[T](out), f)
		return nil
	}
}

// filledBits is filled for the types that streams know as their 16 bits.
func filledBits(f func(stream.Philox, uint64, []uint16)) draw {
	return func(c *core.OpContext, base stream.Philox, out *core.Tensor, _ int) error {
		if out.Len() > 0 {
			byGroup(c, base, stream.Group, memory.Slice[uint16](out.Buffer()), f)
		}
		return nil
	}
}

// between is the draw of integers in a range that two inputs tell.
func between[T int32 | int64 | uint32 | uint64](f func(base stream.Philox, group uint64, low, high T, out []T)) draw {
	return func(c *core.OpContext, base stream.Philox, out *core.Tensor, at int) error {
		low, err := scalarOf[T](c, at, "minval")
		if err != nil {
			return err
		}
		high, err := scalarOf[T](c, at+1, "maxval")
		if err != nil {
			return err
		}
		if low >= high {
			return tf.Errorf(tf.InvalidArgument, "Need minval < maxval, got %d >= %d", low, high)
		}
		byGroup(c, base, groupSize(out.DType()), core.Data[T](out), func(p stream.Philox, group uint64, out []T) { f(p, group, low, high, out) })
		return nil
	}
}

var (
	uniforms = map[tf.DType]draw{
		tf.Float32: filled(stream.UniformFloat32), tf.Float64: filled(stream.UniformFloat64),
		tf.Float16: filledBits(stream.UniformHalf), tf.BFloat16: filledBits(stream.UniformBFloat16),
	}
	normals = map[tf.DType]draw{
		tf.Float32: filled(stream.NormalFloat32), tf.Float64: filled(stream.NormalFloat64),
		tf.Float16: filledBits(stream.NormalHalf), tf.BFloat16: filledBits(stream.NormalBFloat16),
	}
	truncated = map[tf.DType]draw{
		tf.Float32: filled(stream.TruncatedNormalFloat32), tf.Float64: filled(stream.TruncatedNormalFloat64),
		tf.Float16: filledBits(stream.TruncatedNormalHalf), tf.BFloat16: filledBits(stream.TruncatedNormalBFloat16),
	}
	fullInts = map[tf.DType]draw{
		tf.Int32: filled(stream.Bits[int32]), tf.Uint32: filled(stream.Bits[uint32]),
		tf.Int64: filled(stream.Bits64[int64]), tf.Uint64: filled(stream.Bits64[uint64]),
	}
	someInts = map[tf.DType]draw{tf.Int32: between(stream.UniformInt[int32]), tf.Int64: between(stream.UniformInt64[int64])}
)

// kernelsOf makes the kernels of an op from what fills its output.
func kernelsOf(draws map[tf.DType]draw, mk func(draw) core.Compute) core.KernelSet {
	by := map[tf.DType]core.NewKernel{}
	for d, f := range draws {
		by[d] = func(*core.Node) (core.Kernel, error) { return mk(f), nil }
	}
	return core.ByType("dtype", by)
}
