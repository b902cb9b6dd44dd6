package xla

import (
	"math"
	"slices"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/ops"
)

var negInf, posInf = math.Inf(-1), math.Inf(1)

// poolable are the types of the maxima and sums that pooling computes.
var poolable = map[string][]tf.DType{
	"maximum": {tf.Float16, tf.BFloat16, tf.Float32, tf.Float64, tf.Int8, tf.Int16, tf.Int32, tf.Int64, tf.Uint8, tf.Uint16},
	"add":     {tf.Float32, tf.Float64},
}

// pooled computes maxima and sums over one dimension, or two that are neighbours, by
// pooling. It takes tensors as images: dimensions before as batch, those behind as
// channels.
func (w *windowing) pooled(x, pad tf.Output, how string) (tf.Output, bool) {
	first, ok := w.neighbours()
	if !ok || !slices.Contains(poolable[how], x.DType()) {
		return x, false
	}
	inside := how == "maximum" && w.padsFit(first)
	if !inside {
		x = w.padded(x, pad)
	}
	image := w.image(first)
	y := append(slices.Clone(w.sizes[:first]), w.sizes[first:]...)
	ksize, strides, pads := []int{1, 1, 1, 1}, []int{1, 1, 1, 1}, make([]int, 8)
	for i := range min(2, len(w.sizes)-first) {
		d, p := first+i, w.pads[first+i]
		ksize[1+i], strides[1+i] = w.window[d], w.strides[d]
		n := w.sizes[d]
		if inside {
			pads[2+2*i], pads[3+2*i] = p.low.n, p.high.n
			n = padded(n, p)
		}
		y[d] = w.count(d, n)
		if y[d].is(0) {
			return x, false
		}
	}
	flat := len(w.sizes) == 4 && first == 1
	if !flat {
		x = shaped(w.l.g, x, image)
	}
	z := w.pool(x, how, ksize, strides, pads)
	if !flat {
		z = shaped(w.l.g, z, y)
	}
	return z, true
}

// open is for nodes whose sizes only the step may know: where TensorFlow refuses windows
// greater than the images, and indices into tensors without elements, there is nothing.
var open = tf.Attr("_open", true)

func (w *windowing) pool(x tf.Output, how string, ksize, strides, pads []int) tf.Output {
	switch {
	case how == "add":
		return ops.AvgPool(x, ksize, strides, "VALID", tf.Attr("_sum", true), open)
	case slices.ContainsFunc(pads, func(p int) bool { return p != 0 }):
		return ops.MaxPool(x, ksize, strides, "EXPLICIT", ops.WindowOpts{ExplicitPaddings: pads}, open)
	}
	return ops.MaxPool(x, ksize, strides, "VALID", open)
}

// neighbours returns the first of the dimensions that windows extend or move along, if
// there are at most two, one after the other, and none is dilated.
func (w *windowing) neighbours() (int, bool) {
	first, last := -1, -1
	for d := range w.window {
		if w.window[d] == 1 && w.strides[d] == 1 && w.pads[d] == (padding{known(0), known(0), known(0)}) {
			continue
		}
		if w.dilation[d] > 1 {
			return 0, false
		}
		if first < 0 {
			first = d
		}
		last = d
	}
	if first > 0 && first == last && len(w.sizes) == 4 && first == 2 {
		first = 1 // an image as it is
	}
	return first, first >= 0 && last-first <= 1
}

// padsFit reports whether pooling can pad by itself: less than a window.
func (w *windowing) padsFit(first int) bool {
	for d := first; d < min(first+2, len(w.pads)); d++ {
		p := w.pads[d]
		if !p.interior.is(0) || !p.low.known() || !p.high.known() || p.low.n < 0 || p.high.n < 0 || p.low.n >= w.window[d] || p.high.n >= w.window[d] {
			return false
		}
	}
	return true
}

// image returns the sizes of an image of the dimensions first and the one behind.
func (w *windowing) image(first int) []size {
	s := []size{product(w.sizes[:first]), w.sizes[first], known(1), known(1)}
	if first+1 < len(w.sizes) {
		s[2] = w.sizes[first+1]
		s[3] = product(w.sizes[first+2:])
	}
	return s
}

// general combines windows by any region, one element of each after the other. Elements
// that pad do not count.
func (w *windowing) general(xs, init []tf.Output) ([]tf.Output, error) {
	body := region(w.op, 0)
	n := 1
	for _, k := range w.window {
		if n *= k; n > maxPositions {
			return nil, unsupported(w.op, "a window of a computation that is not recognized must have at most %d elements", maxPositions)
		}
	}
	if body == nil {
		return nil, refused(w.op, "it must have a region")
	}
	in := make([]tf.Output, len(xs))
	whole := *w
	for i, x := range xs {
		each := *w
		in[i] = each.padded(x, init[i])
		whole = each
	}
	mask := *w
	inside := mask.padded(ops.Fill(vector(w.l.g, w.sizes), ops.Constant(w.l.g, true)), ops.Constant(w.l.g, false))
	acc := slices.Clone(init)
	for _, at := range grid(w.window) {
		next := make([]tf.Output, len(xs))
		for i := range xs {
			next[i] = whole.windowAt(in[i], at)
		}
		out, err := w.l.loosely(w.op, body, append(slices.Clone(acc), next...))
		if err != nil {
			return nil, err
		}
		if len(out) != len(xs) {
			return nil, refused(w.op, "its region must return %d values, got %d", len(xs), len(out))
		}
		counts := whole.windowAt(inside, at)
		for i := range acc {
			acc[i] = ops.SelectV2(counts, out[i], acc[i])
		}
	}
	return acc, nil
}

// windowAt takes the element of each window that is at a position.
func (w *windowing) windowAt(x tf.Output, at []int) tf.Output {
	for d, p := range at {
		if w.window[d] > 1 || w.strides[d] > 1 {
			x = w.every(x, d, p*w.dilation[d], w.count(d, w.sizes[d]), w.strides[d])
		}
	}
	return x
}
