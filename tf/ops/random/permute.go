package random

import (
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	const ints = "{int32, uint32, int64, uint64}"
	core.Register(core.OpDef{
		Name: "RandomIndexShuffle", In: "index: dtype; seed: Tseed; max_index: dtype", Out: "output: dtype",
		Attrs: "rounds: int = 4; dtype: " + ints + "; Tseed: " + ints,
		Shape: permuteShape, NoGrad: core.NoGradientDefined,
		Kernels: core.ByType("dtype", map[tf.DType]core.NewKernel{
			tf.Int32: permute[int32], tf.Uint32: permute[uint32], tf.Int64: permute[int64], tf.Uint64: permute[uint64],
		}),
	})
}

// RandomIndexShuffleOpts is the optional attribute of RandomIndexShuffle: how
// often numbers are mixed, an even number from 4 on; 0 stands for 4.
type RandomIndexShuffleOpts struct{ Rounds int }

// Apply sets the attributes.
func (o RandomIndexShuffleOpts) Apply(s *tf.Spec) {
	if o.Rounds != 0 {
		s.Set("rounds", o.Rounds)
	}
}

// RandomIndexShuffle returns where index comes to lie when the numbers from 0
// to last are shuffled in the way that seed, three integers, stands for. The
// shuffling is the cipher Simon (Beaulieu et al., 2013), applied until the
// number is at most last. index and last are scalars or vectors; seed may
// have a row for each. index and last have one type, int32, uint32, int64 or
// uint64, which the result keeps; seed may have any of these types. Other
// shapes are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step. An index that is negative or greater than
// last, and rounds that are odd or less than 4, fail with INVALID_ARGUMENT in
// the step.
// Its options are [RandomIndexShuffleOpts].
func RandomIndexShuffle(index, seed, last tf.Output, opts ...tf.Option) tf.Output {
	return apply("RandomIndexShuffle", opts, index, seed, last)
}

func permuteShape(c *core.Infer) error {
	index, seed, last := c.In(0), c.In(1), c.In(2)
	switch {
	case len(index) > 1 || len(last) > 1:
		return tf.Errorf(tf.InvalidArgument, "Shape must be at most rank 1: index %v, max_index %v", index, last)
	case seed != nil && (len(seed) == 0 || len(seed) > 2):
		return tf.Errorf(tf.InvalidArgument, "Shape must be rank 1 or 2: seed %v", seed)
	case seed != nil && !seed[len(seed)-1:].Compatible(tf.Shape{3}):
		return tf.Errorf(tf.InvalidArgument, "Seed must have shape [3] or [n, 3] but got %s.", seed.String())
	}
	if index != nil && seed != nil && last != nil && len(index)+len(seed)+len(last) == 1 {
		c.Set(0, tf.Shape{})
		return nil
	}
	if len(index) == 1 || len(seed) == 2 || len(last) == 1 {
		return permutedCount(c, index, seed, last)
	}
	return nil
}

// permutedCount sets the shape of the output, a vector.
func permutedCount(c *core.Infer, index, seed, last tf.Shape) error {
	n := -1
	if len(index) == 1 {
		n = index[0]
	}
	rows := tf.Shape{}
	if len(seed) == 2 {
		rows = seed[:1]
	}
	for _, s := range []tf.Shape{rows, last} {
		switch {
		case len(s) == 0:
		case n < 0:
			n = s[0]
		case n > 1 && s[0] > 1 && s[0] != n:
			return tf.Errorf(tf.InvalidArgument, "there must be as many seeds and greatest numbers as indices: index %v, seed %v, max_index %v", index, seed, last)
		}
	}
	c.Set(0, tf.Shape{n})
	return nil
}

func permute[T int32 | uint32 | int64 | uint64](n *core.Node) (core.Kernel, error) {
	rounds := n.Int("rounds")
	if rounds < 4 || rounds%2 != 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "rounds must be an even number from 4 on, got %d", rounds)
	}
	return core.Compute(func(c *core.OpContext) error {
		s, err := permutedShape(c)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, tf.TypeOf[T](), s)
		if err != nil {
			return err
		}
		y, index, last, seeds := core.Data[T](out), core.Data[T](c.Input(0)), core.Data[T](c.Input(2)), seedWords(c.Input(1))
		var p stream.Permutation
		for i := range y {
			at, most, seed := one(index, i), one(last, i), seeds[0]
			if len(seeds) > 1 {
				seed = seeds[i]
			}
			if err := checkIndex(at, most); err != nil {
				return err
			}
			if i == 0 || len(seeds) > 1 || len(last) > 1 {
				p = stream.NewPermutation(seed, uint64(most), rounds)
			}
			y[i] = T(p.At(uint64(at)))
		}
		return nil
	}), nil
}

// one returns element i of v, or that which v has for all.
func one[T any](v []T, i int) T {
	if len(v) == 1 {
		return v[0]
	}
	return v[i]
}

func checkIndex[T int32 | uint32 | int64 | uint64](i, last T) error {
	switch {
	case i < 0:
		return tf.Errorf(tf.InvalidArgument, "index must be >= 0 but was %d", i)
	case last < 0:
		return tf.Errorf(tf.InvalidArgument, "max_index must be >= 0 but was %d", last)
	case last < i:
		return tf.Errorf(tf.InvalidArgument, "max_index must be >= index, but %d < %d", last, i)
	}
	return nil
}

// permutedShape checks the shapes of the inputs and returns that of the output.
func permutedShape(c *core.OpContext) (tf.Shape, error) {
	index, seed, last := c.Input(0), c.Input(1), c.Input(2)
	n := max(index.Len(), last.Len(), seed.Len()/3)
	switch {
	case !index.Shape().Equal(tf.Shape{}) && !index.Shape().Equal(tf.Shape{n}):
		return nil, tf.Errorf(tf.InvalidArgument, "Index bust be a scalar or vector.")
	case !seed.Shape().Equal(tf.Shape{3}) && !seed.Shape().Equal(tf.Shape{n, 3}):
		return nil, tf.Errorf(tf.InvalidArgument, "Seed must be a vector of size [3] or a matrix of size [%d, 3] but got %s.", n, seed.Shape().String())
	case !last.Shape().Equal(tf.Shape{}) && !last.Shape().Equal(tf.Shape{n}):
		return nil, tf.Errorf(tf.InvalidArgument, "Maxval must be a scalar or a vector of the same size as index but got %s", last.Shape().String())
	}
	if index.Rank() == 0 && seed.Rank() == 1 && last.Rank() == 0 {
		return tf.Shape{}, nil
	}
	return tf.Shape{n}, nil
}

// seedWords reads seeds of three integers of any type, of which 32 bits count.
func seedWords(t *core.Tensor) [][3]uint32 {
	switch t.DType() {
	case tf.Int32:
		return lowWords(core.Data[int32](t))
	case tf.Uint32:
		return lowWords(core.Data[uint32](t))
	case tf.Int64:
		return lowWords(core.Data[int64](t))
	}
	return lowWords(core.Data[uint64](t))
}

func lowWords[T int32 | uint32 | int64 | uint64](v []T) [][3]uint32 {
	out := core.Make[[3]uint32](len(v) / 3)
	for i := range out {
		out[i] = [3]uint32{uint32(v[3*i]), uint32(v[3*i+1]), uint32(v[3*i+2])}
	}
	return out
}
