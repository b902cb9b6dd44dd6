package xla

import (
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

// images convolves images, of two spatial dimensions or fewer, whose result has sizes y.
func (c *convolving) images(y []size) tf.Output {
	n := len(c.pads)
	c.flat()
	out := c.image()
	if n < 2 {
		out = shaped(c.g, out, y)
	}
	return out
}

// flat adds spatial dimensions of size 1 until there are two.
func (c *convolving) flat() {
	missing := 2 - len(c.pads)
	if missing <= 0 {
		return
	}
	c.xs = slices.Insert(slices.Clone(c.xs), 1, ones(missing)...)
	c.ws = slices.Insert(slices.Clone(c.ws), 0, ones(missing)...)
	c.x, c.w = shaped(c.g, c.x, c.xs), shaped(c.g, c.w, c.ws)
	for range missing {
		c.pads = slices.Insert(c.pads, 0, padding{known(0), known(0), known(0)})
		for _, v := range []*[]int{&c.strides, &c.xDilation, &c.wDilation} {
			*v = slices.Insert(*v, 0, 1)
		}
	}
}

// image convolves images of two spatial dimensions.
func (c *convolving) image() tf.Output {
	if y, ok := c.spreading(); ok {
		return y
	}
	c.padFirst(false)
	strides := []int{1, c.strides[0], c.strides[1], 1}
	o := ops.WindowOpts{Dilations: []int{1, c.wDilation[0], c.wDilation[1], 1}}
	pads := c.explicit()
	padding := "VALID"
	if slices.ContainsFunc(pads, func(p int) bool { return p != 0 }) {
		padding, o.ExplicitPaddings = "EXPLICIT", pads
	}
	if c.wDilation[0] == 1 && c.wDilation[1] == 1 {
		o.Dilations = nil
	}
	if c.depthwise() {
		w := ops.Reshape(c.w, []int{c.ws[0].n, c.ws[1].n, c.groups, c.ws[3].n / c.groups})
		return ops.DepthwiseConv2dNative(c.x, w, strides, padding, o, open)
	}
	return ops.Conv2D(c.x, c.w, strides, padding, o, open)
}

// depthwise reports whether each channel has filters of its own, in a form that
// DepthwiseConv2dNative takes.
func (c *convolving) depthwise() bool {
	return c.groups > 1 && c.ws[2].is(1) && c.strides[0] == c.strides[1] && c.ws[0].known() && c.ws[1].known() && c.x.DType() != tf.Int32 &&
		(c.strides[0] == 1 || c.wDilation[0] == 1 && c.wDilation[1] == 1)
}

// explicit returns the paddings of images.
func (c *convolving) explicit() []int {
	p := make([]int, 8)
	for i, e := range c.pads {
		p[2+2*i], p[3+2*i] = e.low.n, e.high.n
	}
	return p
}

// spreading convolves with dilated images, a transposed convolution, which is the
// gradient of one with strides.
func (c *convolving) spreading() (tf.Output, bool) {
	if c.xDilation[0] == 1 && c.xDilation[1] == 1 || c.groups > 1 || c.x.DType() == tf.Int32 {
		return tf.Output{}, false
	}
	pads := make([]int, 8)
	out := []size{c.xs[0], known(0), known(0), c.ws[3]}
	for i, p := range c.pads {
		k := c.ws[i]
		if !p.low.known() || !p.high.known() || !k.known() || c.strides[i] != 1 || c.wDilation[i] != 1 {
			return tf.Output{}, false
		}
		low, high := k.n-1-p.low.n, k.n-1-p.high.n
		if low < 0 || high < 0 {
			return tf.Output{}, false
		}
		pads[2+2*i], pads[3+2*i] = low, high
		p.interior = known(c.xDilation[i] - 1)
		out[1+i] = padded(c.xs[1+i], p).minus(known(k.n - 1))
		if least := p.low.n + p.high.n + 1 - (k.n - 1); out[1+i].known() && out[1+i].n < 1 || !out[1+i].known() && least < 1 {
			return tf.Output{}, false
		}
	}
	w := ops.Transpose(ops.Reverse(c.w, []int{0, 1}), []int{0, 1, 3, 2})
	strides := []int{1, c.xDilation[0], c.xDilation[1], 1}
	if !slices.ContainsFunc(pads, func(p int) bool { return p != 0 }) {
		return ops.Conv2DBackpropInput(vector(c.g, out), w, c.x, strides, "VALID"), true
	}
	return ops.Conv2DBackpropInput(vector(c.g, out), w, c.x, strides, "EXPLICIT", ops.WindowOpts{ExplicitPaddings: pads}), true
}

// volumes convolves volumes, of three spatial dimensions.
func (c *convolving) volumes() tf.Output {
	c.padFirst(true)
	strides := append(append([]int{1}, c.strides...), 1)
	return ops.Conv3D(c.x, c.w, strides, "VALID", ops.WindowOpts{Dilations: append(append([]int{1}, c.wDilation...), 1)}, open)
}

// maxPositions bounds the nodes that positions adds.
const maxPositions = 4096

// positions adds up matrix products, one for each position of the kernel: for types
// and ranks without an op.
func (c *convolving) positions(y []size) (tf.Output, error) {
	n := len(c.pads)
	k, ok := allKnown(c.ws[:n])
	if !ok || product(c.ws[:n]).n > maxPositions {
		return tf.Output{}, unsupported(c.op, "a kernel of type %s and rank %d must have at most %d known positions", c.op.Operands[1].Type.Elem, n+2, maxPositions)
	}
	c.padFirst(true)
	in, out := c.ws[n].n, c.ws[n+1].n/c.groups
	cells := product(y[:n+1])
	var sum tf.Output
	for i, at := range grid(k) {
		x := c.window(at, y[1:n+1])
		x = ops.Transpose(shaped(c.g, x, []size{cells, known(c.groups), known(in)}), []int{1, 0, 2})
		w := ops.Slice(c.w, append(slices.Clone(at), 0, 0), append(repeat(1, n), in, out*c.groups))
		w = ops.Transpose(ops.Reshape(w, []int{in, c.groups, out}), []int{1, 0, 2})
		p := ops.BatchMatMul(x, w)
		if i == 0 {
			sum = p
		} else {
			sum = ops.AddV2(sum, p)
		}
	}
	return shaped(c.g, ops.Transpose(sum, []int{1, 0, 2}), y), nil
}

// window returns the elements of x that a position of the kernel meets.
func (c *convolving) window(at []int, y []size) tf.Output {
	begin, end, step := make([]size, len(c.xs)), slices.Clone(c.xs), repeat(1, len(c.xs))
	begin[0], begin[len(begin)-1] = known(0), known(0)
	for i, p := range at {
		from := p * c.wDilation[i]
		begin[1+i], step[1+i] = known(from), c.strides[i]
		end[1+i] = y[i].minus(known(1)).times(known(c.strides[i])).plus(known(from + 1)).max(known(from))
	}
	return ops.StridedSlice(c.x, vector(c.g, begin), vector(c.g, end), int32s(c.g, step))
}

// grid returns the positions in a box of some sizes, row by row.
func grid(sizes []int) [][]int {
	out := [][]int{nil}
	for _, n := range sizes {
		var next [][]int
		for _, at := range out {
			for i := range n {
				next = append(next, append(slices.Clone(at), i))
			}
		}
		out = next
	}
	return out
}

func repeat(v, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = v
	}
	return out
}
