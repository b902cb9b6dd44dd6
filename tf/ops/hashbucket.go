package ops

import (
	"fmt"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
)

func init() {
	bucket := func(name, in, attrs string, k tf.NewKernel) {
		tf.Register(tf.OpDef{
			Name: name, In: in + ": string", Out: "output: int64", Attrs: "num_buckets: int >= 1" + attrs,
			Shape: tf.UnchangedShape, NoGrad: tf.NotDifferentiable, Kernels: tf.AnyType(k),
		})
	}
	plain := func(hash func(string) uint64) tf.NewKernel {
		return func(n *tf.Node) (tf.Kernel, error) { return buckets(n, hash), nil }
	}
	bucket("StringToHashBucket", "string_tensor", "", plain(kernel.Hash64))
	bucket("StringToHashBucketFast", "input", "", plain(kernel.Fingerprint64))
	bucket("StringToHashBucketStrong", "input", "; key: list(int)", strongBuckets)
	// AsString and StringToHashBucketFast in one, as TensorFlow's optimizer writes them.
	tf.Register(tf.OpDef{
		Name: "_TensorToHashBucketFast", In: "input: T", Out: "output: int64", Attrs: "T: {int8, uint8, int16, uint16, int32, uint32, int64, uint64}; num_buckets: int >= 1",
		Shape: tf.UnchangedShape, NoGrad: tf.NoGradientDefined, Kernels: tf.AnyType(numberBuckets),
	})
}

// StringToHashBucket returns, for each string of x, the number of its bucket,
// int64, by a hash that may change from version to version.
func StringToHashBucket(x tf.Output, buckets int, opts ...tf.Option) tf.Output {
	return apply("StringToHashBucket", attrs(opts, tf.Attr("num_buckets", buckets)), x)
}

// StringToHashBucketFast is StringToHashBucket by FarmHash's fingerprint, which
// stays the same for ever.
func StringToHashBucketFast(x tf.Output, buckets int, opts ...tf.Option) tf.Output {
	return apply("StringToHashBucketFast", attrs(opts, tf.Attr("num_buckets", buckets)), x)
}

// StringToHashBucketStrong is StringToHashBucket by SipHash under a key: who
// does not know it cannot choose strings for one bucket.
func StringToHashBucketStrong(x tf.Output, buckets int, key [2]int64, opts ...tf.Option) tf.Output {
	return apply("StringToHashBucketStrong", attrs(opts, tf.Attr("num_buckets", buckets), tf.Attr("key", key[:])), x)
}

func strongBuckets(n *tf.Node) (tf.Kernel, error) {
	key := n.Ints("key")
	if len(key) != 2 {
		return nil, tf.Errorf(tf.InvalidArgument, "Key must have 2 elements")
	}
	return buckets(n, func(s string) uint64 { return kernel.SipHash(s, uint64(key[0]), uint64(key[1])) }), nil
}

// buckets returns the kernel that hashes every string.
func buckets(n *tf.Node, hash func(string) uint64) tf.Compute {
	count := uint64(n.Int("num_buckets"))
	return func(c *tf.OpContext) error {
		x := tf.Data[string](c.Input(0))
		out, err := c.Alloc(0, tf.Int64, c.Input(0).Shape())
		if err != nil {
			return err
		}
		y := tf.Data[int64](out)
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
func numberBuckets(n *tf.Node) (tf.Kernel, error) {
	count := uint64(n.Int("num_buckets"))
	return tf.Compute(func(c *tf.OpContext) error {
		x := c.Input(0)
		out, err := c.Alloc(0, tf.Int64, x.Shape())
		if err != nil {
			return err
		}
		y := tf.Data[int64](out)
		c.ParallelFor(len(y), hashGrain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = int64(kernel.Fingerprint64(fmt.Sprint(x.At(i))) % count)
			}
		})
		return nil
	}), nil
}
