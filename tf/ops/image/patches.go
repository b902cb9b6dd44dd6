package image

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "ExtractImagePatches", In: "images: T", Out: "patches: T",
		Attrs: "ksizes: list(int) >= 4; strides: list(int) >= 4; rates: list(int) >= 4; " +
			"T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128, bool}; padding: {'SAME', 'VALID'}",
		Shape: patchShape, Grad: tf.GradFunc(patchGrad),
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{
			tf.BFloat16: patches[tf.BF16], tf.Float16: patches[tf.Half], tf.Float32: patches[float32], tf.Float64: patches[float64],
			tf.Int8: patches[int8], tf.Int16: patches[int16], tf.Int32: patches[int32], tf.Int64: patches[int64],
			tf.Uint8: patches[uint8], tf.Uint16: patches[uint16], tf.Uint32: patches[uint32], tf.Uint64: patches[uint64],
			tf.Complex64: patches[complex64], tf.Complex128: patches[complex128],
		}),
	})
}

// ExtractImagePatches returns the windows of ksizes, with pixels that are
// rates apart, that move over images by strides: each window is the channels
// of one pixel of the result. images are [batch height width channels] of any
// integer, floating-point or complex type, which the result [batch rows
// columns ksizes[1]*ksizes[2]*channels] keeps. padding is SAME or VALID; what
// lies outside of images is 0. ksizes, strides and rates have four elements,
// of which the first and last are 1: others are refused with UNIMPLEMENTED,
// sizes outside [1, 2^20] with OUT_OF_RANGE, other ranks and windows larger
// than images with padding VALID with INVALID_ARGUMENT, when the graph is
// built if the shape is known, else in the step.
func ExtractImagePatches(images tf.Output, ksizes, strides, rates []int, padding string, opts ...tf.Option) tf.Output {
	own := tf.Join(opts, tf.Attr("ksizes", ksizes), tf.Attr("strides", strides), tf.Attr("rates", rates), tf.Attr("padding", padding))
	return apply("ExtractImagePatches", own, images)
}

// A patching describes windows in one dimension of images.
type patching struct{ size, stride, rate, in, out, before int }

// patchings reads how windows move over rows and columns, of which there are
// as many as s says, -1 for those that are not known.
func patchings(n *core.Node, s tf.Shape) (rows, columns patching, err error) {
	if err := n.CheckInt32s("ksizes", "strides", "rates"); err != nil {
		return rows, columns, err
	}
	for _, name := range []string{"ksizes", "strides", "rates"} {
		v := n.Ints(name)
		if len(v) != 4 {
			return rows, columns, invalid("Sliding window %s field must specify 4 dimensions", name)
		}
		if v[0] != 1 || v[3] != 1 {
			return rows, columns, tf.Errorf(tf.Unimplemented, "Only support %s across space.", name)
		}
		if v[1] < 1 || v[2] < 1 || v[1] > 1<<20 || v[2] > 1<<20 {
			return rows, columns, tf.Errorf(tf.OutOfRange, "%s are out of range", name)
		}
	}
	k, stride, rate := n.Ints("ksizes"), n.Ints("strides"), n.Ints("rates")
	if rows, err = newPatching(n.Str("padding"), patching{size: k[1], stride: stride[1], rate: rate[1], in: s[1]}); err != nil {
		return rows, columns, err
	}
	columns, err = newPatching(n.Str("padding"), patching{size: k[2], stride: stride[2], rate: rate[2], in: s[2]})
	return rows, columns, err
}

func newPatching(padding string, p patching) (patching, error) {
	span := (p.size-1)*p.rate + 1
	switch {
	case p.in < 0:
		p.out = -1
	case padding == "SAME":
		p.out = (p.in + p.stride - 1) / p.stride
		p.before = max(0, (p.out-1)*p.stride+span-p.in) / 2
	default:
		p.out = (p.in - span + p.stride) / p.stride
		if p.in < span && p.out < 0 || p.in-span+p.stride < 0 {
			return p, invalid("Computed output size would be negative: %d [input_size: %d, effective_filter_size: %d, stride: %d]", p.out, p.in, span, p.stride)
		}
	}
	return p, nil
}

func patchShape(c *core.Infer) error {
	s, err := c.Rank(0, 4)
	if err != nil {
		return err
	}
	rows, columns, err := patchings(c.Node, s)
	if err != nil {
		return err
	}
	depth := -1
	if s[3] >= 0 {
		depth = rows.size * columns.size * s[3]
	}
	c.Set(0, tf.Shape{s[0], rows.out, columns.out, depth})
	return nil
}

// eachSource calls f for every pixel of every window, in order: from is the
// pixel of the batch, -1 if it is outside of its image.
func eachSource(batch int, rows, columns patching, f func(to, from int)) {
	to := 0
	for b := range batch {
		for i := range rows.out * columns.out * rows.size * columns.size {
			window, tap := i/(rows.size*columns.size), i%(rows.size*columns.size)
			y := rows.at(window/columns.out, tap/columns.size)
			x := columns.at(window%columns.out, tap%columns.size)
			from := -1
			if y >= 0 && y < rows.in && x >= 0 && x < columns.in {
				from = (b*rows.in+y)*columns.in + x
			}
			f(to, from)
			to++
		}
	}
}

// at returns the position that element k of window o covers.
func (p patching) at(o, k int) int { return o*p.stride + k*p.rate - p.before }

func patches[T tf.Elem](n *core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		in := c.Input(0)
		s := in.Shape()
		if len(s) != 4 {
			return invalid("input must be 4-dimensional%s", s.String())
		}
		rows, columns, err := patchings(n, s)
		if err != nil {
			return err
		}
		out := tf.Shape{s[0], rows.out, columns.out, rows.size * columns.size * s[3]}
		t, err := c.Alloc(0, in.DType(), out)
		if err != nil {
			return err
		}
		y, x, depth := core.Data[T](t), core.Data[T](in), s[3]
		clear(y)
		if len(y) == 0 {
			return nil
		}
		eachSource(s[0], rows, columns, func(to, from int) {
			if from >= 0 {
				copy(y[to*depth:(to+1)*depth], x[from*depth:])
			}
		})
		return nil
	}), nil
}

// patchGrad adds up what the windows say of each pixel. Patches of the numbers
// of the pixels tell which one an element came from; outside of the image that
// is -1, which no sum takes part of.
func patchGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, g := op.Input(0), dy[0]
	graph := g.Graph()
	vector := func(v ...int32) tf.Output { return ops.Const(graph, v, len(v)) }
	k := op.Ints("ksizes")
	size := func(x tf.Output, i int32) tf.Output { return ops.Slice(ops.Shape(x), vector(i), vector(1)) }
	batch, height, width, depth := size(x, 0), size(x, 1), size(x, 2), size(x, 3)
	join := func(v ...tf.Output) tf.Output { return ops.ConcatV2(v, ops.Scalar(graph, int32(0))) }
	scalar := func(x tf.Output) tf.Output {
		return ops.Reshape(x, ops.ConstValue(graph, core.NewTensor(tf.Int32, tf.Shape{0})))
	}
	pixels := scalar(ops.Mul(height, width))
	one := ops.Scalar(graph, int32(1))
	numbers := ops.Reshape(ops.Range(nil, one, ops.Add(pixels, one), one), join(vector(1), height, width, vector(1)))
	from := ExtractImagePatches(numbers, k, op.Ints("strides"), op.Ints("rates"), op.Str("padding"))
	rows, columns := size(g, 1), size(g, 2)
	taps := vector(int32(k[1] * k[2]))
	byPixel := ops.Transpose(ops.Reshape(g, join(batch, rows, columns, taps, depth)), vector(1, 2, 3, 0, 4))
	flat := ops.Reshape(byPixel, join(vector(-1), ops.Mul(batch, depth)))
	sums := apply("UnsortedSegmentSum", nil, flat, ops.Sub(ops.Reshape(from, vector(-1)), one), pixels)
	return tf.Grads(ops.Transpose(ops.Reshape(sums, join(height, width, batch, depth)), vector(2, 0, 1, 3)))
}
