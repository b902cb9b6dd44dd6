package random

import "math"

// The last bits of normal numbers are those of the C library that TensorFlow
// runs on. logf, sincosf and sqrtf follow the recipes of the Arm Optimized
// Routines, which glibc uses: they compute in float64 and round once. Every
// product is converted to float64 explicitly, which keeps compilers for
// machines with a fused multiply-add from fusing it.

// logTable has, for the sixteenth of [0x3f330000, 2·0x3f330000) that a number's
// bits fall into, about 1/c and log(c) for a point c in it.
var logTable = [16]struct{ inv, log float64 }{
	{0x1.661ec79f8f3bep+0, -0x1.57bf7808caadep-2},
	{0x1.571ed4aaf883dp+0, -0x1.2bef0a7c06ddbp-2},
	{0x1.49539f0f010bp+0, -0x1.01eae7f513a67p-2},
	{0x1.3c995b0b80385p+0, -0x1.b31d8a68224e9p-3},
	{0x1.30d190c8864a5p+0, -0x1.6574f0ac07758p-3},
	{0x1.25e227b0b8eap+0, -0x1.1aa2bc79c81p-3},
	{0x1.1bb4a4a1a343fp+0, -0x1.a4e76ce8c0e5ep-4},
	{0x1.12358f08ae5bap+0, -0x1.1973c5a611cccp-4},
	{0x1.0953f419900a7p+0, -0x1.252f438e10c1ep-5},
	{1, 0},
	{0x1.e608cfd9a47acp-1, 0x1.aa5aa5df25984p-5},
	{0x1.ca4b31f026aap-1, 0x1.c5e53aa362eb4p-4},
	{0x1.b2036576afce6p-1, 0x1.526e57720db08p-3},
	{0x1.9c2d163a1aa2dp-1, 0x1.bc2860d22477p-3},
	{0x1.886e6037841edp-1, 0x1.1058bc8a07ee1p-2},
	{0x1.767dcf5534862p-1, 0x1.4043057b6ee09p-2},
}

// logf is the natural logarithm of a positive normal number.
func logf(x float32) float32 {
	const (
		offset = 0x3f330000
		ln2    = 0x1.62e42fefa39efp-1
		a0     = -0x1.00ea348b88334p-2
		a1     = 0x1.5575b0be00b6ap-2
		a2     = -0x1.ffffef20a4123p-2
	)
	b := math.Float32bits(x)
	if b == 1<<23*127 {
		return 0
	}
	i := b - offset
	c := &logTable[i>>19&15]
	z := float64(math.Float32frombits(b - i&0xff800000))
	r := float64(z*c.inv) - 1
	y0 := c.log + float64(float64(int32(i)>>23)*ln2)
	r2 := float64(r * r)
	y := float64(a1*r) + a2
	y = float64(a0*r2) + y
	return float32(float64(y*r2) + (y0 + r))
}

// sincosf is the sine and cosine of y in [0, 2π].
func sincosf(y float32) (sin, cos float32) {
	const tiny = 0x1p-12
	if y < tiny {
		return y, 1
	}
	x, n := reduce(float64(y))
	t := float64(x * x)
	return quadrant(float32(sinPoly(x, t)), float32(cosPoly(t)), n)
}

// quadrant turns the sine and cosine of an angle into those of the angle plus
// n·π/2. It works on the bits because the quadrant of a random angle is what no
// processor predicts.
func quadrant(sin, cos float32, n uint32) (float32, float32) {
	s := math.Float32bits(sin) ^ (n+1)&2<<30
	c := math.Float32bits(cos) ^ n&2<<30
	swap := (s ^ c) & -(n & 1)
	return math.Float32frombits(s ^ swap), math.Float32frombits(c ^ swap)
}

// reduce returns y − n·π/2 in about [−π/4, π/4], and n.
func reduce(y float64) (x float64, n uint32) {
	const (
		invPio2 = 0x1.45F306DC9C883p+23 // 2^24 · 2/π
		pio2    = 0x1.921FB54442D18p0
	)
	n = uint32(int32(float64(y*invPio2))+1<<23) >> 24
	return y - float64(float64(n)*pio2), n
}

// sinPoly is sin x for x in [−π/4, π/4], t = x².
func sinPoly(x, t float64) float64 {
	const (
		s1 = -0x1.555545995a603p-3
		s2 = 0x1.1107605230bc4p-7
		s3 = -0x1.994eb3774cf24p-13
	)
	x3 := float64(x * t)
	p := s2 + float64(t*s3)
	return (x + float64(x3*s1)) + float64(float64(x3*t)*p)
}

// cosPoly is cos x for x in [−π/4, π/4], t = x².
func cosPoly(t float64) float64 {
	const (
		c1 = -0x1.ffffffd0c621cp-2
		c2 = 0x1.55553e1068f19p-5
		c3 = -0x1.6c087e89a359dp-10
		c4 = 0x1.99343027bf8c3p-16
	)
	t2 := float64(t * t)
	p := c3 + float64(t*c4)
	return (1 + float64(t*c1)) + float64(t2*c2) + float64(float64(t2*t)*p)
}

// sqrtf is the correctly rounded square root: a float64 root has bits enough
// that rounding it once more does no harm.
func sqrtf(x float32) float32 { return float32(math.Sqrt(float64(x))) }
