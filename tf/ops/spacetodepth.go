package ops

import (
	"math"

	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func init() {
	depthOp("SpaceToDepth", "DepthToSpace", true, slices.Concat(objectTypes, []tf.DType{tf.QInt8}))
	depthOp("DepthToSpace", "SpaceToDepth", false, objectTypes)
}

func depthOp(name, inverse string, toDepth bool, types []tf.DType) {
	kernels := core.ByType("T", sameFor(func(n *core.Node) (core.Kernel, error) { return moveDepth(n, toDepth) }, types...))
	kernels.Only = map[string]string{"data_format": "NHWC"}
	core.Register(core.OpDef{
		Name: name, In: "input: T", Out: "output: T",
		Attrs: "T: type; block_size: int >= 2; data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
		Shape: func(c *core.Infer) error {
			s, err := depthShape(c.In(0), c.Int("block_size"), c.Str("data_format"), toDepth)
			c.Set(0, s)
			return err
		},
		Grad: tf.GradFunc(func(op *tf.Operation, dy []tf.Output) []tf.Gradient {
			o := SpaceToDepthOpts{op.Str("data_format")}
			return tf.Grads(apply(inverse, []tf.Option{BlockSizeOpts{op.Int("block_size")}, o}, dy[0]))
		}),
		Kernels: kernels,
	})
}

// SpaceToDepthOpts are the optional attributes of SpaceToDepth and
// DepthToSpace: "NHWC" if empty, the only format that CPUs have kernels for.
type SpaceToDepthOpts struct{ DataFormat string }

// Apply sets the attributes.
func (o SpaceToDepthOpts) Apply(s *tf.Spec) {
	if o.DataFormat != "" {
		s.Set("data_format", o.DataFormat)
	}
}

// SpaceToDepth makes each square block of images x one pixel of more channels.
// x has four dimensions and holds numbers, bool, strings, resource handles or
// variants; in format NHWC the result has the shape [n, h/b, w/b, c·b²] for
// block size b. A block size below 2 is refused with INVALID_ARGUMENT when the
// graph is built. Another rank, and rows or columns that b does not divide,
// are refused with INVALID_ARGUMENT, when the graph is built if they are
// known, else in the step. Formats other than NHWC have no kernel, so the step
// fails with NOT_FOUND. Its options are [SpaceToDepthOpts].
func SpaceToDepth(x tf.Output, blockSize int, opts ...tf.Option) tf.Output {
	return apply("SpaceToDepth", tf.Join(opts, BlockSizeOpts{blockSize}), x)
}

// DepthToSpace makes the channels of each pixel of x a square block of pixels.
// x has four dimensions and holds numbers, bool, strings, resource handles or
// variants; in format NHWC the result has the shape [n, h·b, w·b, c/b²] for
// block size b. A block size below 2 is refused with INVALID_ARGUMENT when the
// graph is built. Another rank, and a number of channels that b² does not
// divide, are refused with INVALID_ARGUMENT, when the graph is built if they
// are known, else in the step. Formats other than NHWC have no kernel, so the
// step fails with NOT_FOUND. Its options are [SpaceToDepthOpts].
func DepthToSpace(x tf.Output, blockSize int, opts ...tf.Option) tf.Output {
	return apply("DepthToSpace", tf.Join(opts, BlockSizeOpts{blockSize}), x)
}

// depthShape returns the shape of the result for input s.
func depthShape(s tf.Shape, size int, format string, toDepth bool) (tf.Shape, error) {
	if s == nil || format == "NCHW_VECT_C" {
		return nil, nil
	}
	if len(s) != 4 {
		form := "Input rank should be: 4 instead of: %d"
		if toDepth {
			form = "Input rank should be 4 instead of %d"
		}
		return nil, tf.Errorf(tf.InvalidArgument, form, len(s))
	}
	h, w, depth := 1, 2, 3
	if format == "NCHW" {
		h, w, depth = 2, 3, 1
	}
	if size > math.MaxInt32 { // as far as TensorFlow reads it; more overflows when it is squared
		return nil, tf.Errorf(tf.InvalidArgument, "block_size must be at most %d, got %d", math.MaxInt32, size)
	}
	out := s.Clone()
	if toDepth {
		for _, k := range []int{h, w} {
			if s[k] >= 0 && s[k]%size != 0 {
				return nil, tf.Errorf(tf.InvalidArgument, "Image width %d and height %d should be divisible by block_size: %d", s[w], s[h], size)
			}
		}
		out[h], out[w], out[depth] = scaled(s[h], 1, size), scaled(s[w], 1, size), scaled(s[depth], size*size, 1)
		return out, nil
	}
	if s[depth] >= 0 && s[depth]%(size*size) != 0 {
		return nil, tf.Errorf(tf.InvalidArgument, "Input depth dimension %d should be divisible by: %d", s[depth], size*size)
	}
	out[h], out[w], out[depth] = scaled(s[h], size, 1), scaled(s[w], size, 1), scaled(s[depth], 1, size*size)
	return out, nil
}

// scaled returns n·by/to, unless n is unknown.
func scaled(n, by, to int) int {
	if n < 0 {
		return n
	}
	return n * by / to
}

func moveDepth(n *core.Node, toDepth bool) (core.Kernel, error) {
	size, format := n.Int("block_size"), n.Str("data_format")
	return core.Compute(func(c *core.OpContext) error {
		x := c.Input(0)
		s, err := depthShape(x.Shape(), size, format, toDepth)
		if err != nil {
			return err
		}
		out, err := c.Alloc(0, x.DType(), s)
		if err != nil || out.Len() == 0 {
			return err
		}
		space, deep := x.Shape(), s
		if !toDepth {
			space, deep = s, x.Shape()
		}
		run := size * space[3] // pixels of one row of a block
		if x.Buffer() != nil {
			moveDepthBytes(c, out, x, deep, size, run, toDepth)
			return nil
		}
		put := move(out, x)
		for i := range product(space) / run {
			row, block := i/deep[2], i%deep[2]
			from, to := i*run, ((row/size)*deep[2]+block)*deep[3]+row%size*run
			if toDepth {
				put(to, from, run)
			} else {
				put(from, to, run)
			}
		}
		return nil
	}), nil
}

// moveDepthBytes moves the rows of blocks, runs of so many elements, one line of the image after
// the other.
func moveDepthBytes(c *core.OpContext, out, x *core.Tensor, deep tf.Shape, size, run int, toDepth bool) {
	bytes := x.DType().Size()
	run *= bytes
	to, from, blocks, step := out.Buffer().Bytes(), x.Buffer().Bytes(), deep[2], deep[3]*bytes
	c.ParallelFor(x.Len()*bytes/(run*blocks), max(1, 4*elementGrain/(run*blocks)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			space, depth := i*blocks*run, i/size*blocks*step+i%size*run
			if toDepth {
				copyRuns(to[depth:], step, from[space:], run, run, blocks)
			} else {
				copyRuns(to[space:], run, from[depth:], step, run, blocks)
			}
		}
	})
}
