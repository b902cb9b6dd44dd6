package image

import "math"

// A sextant is a sixth of the circle of hues: the indices of the colors that are the
// greatest, between and the least there. In sextants of even number the color between
// grows with the hue.
type sextant struct{ high, mid, low int }

var sextants = [6]sextant{{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}, {2, 0, 1}, {0, 2, 1}}

// sextantOf returns the number of the sextant of a pixel. The order of the comparisons
// decides for equal colors and for NaN, as TensorFlow's does.
func sextantOf(r, g, b float32) int {
	if r < g {
		switch {
		case b < r:
			return 1
		case b > g:
			return 3
		}
		return 2
	}
	switch {
	case b < g:
		return 0
	case b > r:
		return 4
	}
	return 5
}

// turnedHue keeps the greatest and the least of the colors and turns the hue, which
// is counted in sextants, between them.
func turnedHue(by float32) pixel[float32] {
	by *= 6
	return func(y, x []float32) {
		n := sextantOf(x[0], x[1], x[2])
		at := sextants[n]
		high, mid, low := x[at.high], x[at.mid], x[at.low]
		h := float32(0)
		if high != low {
			h = float32(n) + rising(n, (mid-low)/(high-low))
		}
		n, h = splitHue(aroundSix(h + by))
		at = sextants[n]
		y[at.high], y[at.low], y[at.mid] = high, low, low+float32(rising(n, h)*(high-low))
	}
}

// rising returns how far the color between is from the least in sextant n, given how
// far the hue is into it, or the other way round.
func rising(n int, share float32) float32 {
	if n&1 == 0 {
		return share
	}
	return 1 - share
}

// aroundSix returns h in [0, 6): TensorFlow adds and subtracts 6 until it is, which
// gives what math.Mod gives. An infinite h, with which TensorFlow does not end, is NaN.
func aroundSix(h float32) float32 {
	h = float32(math.Mod(float64(h), 6)) + 0 // which is not -0
	if h < 0 {
		h += 6
	}
	if h >= 6 {
		h -= 6
	}
	return h
}

// splitHue returns the sextant of a hue and how far the hue is into it. NaN is in the
// last one.
func splitHue(h float32) (n int, share float32) {
	if h != h {
		return len(sextants) - 1, 1 - h
	}
	n = int(h)
	return n, h - float32(n)
}

// saturated multiplies the saturation.
func saturated(by float32) pixel[float32] {
	return func(y, x []float32) {
		h, s, v := saturation(x[0], x[1], x[2])
		s *= by
		if !(s > 0) {
			s = 0 // NaN too
		}
		chroma := min(1, s) * v
		wheel(y, h*6, chroma)
		for i := range y {
			y[i] += v - chroma
		}
	}
}

// saturation returns hue, saturation and value of a pixel.
func saturation(r, g, b float32) (h, s, v float32) {
	v = greater(r, greater(g, b))
	span := v - lesser(r, lesser(g, b))
	if v > 0 {
		s = span / v
	}
	norm := 1 / (6 * span)
	switch v {
	case r:
		h = norm * (g - b)
	case g:
		h = oneThird.plus(float32(norm * (b - r)))
	default:
		h = thirds.plus(float32(norm * (r - g)))
	}
	if span <= 0 {
		h = 0
	}
	if h < 0 {
		h++
	}
	return h, s, v
}

// wheel sets y to the colors of the hue h, counted in sextants, between 0 and chroma.
// A hue that is not in [0, 6) has none.
func wheel(y []float32, h, chroma float32) {
	y[0], y[1], y[2] = 0, 0, 0
	if !(h > -1 && h < 6) {
		return
	}
	from := float32(math.Mod(float64(h), 2)) - 1
	at := sextants[int(h)]
	y[at.high], y[at.mid] = chroma, chroma*(1-float32(math.Abs(float64(from))))
}
