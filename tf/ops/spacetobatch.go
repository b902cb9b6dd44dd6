package ops

import (
	"math"

	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	spaceOp("SpaceToBatchND", "input: T; block_shape: Tblock_shape; paddings: Tpaddings",
		"T: type; Tblock_shape: {int32, int64} = int32; Tpaddings: {int32, int64} = int32", true, "BatchToSpaceND")
	spaceOp("BatchToSpaceND", "input: T; block_shape: Tblock_shape; crops: Tcrops",
		"T: type; Tblock_shape: {int32, int64} = int32; Tcrops: {int32, int64} = int32", false, "SpaceToBatchND")
	spaceOp("SpaceToBatch", "input: T; paddings: Tpaddings",
		"T: type; Tpaddings: {int32, int64} = int32; block_size: int >= 2", true, "BatchToSpace")
	spaceOp("BatchToSpace", "input: T; crops: Tidx",
		"T: type; block_size: int >= 2; Tidx: {int32, int64} = int32", false, "SpaceToBatch")
}

func spaceOp(name, in, attrs string, toBatch bool, inverse string) {
	core.Register(core.OpDef{
		Name: name, In: in, Out: "output: T", Attrs: attrs,
		Shape:   func(c *core.Infer) error { return spaceShape(c, toBatch) },
		Grad:    tf.GradFunc(func(op *tf.Operation, dy []tf.Output) []tf.Gradient { return spaceGrad(op, dy[0], inverse) }),
		Kernels: core.ByType("T", sameFor(stateless(func(c *core.OpContext) error { return moveSpace(c, toBatch) }), realTypes...)),
	})
}

// SpaceToBatchND pads the dimensions of x after the first by paddings, divides
// them into blocks of the given shape, and makes the places within a block
// further batches. block is a vector of M positive integers, and x holds real
// numbers in more than M dimensions; paddings is an M×2 matrix of integers
// that are not negative, and what is padded is 0. Other inputs, and padded
// sizes that their block size does not divide, are refused with
// INVALID_ARGUMENT, when the graph is built if x's shape and the constants are
// known, else in the step.
func SpaceToBatchND(x, block, paddings tf.Output, opts ...tf.Option) tf.Output {
	return apply("SpaceToBatchND", opts, x, block, paddings)
}

// BatchToSpaceND is the inverse of SpaceToBatchND: what was padded is cropped.
// x and block are as there, and crops is an M×2 matrix of integers that are
// not negative. A first dimension of x that the product of block does not
// divide, and crops of more than there is, are refused with INVALID_ARGUMENT,
// when the graph is built if x's shape and the constants are known, else in
// the step.
func BatchToSpaceND(x, block, crops tf.Output, opts ...tf.Option) tf.Output {
	return apply("BatchToSpaceND", opts, x, block, crops)
}

// BlockSizeOpts are the attributes of the ops SpaceToBatch, SpaceToDepth and
// their inverses: how many rows and columns a block has. The functions take it
// as an argument.
type BlockSizeOpts struct{ BlockSize int }

// Apply sets the attributes.
func (o BlockSizeOpts) Apply(s *tf.Spec) { s.Set("block_size", o.BlockSize) }

// SpaceToBatch is SpaceToBatchND of images with square blocks. x holds real
// numbers in four dimensions, batch, rows, columns and depth; paddings is a 2×2 matrix of integers that are not negative. A
// blockSize below 2 is refused with INVALID_ARGUMENT when the graph is built,
// and what SpaceToBatchND refuses is refused alike.
// Its options are [BlockSizeOpts].
func SpaceToBatch(x, paddings tf.Output, blockSize int, opts ...tf.Option) tf.Output {
	return apply("SpaceToBatch", tf.Join(opts, BlockSizeOpts{blockSize}), x, paddings)
}

// BatchToSpace is BatchToSpaceND of images with square blocks. x holds real
// numbers in four dimensions, batch, rows, columns and depth; crops is a 2×2 matrix of integers that are not negative. A
// blockSize below 2 is refused with INVALID_ARGUMENT when the graph is built,
// and what BatchToSpaceND refuses is refused alike.
// Its options are [BlockSizeOpts].
func BatchToSpace(x, crops tf.Output, blockSize int, opts ...tf.Option) tf.Output {
	return apply("BatchToSpace", tf.Join(opts, BlockSizeOpts{blockSize}), x, crops)
}

func spaceGrad(op *tf.Operation, dy tf.Output, inverse string) []tf.Gradient {
	in := slices.Clone(op.Inputs())
	in[0] = dy
	var opts []tf.Option
	if len(in) == 2 {
		opts = append(opts, BlockSizeOpts{op.Int("block_size")})
	}
	dxs := make([]tf.Gradient, len(in))
	dxs[0] = tf.Dense(apply(inverse, opts, in...))
	return dxs
}

// A spaceBlocks says how dimensions 1 to len(block) are divided into blocks,
// between margins: pairs of how much lies around them.
type spaceBlocks struct{ block, margins []int }

func spaceShape(c *core.Infer, toBatch bool) error {
	x := c.In(0)
	if c.NumIn() == 2 {
		var err error
		if x, err = c.Rank(0, 4); err != nil {
			return err
		}
	}
	b, ok := inferBlocks(c)
	if x == nil || !ok {
		if x != nil {
			c.Set(0, unknownDims(len(x)))
		}
		return nil
	}
	out, err := b.outShape(x, toBatch)
	if err == nil {
		c.Set(0, out)
	}
	return err
}

// inferBlocks returns the blocks if they are known.
func inferBlocks(c *core.Infer) (b spaceBlocks, ok bool) {
	if b.margins, ok = c.ConstInts(c.NumIn() - 1); !ok {
		return b, false
	}
	if c.NumIn() == 2 {
		b.block = []int{c.Int("block_size"), c.Int("block_size")}
	} else if b.block, ok = c.ConstInts(1); !ok {
		return b, false
	}
	return b, len(b.margins) == 2*len(b.block)
}

// outShape returns the shape of the result for input x, sizes of which may be
// unknown.
func (b spaceBlocks) outShape(x tf.Shape, toBatch bool) (tf.Shape, error) {
	if len(x) < 1+len(b.block) {
		return nil, tf.Errorf(tf.InvalidArgument, "input rank should be >= %d instead of %d", 1+len(b.block), len(x))
	}
	out, blocks := x.Clone(), 1
	for i, n := range b.block {
		if n < 1 {
			return nil, tf.Errorf(tf.InvalidArgument, "All values in block_shape must be positive, got value, %d at index %d.", n, i)
		}
		if blocks > 1<<31/n {
			return nil, tf.Errorf(tf.InvalidArgument, "Product of block sizes must be positive, got block shape %s", tf.Shape(b.block).String())
		}
		blocks *= n
	}
	for i, n := range b.block {
		before, after := b.margins[2*i], b.margins[2*i+1]
		if before < 0 || after < 0 {
			return nil, tf.Errorf(tf.InvalidArgument, "%s cannot be negative", map[bool]string{true: "Paddings", false: "Crops"}[toBatch])
		}
		if out[1+i] < 0 {
			continue
		}
		size, err := b.side(i, x[1+i], n, before, after, toBatch)
		if err != nil {
			return nil, err
		}
		out[1+i] = size
	}
	switch {
	case x[0] < 0:
	case toBatch && x[0] > math.MaxInt/blocks:
		return nil, tf.Errorf(tf.InvalidArgument, "Encountered overflow when multiplying %d with the block sizes, whose product is %d", x[0], blocks)
	case toBatch:
		out[0] *= blocks
	case x[0]%blocks != 0:
		return nil, tf.Errorf(tf.InvalidArgument, "Input batch dimension (%d) is not divisible by product of block sizes (%d)", x[0], blocks)
	default:
		out[0] /= blocks
	}
	return out, nil
}

// side returns the size that spatial dimension i, of size x, gets.
func (b spaceBlocks) side(i, x, n, before, after int, toBatch bool) (int, error) {
	if toBatch {
		if before > math.MaxInt-x || after > math.MaxInt-x-before {
			return 0, tf.Errorf(tf.InvalidArgument, "Encountered overflow when padding dimension %d of size %d by %d and %d", i, x, before, after)
		}
		padded := x + before + after
		if padded%n != 0 {
			return 0, tf.Errorf(tf.InvalidArgument, "padded_shape[%d]=%d is not divisible by block_shape[%d]=%d", i, padded, i, n)
		}
		return padded / n, nil
	}
	if x > math.MaxInt/n {
		return 0, tf.Errorf(tf.InvalidArgument, "Encountered overflow when multiplying %d with block_shape[%d]=%d", x, i, n)
	}
	whole := x * n
	if before > whole || after > whole-before {
		left := max(whole-before, math.MinInt+after) - after
		return 0, tf.Errorf(tf.InvalidArgument, "cropped_shape[%d]=%d must be non-negative", i, left)
	}
	return whole - before - after, nil
}

// runBlocks reads the blocks from the inputs of the kernel.
func runBlocks(c *core.OpContext, toBatch bool) (b spaceBlocks, err error) {
	n := c.Inputs() - 1
	name := map[bool]string{true: "paddings", false: "crops"}[toBatch]
	if n == 1 {
		if x := c.Input(0); x.Rank() != 4 {
			return b, tf.Errorf(tf.InvalidArgument, "Input rank should be: 4instead of: %d", x.Rank())
		}
		b.block = []int{c.Node.Int("block_size"), c.Node.Int("block_size")}
	} else if c.Input(1).Rank() != 1 {
		return b, tf.Errorf(tf.InvalidArgument, "block_shape rank should be 1 instead of %d", c.Input(1).Rank())
	} else if b.block, err = c.Input(1).Ints(); err != nil {
		return b, err
	}
	if s := c.Input(n).Shape(); !s.Equal(tf.Shape{len(b.block), 2}) {
		return b, tf.Errorf(tf.InvalidArgument, "%s should have shape [%d, 2] instead of %s", name, len(b.block), s.String())
	}
	b.margins, err = c.Input(n).Ints()
	return b, err
}

func moveSpace(c *core.OpContext, toBatch bool) error {
	b, err := runBlocks(c, toBatch)
	if err != nil {
		return err
	}
	x := c.Input(0)
	s, err := b.outShape(x.Shape(), toBatch)
	if err != nil {
		return err
	}
	out, err := c.Alloc(0, x.DType(), s)
	if err != nil {
		return err
	}
	if toBatch && slices.ContainsFunc(b.margins, func(n int) bool { return n != 0 }) {
		clearCells(out)
	}
	if out.Len() == 0 || x.Len() == 0 {
		return nil
	}
	if len(b.block) == 0 {
		move(out, x)(0, 0, x.Len())
		return nil
	}
	space, batch := x.Shape(), s
	if !toBatch {
		space, batch = s, x.Shape()
	}
	to, from := out.Buffer().Bytes(), x.Buffer().Bytes()
	inner := product(batch[1+len(b.block):]) * x.DType().Size()
	step, line := inner*b.block[len(b.block)-1], inner*batch[len(b.block)]
	c.ParallelFor(product(batch[:len(b.block)]), max(1, 4*elementGrain/line), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			in, first, n := b.line(i, space, batch)
			if n <= 0 {
				continue
			}
			if toBatch {
				copyRuns(to[i*line+first*inner:], inner, from[in*inner:], step, inner, n)
			} else {
				copyRuns(to[in*inner:], step, from[i*line+first*inner:], inner, inner, n)
			}
		}
	})
	return nil
}

// copyRuns copies n runs of so many bytes, which begin steps apart.
func copyRuns(dst []byte, dstStep int, src []byte, srcStep, run, n int) {
	for i := range n {
		copy(dst[i*dstStep:][:run], src[i*srcStep:][:run])
	}
}

// line returns which runs of line i of the form with more batches, along its last spatial
// dimension, are in the spatial form: n from the first on. The first is there run in. Margins,
// which the spatial form lacks, are left out.
func (b spaceBlocks) line(i int, space, batch tf.Shape) (in, first, n int) {
	last := len(b.block) - 1
	lines := product(batch[1 : 1+last]) // of an index of the first dimension
	within, at := i/lines/space[0], i/lines%space[0]
	for k, size := range b.block[:last] {
		lines /= batch[1+k]
		rest := product(b.block[k+1:])
		p := i/lines%batch[1+k]*size + within/rest - b.margins[2*k]
		within %= rest
		if p < 0 || p >= space[1+k] {
			return 0, 0, 0
		}
		at = at*space[1+k] + p
	}
	size, from := b.block[last], within-b.margins[2*last] // place j is from + j·size
	if from < 0 {
		first = (size - 1 - from) / size
	}
	end := 0
	if width := space[1+last]; width > from {
		end = min(batch[1+last], (width-from-1)/size+1)
	}
	return at*space[1+last] + from + first*size, first, end - first
}
