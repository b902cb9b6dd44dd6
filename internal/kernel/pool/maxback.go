package pool

import "github.com/gorge-tf/gorge/internal/kernel"

// clearAtOnce is how many elements of images are cleared at a time, before gradients are added
// to them: they stay in the second-level cache until then.
const clearAtOnce = 64 << 10

// A maxBack gives the gradients of maxima to images.
type maxBack struct {
	*Pool
	dx, x, dy []float32
	image     int // elements of one
	grad      func(dx, x, dy *float32, offsets *int, taps, channels, count, step int)
	cleared   bool // grad adds, or leaves elements that no window covers
}

// A Gate lets the gradient of a maximum pass where that is greater than 0 and less than Most.
type Gate struct {
	Most float32 // NaN: there is no such bound
}

// maxBack chooses the loop. One for windows that lie apart need not read what it writes.
func (v *Pool) maxBack(dx, x, dy []float32, gate *Gate) *maxBack {
	b := &maxBack{Pool: v, dx: dx, x: x, dy: dy, image: v.LinesIn() * v.In[2] * v.C, grad: simd.poolMaxGrad, cleared: true}
	gated := simd.poolMaxGradGated
	if apart, all := v.apart(); apart {
		b.grad, gated, b.cleared = simd.poolMaxGradApart, simd.poolMaxGradApartGated, !all
	}
	if gate != nil {
		b.grad = func(dx, x, dy *float32, offsets *int, taps, channels, count, step int) {
			gated(dx, x, dy, offsets, taps, channels, count, step, gate.Most)
		}
	}
	return b
}

// shut sets gradients of elements x to 0 that do not pass.
func (g *Gate) shut(par kernel.Par, dx, x []float32) {
	par(len(x), poolElements, func(lo, hi int) {
		for i, v := range x[lo:hi] {
			if !(v > 0) || v >= g.Most {
				dx[lo+i] = 0
			}
		}
	})
}

// apart reports whether no windows overlap, and whether they cover all of an image then.
func (v *Pool) apart() (apart, all bool) {
	apart, all = true, true
	for i, stride := range v.Stride {
		span := (v.Kernel[i]-1)*v.Dilation[i] + 1
		apart = apart && (span <= stride || v.Out[i] < 2)
		all = all && span == stride && span == v.Kernel[i] && v.Pad[i] < span && v.Out[i]*stride-v.Pad[i] >= v.In[i]
	}
	return apart, apart && all
}

// images sets the gradients of images [lo, hi).
func (b *maxBack) images(lo, hi int) {
	if b.cleared {
		clear(b.dx[lo*b.image : hi*b.image])
	}
	b.eachRun(lo*b.LinesOut(), hi*b.LinesOut(), func(r *run) {
		if len(r.offsets) > 0 {
			at := r.pixel * b.C
			b.grad(&b.dx[at], &b.x[at], &b.dy[r.window*b.C], &r.offsets[0], len(r.offsets), b.C, r.count, b.Stride[2]*b.C)
		}
	})
}
