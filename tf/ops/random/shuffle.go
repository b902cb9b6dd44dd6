package random

import (
	"slices"

	"github.com/gorge-tf/gorge/internal/memory"
	stream "github.com/gorge-tf/gorge/internal/random"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

var dataTypes = []tf.DType{
	tf.Float32, tf.Float64, tf.Float16, tf.BFloat16, tf.Complex64, tf.Complex128, tf.Bool, tf.String,
	tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16, tf.Uint32, tf.Uint64, tf.Resource, tf.Variant,
}

func init() {
	core.Register(core.OpDef{
		Name: "StatelessShuffle", In: "value: T; key: uint64; counter: uint64; alg: int32", Out: "output: T", Attrs: "T: type",
		Shape: core.UnchangedShape, NoGrad: core.NoGradientDefined, Kernels: core.ByType("T", oneFor(shuffle, dataTypes...)),
	})
	core.Register(core.OpDef{
		Name: "RandomCrop", In: "image: T; size: int64", Out: "output: T",
		Attrs: "T: {uint8, int8, int16, int32, int64, float, double}; seed: int = 0; seed2: int = 0", Stateful: true,
		Shape: cropShape, NoGrad: core.NotDifferentiable,
		Kernels: core.ByType("T", oneFor(crop, tf.Uint8, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Float32, tf.Float64)),
	})
}

// StatelessShuffle returns x with its rows in a random order. x has any type,
// which the result keeps with the shape; a scalar is returned as it is. key
// is uint64 [1], counter a uint64 vector of 2 elements or more, alg an int32
// scalar, Philox or Auto. Another shape or algorithm is refused with
// INVALID_ARGUMENT in the step.
func StatelessShuffle(x, key, counter, alg tf.Output, opts ...tf.Option) tf.Output {
	return apply("StatelessShuffle", opts, x, key, counter, alg)
}

// RandomCrop returns a part of an image, of three dimensions, that has the
// height and width that size tells and lies at a random place. image is
// [height width depth] of uint8, int8, int16, int32, int64, float32 or
// float64, size an int64 vector of two elements; the result is [size[0]
// size[1] depth] of the type of image. Other shapes are refused with
// INVALID_ARGUMENT, when the graph is built if they are known, else in the
// step. A negative size fails with INVALID_ARGUMENT in the step, one greater
// than the image with FAILED_PRECONDITION. Option ops.RandomOpts sets the
// seed.
func RandomCrop(image, size tf.Output, opts ...tf.Option) tf.Output {
	return apply("RandomCrop", seeded(image.Graph(), opts), image, size)
}

func shuffle(n *core.Node) (core.Kernel, error) {
	d := n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		base, err := fromKey(c)
		if err != nil {
			return err
		}
		x := c.Input(0)
		if x.Rank() == 0 || x.Len() == 0 || x.Dim(0) <= 1 {
			c.Forward(0, 0)
			return nil
		}
		out, err := c.Alloc(0, d, x.Shape())
		if err != nil {
			return err
		}
		order := core.Borrow[int](c, x.Dim(0))
		for i := range order {
			order[i] = i
		}
		stream.Shuffle(base, order)
		shuffleRows(out, x, order)
		return nil
	}), nil
}

func shuffleRows(y, x *core.Tensor, order []int) {
	switch x.DType() {
	case tf.String:
		takeRows(core.Data[string](y), core.Data[string](x), order)
	case tf.Resource:
		takeRows(y.Handles(), x.Handles(), order)
	case tf.Variant:
		takeRows(y.Variants(), x.Variants(), order)
	default:
		takeRows(y.Buffer().Bytes(), x.Buffer().Bytes(), order)
	}
}

// takeRows sets the rows of dst to those of src in another order.
func takeRows[T any](dst, src []T, order []int) {
	row := len(src) / len(order)
	for i, from := range order {
		copy(dst[i*row:(i+1)*row], src[from*row:(from+1)*row])
	}
}

func cropShape(c *core.Infer) error {
	s, err := c.Rank(0, 3)
	if err != nil {
		return err
	}
	if _, err := c.Rank(1, 1); err != nil {
		return err
	}
	out := tf.Shape{-1, -1, s[2]}
	if v, ok := c.ConstInts(1); ok && len(v) == 2 {
		out[0], out[1] = max(v[0], -1), max(v[1], -1)
	}
	c.Set(0, out)
	return nil
}

// cropArgs checks the inputs and returns the height and width wanted.
func cropArgs(c *core.OpContext) (height, width int, err error) {
	image, size := c.Input(0), c.Input(1)
	if image.Rank() != 3 {
		return 0, 0, tf.Errorf(tf.InvalidArgument, "input must be 3-dimensional%s", image.Shape().String())
	}
	if size.Rank() != 1 || size.Len() != 2 {
		return 0, 0, tf.Errorf(tf.InvalidArgument, "size must be a vector of 2 elements: %s", size.Shape().String())
	}
	v := core.Data[int64](size)
	height, width = int(v[0]), int(v[1])
	switch {
	case height < 0 || width < 0:
		return 0, 0, tf.Errorf(tf.InvalidArgument, "size must not be negative: %d, %d", height, width)
	case width > image.Dim(1):
		return 0, 0, tf.Errorf(tf.FailedPrecondition, "width must be >= target_width: width = %d, target_width = %d", image.Dim(1), width)
	case height > image.Dim(0):
		return 0, 0, tf.Errorf(tf.FailedPrecondition, "height must be >= target_height: height = %d, target_height = %d", image.Dim(0), height)
	}
	return height, width, nil
}

func crop(n *core.Node) (core.Kernel, error) {
	g, d := generator(n), n.Type("T")
	return core.Compute(func(c *core.OpContext) error {
		height, width, err := cropArgs(c)
		if err != nil {
			return err
		}
		image := c.Input(0)
		rows, cols, depth := image.Dim(0), image.Dim(1), image.Dim(2)
		if height == rows && width == cols {
			c.Forward(0, 0)
			return nil
		}
		out, err := c.Alloc(0, d, tf.Shape{height, width, depth})
		if err != nil || out.Len() == 0 {
			return err
		}
		words := stream.NewWords(g.ReserveBlocks(1))
		left := offset(words, cols-width) // takes the first word
		top := offset(words, rows-height)
		pixel := depth * d.Size()
		copyWindow(out.Buffer(), image.Buffer(), height, width*pixel, (top*cols+left)*pixel, cols*pixel)
		return nil
	}), nil
}

// offset returns a number from 0 to room, by the next word; none is taken for 0.
func offset(w *stream.Words, room int) int {
	if room <= 0 {
		return 0
	}
	return w.Index(room + 1)
}

// copyWindow copies rows of width bytes each; from is where they begin in src,
// and step how far they lie apart.
func copyWindow(dst, src *memory.Buffer, rows, width, from, step int) {
	to := slices.Clip(dst.Bytes())
	for r := range rows {
		copy(to[r*width:(r+1)*width], src.Bytes()[from+r*step:])
	}
}
