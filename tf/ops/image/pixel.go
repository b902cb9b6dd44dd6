package image

import "math"

// A pixel computes the three colors y of a pixel from its colors x.
type pixel[T float32 | float64] func(y, x []T)

// A rounded makes a pixel whose every operation is followed by round, as numbers of
// 16 bits are computed. The order of the operations is TensorFlow's. A product is
// converted before it is added to something, so that no machine joins the two.
type rounded func(round func(float32) float32) pixel[float32]

// extremes returns the greatest and the least of three colors. One that is NaN
// is forgotten at the next color, as TensorFlow's reductions do.
func extremes[T float32 | float64](x []T) (high, low T) {
	high, low = x[0], x[0]
	for _, v := range x[1:3] {
		if !(high > v) {
			high = v
		}
		if !(low < v) {
			low = v
		}
	}
	return high, low
}

func rgbToHSV(round func(float32) float32) pixel[float32] {
	sixth, third, twoThirds := round(1/round(6)), round(2/round(6)), round(4/round(6))
	return func(y, x []float32) {
		r, g, b := x[0], x[1], x[2]
		v, least := extremes(x)
		span := round(v - least)
		y[0], y[1], y[2] = 0, 0, v
		if v > 0 {
			y[1] = round(span / v)
		}
		if !(span > 0) {
			return
		}
		var h float32
		switch norm := round(round(1/span) * sixth); v {
		case r:
			h = round(norm * round(g-b))
		case g:
			h = round(round(norm*round(b-r)) + third)
		default:
			h = round(round(norm*round(r-g)) + twoThirds)
		}
		if h < 0 {
			h = round(h + 1)
		}
		y[0] = h
	}
}

func hsvToRGB(round func(float32) float32) pixel[float32] {
	distance := func(h, from float32) float32 { return float32(math.Abs(float64(round(h - from)))) }
	return func(y, x []float32) {
		h, s, v := round(6*x[0]), x[1], x[2]
		rest := round(1 - s)
		for i, part := range [3]float32{distance(h, 3) - 1, 2 - distance(h, 2), 2 - distance(h, 4)} {
			y[i] = round(round(rest+round(s*min(1, max(0, round(part))))) * v)
		}
	}
}

// exactToHSV is rgbToHSV without roundings but those of T, which is faster.
func exactToHSV[T float32 | float64](y, x []T) {
	sixth, third, twoThirds := T(1)/6, T(2)/6, T(4)/6
	r, g, b := x[0], x[1], x[2]
	v, least := extremes(x)
	span := v - least
	y[0], y[1], y[2] = 0, 0, v
	if v > 0 {
		y[1] = span / v
	}
	if !(span > 0) {
		return
	}
	var h T
	switch norm := 1 / span * sixth; v {
	case r:
		h = norm * (g - b)
	case g:
		h = T(norm*(b-r)) + third
	default:
		h = T(norm*(r-g)) + twoThirds
	}
	if h < 0 {
		h++
	}
	y[0] = h
}

// exactToRGB is hsvToRGB likewise.
func exactToRGB[T float32 | float64](y, x []T) {
	distance := func(h, from T) T { return T(math.Abs(float64(h - from))) }
	h, s, v := T(6*x[0]), x[1], x[2]
	rest := 1 - s
	for i, part := range [3]T{distance(h, 3) - 1, 2 - distance(h, 2), 2 - distance(h, 4)} {
		y[i] = (rest + T(s*min(1, max(0, part)))) * v
	}
}
