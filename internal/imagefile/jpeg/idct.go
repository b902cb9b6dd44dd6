package jpeg

// transform computes the samples of a block.
func (f *frame) transform(b *[64]int16, c *component, x, y int) {
	dst := c.plane[(y*c.pitch+x)*c.size:]
	switch {
	case c.size == 4:
		reduced4(dst, c.pitch, b, c.quant)
	case c.size == 2:
		reduced2(dst, c.pitch, b, c.quant)
	case c.size == 1:
		dst[0] = wrapped((int32(b[0])*int32(c.quant[0]) + 4) >> 3)
	case f.accurate && simd.accurate != nil:
		_ = dst[7*c.pitch+7]
		simd.accurate(&dst[0], c.pitch, b, c.quant)
	case f.accurate:
		accurate(dst, c.pitch, b, c.quant)
	case simd.fast != nil:
		_ = dst[7*c.pitch+7]
		simd.fast(&dst[0], c.pitch, b, c.scaledQuant())
	default:
		fast(dst, c.pitch, b, c.scaledQuant())
	}
}

// sample returns the sample of a value around 0.
func sample(v int32) byte { return byte(max(0, min(v+128, 255))) }

// wrapped is sample where libjpeg takes damaged values modulo 1024.
func wrapped(v int32) byte { return sample(v << 22 >> 22) }

// saturated returns the nearest number of 16 bits. Only damaged files have
// others: of them vector units make what is made here.
func saturated(v int32) int16 { return int16(max(-1<<15, min(v, 1<<15-1))) }

// The constants of the accurate transform, times 1<<13.
const (
	fix0298 = 2446
	fix0390 = 3196
	fix0541 = 4433
	fix0765 = 6270
	fix0899 = 7373
	fix1175 = 9633
	fix1501 = 12299
	fix1847 = 15137
	fix1961 = 16069
	fix2053 = 16819
	fix2562 = 20995
	fix3072 = 25172

	fixBits   = 13
	extraBits = 2 // kept between the passes
)

// accurate is the transform of Loeffler, Ligtenberg and Moschytz, in integers.
func accurate(dst []byte, stride int, b *[64]int16, q *[64]uint16) {
	var w [8]int32
	var v [8]int16
	var mid [64]int16
	flat := isFlat(b)
	for x := range 8 {
		for k := range 8 {
			v[k] = b[8*k+x] * int16(q[8*k+x])
		}
		if v[1]|v[2]|v[3]|v[4]|v[5]|v[6]|v[7] == 0 { // as most columns are
			same := saturated(int32(v[0]) << extraBits)
			if flat {
				same = v[0] << extraBits // wraps around, unlike the butterfly
			}
			for k := range 8 {
				mid[8*k+x] = same
			}
			continue
		}
		butterfly(&w, &v)
		for k := range 8 {
			mid[8*k+x] = saturated((w[k] + 1<<(fixBits-extraBits-1)) >> (fixBits - extraBits))
		}
	}
	const shift = fixBits + extraBits + 3
	for y := range 8 {
		butterfly(&w, (*[8]int16)(mid[8*y:]))
		row := dst[y*stride:][:8]
		for k := range row {
			row[k] = sample((w[k] + 1<<(shift-1)) >> shift)
		}
	}
}

// isFlat reports whether all rows of coefficients but the first are zeros.
func isFlat(b *[64]int16) bool {
	for _, v := range b[8:] {
		if v != 0 {
			return false
		}
	}
	return true
}

// butterfly transforms eight values; the results are 1<<13 times larger.
func butterfly(out *[8]int32, in *[8]int16) {
	z1 := (int32(in[2]) + int32(in[6])) * fix0541
	t2, t3 := z1-int32(in[6])*fix1847, z1+int32(in[2])*fix0765
	t0, t1 := int32(in[0]+in[4])<<fixBits, int32(in[0]-in[4])<<fixBits
	t10, t13, t11, t12 := t0+t3, t0-t3, t1+t2, t1-t2

	a0, a1, a2, a3 := int32(in[7]), int32(in[5]), int32(in[3]), int32(in[1])
	z1, z2, z3, z4 := a0+a3, a1+a2, int32(in[7]+in[3]), int32(in[5]+in[1])
	z5 := (z3 + z4) * fix1175
	z1, z2, z3, z4 = -z1*fix0899, -z2*fix2562, z5-z3*fix1961, z5-z4*fix0390
	a0 = a0*fix0298 + z1 + z3
	a1 = a1*fix2053 + z2 + z4
	a2 = a2*fix3072 + z2 + z3
	a3 = a3*fix1501 + z1 + z4

	out[0], out[7] = t10+a3, t10-a3
	out[1], out[6] = t11+a2, t11-a2
	out[2], out[5] = t12+a1, t12-a1
	out[3], out[4] = t13+a0, t13-a0
}

// The constants of the fast transform, times 1<<8.
const (
	fast1082 = 277
	fast1414 = 362
	fast1847 = 473
	fast1613 = 413
)

// aanScales are the factors, times 1<<14, that the fast transform leaves to the
// quantization.
var aanScales = func() (s [64]int32) {
	f := [8]float64{1, 1.387039845, 1.306562965, 1.175875602, 1, 0.785694958, 0.541196100, 0.275899379}
	for i := range s {
		s[i] = int32(f[i/8]*f[i%8]*(1<<14) + 0.5)
	}
	return s
}()

// scaledQuant returns the quantization for the fast transform.
func (c *component) scaledQuant() *[64]int16 {
	if c.scaled == nil {
		c.scaled = &[64]int16{}
		for i := range c.scaled {
			c.scaled[i] = int16((int32(c.quant[i])*aanScales[i] + 1<<11) >> 12)
		}
	}
	return c.scaled
}

// fast is the transform of Arai, Agui and Nakajima, in 16 bits as vector units
// do it.
func fast(dst []byte, stride int, b *[64]int16, q *[64]int16) {
	var v [8]int16
	var mid [64]int16
	for x := range 8 {
		for k := range 8 {
			v[k] = b[8*k+x] * q[8*k+x]
		}
		if v[1]|v[2]|v[3]|v[4]|v[5]|v[6]|v[7] == 0 { // as most columns are
			for k := range 8 {
				mid[8*k+x] = v[0]
			}
			continue
		}
		fastButterfly(&v)
		for k := range 8 {
			mid[8*k+x] = v[k]
		}
	}
	for y := range 8 {
		w := (*[8]int16)(mid[8*y:])
		fastButterfly(w)
		row := dst[y*stride:][:8]
		for k := range row {
			row[k] = sample(int32(w[k] >> (extraBits + 3)))
		}
	}
}

// times multiplies by a constant that is 1<<8 times larger. Vector units shift the value
// and the constant and take the upper half of the product: large values, which only
// damaged files have, wrap around.
func times(v int16, by int32) int16 { return int16(int32(v<<2) * (by << 6) >> 16) }

func fastButterfly(v *[8]int16) {
	t10, t11 := v[0]+v[4], v[0]-v[4]
	t13 := v[2] + v[6]
	t12 := times(v[2]-v[6], fast1414) - t13
	t0, t3, t1, t2 := t10+t13, t10-t13, t11+t12, t11-t12

	z13, z10, z11, z12 := v[5]+v[3], v[5]-v[3], v[1]+v[7], v[1]-v[7]
	t7 := z11 + z13
	t11 = times(z11-z13, fast1414)
	z5 := times(z10+z12, fast1847)
	t10 = times(z12, fast1082) - z5
	t12 = times(z10, -fast1613) - z10 + z5 // -2.613 is too large for a constant
	t6 := t12 - t7
	t5 := t11 - t6
	t4 := t10 + t5

	v[0], v[7] = t0+t7, t0-t7
	v[1], v[6] = t1+t6, t1-t6
	v[2], v[5] = t2+t5, t2-t5
	v[4], v[3] = t3+t4, t3-t4
}
