package image

import (
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/ops"
)

func init() {
	core.Register(core.OpDef{
		Name: "ExtractVolumePatches", In: "input: T", Out: "patches: T",
		Attrs: "ksizes: list(int) >= 5; strides: list(int) >= 5; " +
			"T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}; padding: {'SAME', 'VALID'}",
		Shape: volumeShape, Grad: tf.GradFunc(volumeGrad),
		Kernels: core.ByType("T", map[tf.DType]core.NewKernel{
			tf.BFloat16: volumePatches[tf.BF16], tf.Float16: volumePatches[tf.Half], tf.Float32: volumePatches[float32], tf.Float64: volumePatches[float64],
			tf.Int8: volumePatches[int8], tf.Int16: volumePatches[int16], tf.Int32: volumePatches[int32], tf.Int64: volumePatches[int64],
			tf.Uint8: volumePatches[uint8], tf.Uint16: volumePatches[uint16], tf.Uint32: volumePatches[uint32], tf.Uint64: volumePatches[uint64],
		}),
	})
}

// ExtractVolumePatches is ExtractImagePatches for volumes [batch depth height
// width channels], with windows without gaps. volumes have any integer or
// floating-point type; ksizes and strides have five elements. Values outside
// are 0, and errors are those of ExtractImagePatches.
func ExtractVolumePatches(volumes tf.Output, ksizes, strides []int, padding string, opts ...tf.Option) tf.Output {
	return apply("ExtractVolumePatches", tf.Join(opts, tf.Attr("ksizes", ksizes), tf.Attr("strides", strides), tf.Attr("padding", padding)), volumes)
}

// volumeWindows are windows by depth, height and width.
type volumeWindows [3]patching

// volumeWindowsOf reads how windows move over volumes of shape s.
func volumeWindowsOf(n *core.Node, s tf.Shape) (w volumeWindows, err error) {
	if err := n.CheckInt32s("ksizes", "strides"); err != nil {
		return w, err
	}
	for _, name := range []string{"ksizes", "strides"} {
		v := n.Ints(name)
		if len(v) != 5 {
			return w, invalid("ExtractVolumePatches requires the %s attribute to contain 5 values, but got: %d", name, len(v))
		}
		if v[0] != 1 || v[4] != 1 {
			return w, tf.Errorf(tf.Unimplemented, "Only support %s across space.", name)
		}
		if min(v[1], v[2], v[3]) < 1 || max(v[1], v[2], v[3]) > 1<<20 {
			return w, tf.Errorf(tf.OutOfRange, "%s is out of range.", name)
		}
	}
	k, stride := n.Ints("ksizes"), n.Ints("strides")
	for i := range w {
		p := patching{size: k[1+i], stride: stride[1+i], rate: 1, in: s[1+i]}
		if w[i], err = newPatching(n.Str("padding"), p); err != nil {
			return w, err
		}
		if p = w[i]; n.Str("padding") == "SAME" && p.in > 0 {
			// As in TensorFlow, windows that leave elements out lie in the middle, which
			// those of images do not.
			w[i].before = ((p.out-1)*p.stride + p.size - p.in) / 2
		}
	}
	return w, nil
}

// taps is how many positions a window covers.
func (w *volumeWindows) taps() int { return w[0].size * w[1].size * w[2].size }

// shape returns the shape of the patches of volumes of shape s.
func (w *volumeWindows) shape(s tf.Shape) tf.Shape {
	out := tf.Shape{s[0], w[0].out, w[1].out, w[2].out, -1}
	if s[4] >= 0 {
		out[4] = w.taps() * s[4]
	}
	return out
}

func volumeShape(c *core.Infer) error {
	s, err := c.Rank(0, 5)
	if err != nil {
		return err
	}
	w, err := volumeWindowsOf(c.Node, s)
	if err == nil {
		c.Set(0, w.shape(s))
	}
	return err
}

// volumeLine copies the patches of a line of windows, at depth d and height h of
// volume x, to y; depth is the number of channels.
func volumeLine[T tf.Elem](w *volumeWindows, y, x []T, d, h, depth int) {
	rows := w[2].size * depth
	for o := range w[2].out {
		for k := range w[0].size * w[1].size {
			z, row := w[0].at(d, k/w[1].size), w[1].at(h, k%w[1].size)
			dst := y[:rows]
			y = y[rows:]
			if z < 0 || z >= w[0].in || row < 0 || row >= w[1].in {
				continue
			}
			first := w[2].at(o, 0)
			lo, hi := max(0, -first), max(0, min(w[2].size, w[2].in-first))
			if lo < hi {
				copy(dst[lo*depth:hi*depth], x[((z*w[1].in+row)*w[2].in+first+lo)*depth:])
			}
		}
	}
}

func volumePatches[T tf.Elem](n *core.Node) (core.Kernel, error) {
	return core.Compute(func(c *core.OpContext) error {
		in := c.Input(0)
		s := in.Shape()
		if len(s) != 5 {
			return invalid("input must be 5-dimensional%s", s.String())
		}
		w, err := volumeWindowsOf(n, s)
		if err != nil {
			return err
		}
		out := w.shape(s)
		t, err := c.Alloc(0, in.DType(), out)
		if err != nil || t.Len() == 0 {
			return err
		}
		y, x := core.Data[T](t), core.Data[T](in)
		line, volume := out[3]*out[4], s[1:].NumElements()
		c.ParallelFor(s[0]*out[1]*out[2], max(1, grain/line), func(lo, hi int) {
			clear(y[lo*line : hi*line])
			for i := lo; i < hi; i++ {
				b, at := i/(out[1]*out[2]), i%(out[1]*out[2])
				volumeLine(&w, y[i*line:(i+1)*line], x[b*volume:], at/out[2], at%out[2], s[4])
			}
		})
		return nil
	}), nil
}

// volumeGrad is patchGrad with one more dimension.
func volumeGrad(op *tf.Operation, dy []tf.Output) []tf.Gradient {
	x, g := op.Input(0), dy[0]
	graph := g.Graph()
	vector := func(v ...int32) tf.Output { return ops.Const(graph, v, len(v)) }
	k := op.Ints("ksizes")
	sizes := func(x tf.Output, from, n int32) tf.Output { return ops.Slice(ops.Shape(x), vector(from), vector(n)) }
	join := func(v ...tf.Output) tf.Output { return ops.ConcatV2(v, ops.Scalar(graph, int32(0))) }
	batch, inner, depth := sizes(x, 0, 1), sizes(x, 1, 3), sizes(x, 4, 1)
	one, zero := ops.Scalar(graph, int32(1)), ops.Scalar(graph, int32(0))
	positions := ops.Prod(inner, zero)
	numbers := ops.Reshape(ops.Range(nil, one, ops.Add(positions, one), one), join(vector(1), inner, vector(1)))
	from := ExtractVolumePatches(numbers, k, op.Ints("strides"), op.Str("padding"))
	taps := vector(int32(k[1] * k[2] * k[3]))
	byPosition := ops.Transpose(ops.Reshape(g, join(batch, sizes(g, 1, 3), taps, depth)), vector(1, 2, 3, 4, 0, 5))
	flat := ops.Reshape(byPosition, join(vector(-1), ops.Mul(batch, depth)))
	sums := apply("UnsortedSegmentSum", nil, flat, ops.Sub(ops.Reshape(from, vector(-1)), one), positions)
	return tf.Grads(ops.Transpose(ops.Reshape(sums, join(inner, batch, depth)), vector(3, 0, 1, 2, 4)))
}
