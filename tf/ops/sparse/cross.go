package sparse

import (
	"math"

	"github.com/gorge-tf/gorge/internal/hash"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const lists = "indices: N * int64; values: sparse_types; shapes: N * int64; dense_inputs: dense_types"
	const types = "; sparse_types: list({int64, string}) >= 0; dense_types: list({int64, string}) >= 0"
	cross := func(name, in, values, attrs string, k core.NewKernel) {
		core.Register(core.OpDef{
			Name: name, In: lists + in, Out: "output_indices: int64; output_values: " + values + "; output_shape: int64", Attrs: attrs,
			Shape: crossShape, NoGrad: core.NoGradientDefined, Kernels: core.AnyType(k),
		})
	}
	cross("SparseCross", "", "out_type", "N: int >= 0; hashed_output: bool; num_buckets: int >= 0; hash_key: int"+types+"; out_type: {int64, string}; internal_type: {int64, string}", crossed)
	cross("SparseCrossV2", "; sep: string", "string", "N: int >= 0"+types, crossedText)
	cross("SparseCrossHashed", "; num_buckets: int64; strong_hash: bool; salt: int64", "int64", "N: int >= 0"+types, crossedHashes)
}

// CrossHash is how SparseCross makes numbers: hashes, starting from Key, modulo
// Buckets, or any that are not negative if that is 0.
type CrossHash struct{ Buckets, Key int64 }

// SparseCross returns, for each row of its inputs, the combinations of an
// element of each of them, the last changing first: matrices, sparse ones and
// dense ones, of as many rows, of int64 or strings. They become strings with
// "_X_" between the elements, or hashes, int64, if hash is not nil. The
// result is sparse [rows most], with Values of type string or int64. Elements
// of a sparse input that come after the first row out of order or bounds do
// not count. Inputs of another rank and of different numbers of rows fail
// with INVALID_ARGUMENT in the step.
func SparseCross(g *tf.Graph, sparse []Tensor, dense []tf.Output, hash *CrossHash, opts ...tf.Option) Tensor {
	own := []tf.Option{tf.Attr("hashed_output", hash != nil), tf.Attr("out_type", tf.String), tf.Attr("internal_type", tf.String), tf.Attr("num_buckets", 0), tf.Attr("hash_key", 0)}
	if hasNumbers(sparse, dense) {
		own = append(own, tf.Attr("internal_type", tf.Int64))
	}
	if hash != nil {
		own = append(own, tf.Attr("out_type", tf.Int64), tf.Attr("num_buckets", hash.Buckets), tf.Attr("hash_key", hash.Key))
	}
	return crossOf(g, "SparseCross", sparse, dense, nil, tf.Join(opts, own...))
}

// SparseCrossV2 is SparseCross for strings, with sep, a scalar, between the
// elements. Numbers are written as text; a sep that is no scalar fails with
// INVALID_ARGUMENT in the step. Other errors are those of SparseCross.
func SparseCrossV2(g *tf.Graph, sparse []Tensor, dense []tf.Output, sep tf.Output, opts ...tf.Option) Tensor {
	return crossOf(g, "SparseCrossV2", sparse, dense, []tf.Output{sep}, opts)
}

// SparseCrossHashed is SparseCross for hashes, modulo buckets if that, a
// scalar, is positive. If strong, a scalar, is true, elements are hashed with
// salt, a vector of two. buckets and salt are int64, strong is bool; other
// shapes fail with INVALID_ARGUMENT in the step. Other errors are those of
// SparseCross.
func SparseCrossHashed(g *tf.Graph, sparse []Tensor, dense []tf.Output, buckets, strong, salt tf.Output, opts ...tf.Option) Tensor {
	return crossOf(g, "SparseCrossHashed", sparse, dense, []tf.Output{buckets, strong, salt}, opts)
}

func hasNumbers(sparse []Tensor, dense []tf.Output) bool {
	for _, t := range sparse {
		dense = append(dense[:len(dense):len(dense)], t.Values)
	}
	for _, x := range dense {
		if x.DType() == tf.Int64 {
			return true
		}
	}
	return false
}

func crossOf(g *tf.Graph, op string, sparse []Tensor, dense, rest []tf.Output, opts []tf.Option) Tensor {
	n := len(sparse)
	in := make([]tf.Output, 3*n)
	sparseTypes, denseTypes := make([]tf.DType, n), make([]tf.DType, len(dense))
	for i, t := range sparse {
		in[i], in[n+i], in[2*n+i] = t.Indices, t.Values, t.DenseShape
		sparseTypes[i] = t.Values.DType()
	}
	for i, x := range dense {
		denseTypes[i] = x.DType()
	}
	own := []tf.Option{tf.Attr("N", n), tf.Attr("sparse_types", sparseTypes), tf.Attr("dense_types", denseTypes)}
	return tensorOf(tf.Apply(g, op, append(append(in, dense...), rest...), tf.Join(opts, own...)...))
}

func crossShape(c *core.Infer) error {
	setSparse(c, 0, 2)
	return nil
}

func crossed(n *core.Node) (core.Kernel, error) {
	buckets, key := uint64(n.Int("num_buckets")), uint64(n.Int("hash_key"))
	hashed, internal := n.Type("out_type") == tf.Int64, n.Type("internal_type")
	return core.Compute(func(c *core.OpContext) error {
		cols, err := crossInputs(c, internal == tf.String)
		if err != nil {
			return err
		}
		defer cols.release()
		if !hashed {
			return cross(c, cols, joined(cols.list, "_X_"))
		}
		return cross(c, cols, chained(cols.list, key, buckets))
	}), nil
}

// chained returns what hashes elements one after the other, from a key on.
func chained(cols []*crossColumn, key, buckets uint64) func(at []int) int64 {
	return func(at []int) int64 {
		h := key
		for k, i := range at {
			h = concatHashes(h, cols[k].plain(i))
		}
		return bucketOf(h, buckets)
	}
}

func crossedText(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		cols, err := crossInputs(c, false)
		if err != nil {
			return err
		}
		defer cols.release()
		sep := c.Input(c.Inputs() - 1)
		if sep.Rank() != 0 {
			return invalid("Input separator should be a scalar. Received: %s", sep)
		}
		return cross(c, cols, joined(cols.list, core.Data[string](sep)[0]))
	}), nil
}

func crossedHashes(*core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		cols, err := crossInputs(c, false)
		if err != nil {
			return err
		}
		defer cols.release()
		n := c.Inputs()
		buckets, strong, salt := c.Input(n-3), c.Input(n-2), c.Input(n-1)
		if buckets.Rank() != 0 || strong.Rank() != 0 {
			return invalid("num_buckets and strong_hash must be scalars, got shapes %s and %s", buckets.Shape().String(), strong.Shape().String())
		}
		if salt.Len() != 2 {
			return invalid("Input \"salt\" must have length 2 but has length %d", salt.Len())
		}
		hashOf := (*crossColumn).weak
		if core.Data[bool](strong)[0] {
			k := core.Data[int64](salt)
			hashOf = func(col *crossColumn, i int) uint64 { return hash.SipHash(col.bytes(i), uint64(k[0]), uint64(k[1])) }
		}
		most := uint64(max(core.Data[int64](buckets)[0], 0))
		return cross(c, cols, func(at []int) int64 {
			h := uint64(0)
			for k, i := range at {
				if k == 0 {
					h = hashOf(cols.list[k], i)
				} else {
					h = concatHashes(h, hashOf(cols.list[k], i))
				}
			}
			return bucketOf(h, most)
		})
	}), nil
}

// bucketOf reduces a hash to one of n buckets, or to an int64 if n is 0.
func bucketOf(h, n uint64) int64 {
	if n == 0 {
		n = math.MaxInt64
	}
	return int64(h % n)
}

// concatHashes returns the hash of what has the hashes a and b, one after the
// other, as TensorFlow's FingerprintCat64.
func concatHashes(a, b uint64) uint64 {
	const mul = 0xc6a4a7935bd1e995
	mix := func(v uint64) uint64 { return v ^ v>>47 }
	h := (a ^ mul ^ mix(b*mul)*mul) * mul
	return mix(mix(h) * mul)
}
