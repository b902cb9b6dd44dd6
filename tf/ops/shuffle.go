package ops

import (
	"github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	core.Register(core.OpDef{
		Name: "RandomShuffle", Traits: core.Droppable, In: "value: T", Out: "output: T", Attrs: "seed: int = 0; seed2: int = 0; T: type", Stateful: true,
		Shape: core.UnchangedShape, NoGrad: core.NotDifferentiable,
		Kernels: byCell(shuffle[uint8], shuffle[uint16], shuffle[uint32], shuffle[uint64], shuffle[complex128],
			shuffle[string], shuffle[core.ResourceHandle], shuffle[core.VariantValue]).on("T"),
	})
}

// RandomShuffle returns x with its rows in a random order. The rows are the
// slices along the first dimension, and the result has the shape and type of
// x; a scalar is returned as it is. x holds numbers, bool, strings, resource
// handles or variants. The order follows from the seeds of the graph and of
// the operation, see [RandomOpts]. Quantized numbers have no kernel and fail
// the step with NOT_FOUND.
func RandomShuffle(x tf.Output, opts ...tf.Option) tf.Output {
	return apply("RandomShuffle", seeded(x.Graph(), opts), x)
}

func shuffle[C cell](n *core.Node) (core.Kernel, error) {
	d, gen := n.Type("T"), generator(n)
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		if x.Rank() == 0 || x.Dim(0) <= 1 {
			c.Forward(0, 0)
			return nil
		}
		out, err := c.Alloc(0, d, x.Shape())
		if err != nil {
			return err
		}
		base := gen.ReserveBlocks(random.ShuffleBlocks(x.Dim(0)))
		dst, src, row := cells[C](out), cells[C](x), x.Len()/x.Dim(0)
		if row == 1 {
			copy(dst, src)
			random.Shuffle(base, dst)
			return nil
		}
		order := shuffled(base, x.Dim(0))
		if row == 0 {
			return nil
		}
		c.ParallelFor(len(order), max(1, elementGrain/row), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				copy(dst[i*row:(i+1)*row], src[order[i]*row:])
			}
		})
		return nil
	}), nil
}

// shuffled returns the numbers below n in the order of base.
func shuffled(base random.Philox, n int) []int {
	order := core.Make[int](n)
	for i := range order {
		order[i] = i
	}
	random.Shuffle(base, order)
	return order
}
