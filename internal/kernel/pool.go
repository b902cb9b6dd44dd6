package kernel

// Pool describes how images [batch depth height width channels] are pooled,
// each channel by itself.
type Pool struct {
	Window
	Batch, C int
}

// poolElements are worth a task of their own.
const poolElements = 16 << 10

func (v *Pool) lineGrain() int { return max(1, poolElements/max(1, v.Out[2]*v.taps()*v.C)) }

func (v *Pool) imageGrain() int {
	return max(1, poolElements/max(1, v.linesOut()*v.Out[2]*v.taps()*v.C))
}

// eachTap calls f for the positions inside image n that window (od, oh, ow)
// covers, in order. A position is the number of a pixel in the batch.
func (v *Pool) eachTap(n, od, oh, ow int, f func(pixel int)) {
	d0, d1 := v.clip(0, od)
	h0, h1 := v.clip(1, oh)
	w0, w1 := v.clip(2, ow)
	for kd := d0; kd < d1; kd++ {
		d, _ := v.at(0, od, kd)
		for kh := h0; kh < h1; kh++ {
			h, _ := v.at(1, oh, kh)
			w, _ := v.at(2, ow, w0)
			at := ((n*v.In[0]+d)*v.In[1]+h)*v.In[2] + w
			for range w1 - w0 {
				f(at)
				at += v.Dilation[2]
			}
		}
	}
}

// eachWindow calls f for the windows of lines [lo, hi).
func (v *Pool) eachWindow(lo, hi int, f func(window, n, od, oh, ow int)) {
	for i := lo; i < hi; i++ {
		n, od, oh := v.line(i)
		for ow := range v.Out[2] {
			f(i*v.Out[2]+ow, n, od, oh, ow)
		}
	}
}

// MaxPool sets y to the greatest elements of each window, the least number
// there is for windows outside of the image.
func MaxPool[T Real](par Par, v *Pool, y, x []T) {
	par(v.Batch*v.linesOut(), v.lineGrain(), func(lo, hi int) {
		v.eachWindow(lo, hi, func(i, n, od, oh, ow int) {
			dst, first := y[i*v.C:(i+1)*v.C], true
			v.eachTap(n, od, oh, ow, func(p int) {
				src := x[p*v.C : (p+1)*v.C]
				if first {
					copy(dst, src)
				} else {
					Max(dst, dst, src)
				}
				first = false
			})
			if first {
				Fill(dst, Lowest[T]())
			}
		})
	})
}

// MaxPoolArg sets arg to the pixel of the batch, by channel, that holds the
// first of the greatest elements of each window, -1 for windows outside of the
// image.
func MaxPoolArg[T Real](par Par, v *Pool, arg []int64, x []T) {
	par(v.Batch*v.linesOut(), v.lineGrain(), func(lo, hi int) {
		best := make([]T, v.C)
		v.eachWindow(lo, hi, func(i, n, od, oh, ow int) {
			at := arg[i*v.C : (i+1)*v.C]
			Fill(at, -1)
			v.eachTap(n, od, oh, ow, func(p int) {
				for c, val := range x[p*v.C : (p+1)*v.C] {
					if at[c] < 0 || val > best[c] {
						best[c], at[c] = val, int64(p)
					}
				}
			})
		})
	})
}

// MaxPoolGrad gives each window's gradient dy to the element it took.
func MaxPoolGrad[T Real](par Par, v *Pool, dx, dy []T, arg []int64) {
	clear(dx)
	n := v.linesOut() * v.Out[2] * v.C
	par(v.Batch, v.imageGrain(), func(lo, hi int) {
		for i := lo * n; i < hi*n; i++ {
			if arg[i] >= 0 {
				dx[int(arg[i])*v.C+i%v.C] += dy[i]
			}
		}
	})
}

// MaxPoolGather sets y to the elements of x that arg chooses, 0 where it
// chooses none.
func MaxPoolGather[T Real](par Par, v *Pool, y, x []T, arg []int64) {
	par(len(y), poolElements, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = 0
			if arg[i] >= 0 {
				y[i] = x[int(arg[i])*v.C+i%v.C]
			}
		}
	})
}

// count returns how many positions inside the image a window covers.
func (v *Pool) count(od, oh, ow int) int {
	n := 1
	for i, o := range [3]int{od, oh, ow} {
		lo, hi := v.clip(i, o)
		n *= hi - lo
	}
	return n
}

// AvgPool sets y to the means of each window's elements inside the image.
func AvgPool[T Float](par Par, v *Pool, y, x []T) {
	par(v.Batch*v.linesOut(), v.lineGrain(), func(lo, hi int) {
		v.eachWindow(lo, hi, func(i, n, od, oh, ow int) {
			dst := y[i*v.C : (i+1)*v.C]
			clear(dst)
			v.eachTap(n, od, oh, ow, func(p int) { Add(dst, dst, x[p*v.C:(p+1)*v.C]) })
			MulScalar(dst, dst, 1/T(max(1, v.count(od, oh, ow))))
		})
	})
}

// AvgPoolGrad shares each window's gradient dy among its elements.
func AvgPoolGrad[T Float](par Par, v *Pool, dx, dy []T) {
	clear(dx)
	par(v.Batch, v.imageGrain(), func(lo, hi int) {
		part := make([]T, v.C)
		v.eachWindow(lo*v.linesOut(), hi*v.linesOut(), func(i, n, od, oh, ow int) {
			MulScalar(part, dy[i*v.C:(i+1)*v.C], 1/T(max(1, v.count(od, oh, ow))))
			v.eachTap(n, od, oh, ow, func(p int) { Add(dx[p*v.C:(p+1)*v.C], dx[p*v.C:(p+1)*v.C], part) })
		})
	})
}
