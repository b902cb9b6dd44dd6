package ops

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/hash"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	bucket := func(name, in, attrs string, k core.NewKernel) {
		core.Register(core.OpDef{
			Name: name, In: in + ": string", Out: "output: int64", Attrs: "num_buckets: int >= 1" + attrs,
			Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable, Kernels: core.AnyType(k),
		})
	}
	plain := func(hash func(string) uint64) core.NewKernel {
		return func(n *core.Node) (core.Kernel, error) { return buckets(n, hash), nil }
	}
	bucket("StringToHashBucket", "string_tensor", "", plain(hash.Hash64))
	bucket("StringToHashBucketFast", "input", "", plain(hash.Fingerprint64))
	bucket("StringToHashBucketStrong", "input", "; key: list(int)", strongBuckets)
	// AsString and StringToHashBucketFast in one, as TensorFlow's optimizer writes them.
	core.Register(core.OpDef{
		Name: "_TensorToHashBucketFast", In: "input: T", Out: "output: int64", Attrs: "T: {int8, uint8, int16, uint16, int32, uint32, int64, uint64}; num_buckets: int >= 1",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(numberBuckets),
	})
}

// StringToHashBucket returns, for each string of x, the number of its bucket,
// int64, by a hash that may change from version to version. The number is in
// [0, buckets), and the result has the shape of x. The hash is MurmurHash64A
// of Austin Appleby. Fewer buckets than one are refused with INVALID_ARGUMENT
// when the graph is built.
func StringToHashBucket(x tf.Output, buckets int, opts ...tf.Option) tf.Output {
	return apply("StringToHashBucket", tf.Join(opts, tf.Attr("num_buckets", buckets)), x)
}

// StringToHashBucketFast is StringToHashBucket by FarmHash's fingerprint,
// which stays the same for ever. The hash is Fingerprint64 of FarmHash (Pike,
// 2014). Shapes and errors are those of StringToHashBucket.
func StringToHashBucketFast(x tf.Output, buckets int, opts ...tf.Option) tf.Output {
	return apply("StringToHashBucketFast", tf.Join(opts, tf.Attr("num_buckets", buckets)), x)
}

// StringToHashBucketStrong is StringToHashBucket by SipHash under a key:
// without it, strings for one bucket cannot be chosen. The hash is
// SipHash-2-4 (Aumasson and Bernstein, 2012) with the 128 bits of key. Shapes
// and errors are those of StringToHashBucket.
func StringToHashBucketStrong(x tf.Output, buckets int, key [2]int64, opts ...tf.Option) tf.Output {
	return apply("StringToHashBucketStrong", tf.Join(opts, tf.Attr("num_buckets", buckets), tf.Attr("key", key[:])), x)
}

func strongBuckets(n *core.Node) (core.Kernel, error) {
	key := n.Ints("key")
	if len(key) != 2 {
		return nil, tf.Errorf(tf.InvalidArgument, "Key must have 2 elements")
	}
	return buckets(n, func(s string) uint64 { return hash.SipHash(s, uint64(key[0]), uint64(key[1])) }), nil
}

// buckets returns the kernel that hashes every string.
func buckets(n *core.Node, hash func(string) uint64) core.Compute {
	count := uint64(n.Int("num_buckets"))
	return func(c *core.OpContext) error {
		x := core.Data[string](c.Input(0))
		out, err := c.Alloc(0, tf.Int64, c.Input(0).Shape())
		if err != nil {
			return err
		}
		y := core.Data[int64](out)
		c.ParallelFor(len(y), hashGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = int64(hash(x[i]) % count)
			}
		})
		return nil
	}
}

// hashGrain is the least number of strings worth a task of their own.
const hashGrain = 1 << 10

// numberBuckets hashes integers by their decimal digits.
func numberBuckets(n *core.Node) (core.Kernel, error) {
	count := uint64(n.Int("num_buckets"))
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		out, err := c.Alloc(0, tf.Int64, x.Shape())
		if err != nil {
			return err
		}
		y := core.Data[int64](out)
		c.ParallelFor(len(y), hashGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = int64(hash.Fingerprint64(fmt.Sprint(x.At(i))) % count)
			}
		})
		return nil
	}), nil
}
