package jpeg

// forward is the accurate transform, from samples to coefficients, which are 8
// times larger than they are written.
func forward(b *[64]int32) {
	var v [8]int32
	for y := range 8 {
		row := (*[8]int32)(b[8*y:])
		forwardButterfly(&v, row)
		for k := range 8 {
			if k%4 == 0 {
				row[k] = v[k] << extraBits
			} else {
				row[k] = (v[k] + 1<<(fixBits-extraBits-1)) >> (fixBits - extraBits)
			}
		}
	}
	var column [8]int32
	for x := range 8 {
		for k := range 8 {
			column[k] = b[8*k+x]
		}
		forwardButterfly(&v, &column)
		for k := range 8 {
			if k%4 == 0 {
				b[8*k+x] = (v[k] + 1<<(extraBits-1)) >> extraBits
			} else {
				b[8*k+x] = (v[k] + 1<<(fixBits+extraBits-1)) >> (fixBits + extraBits)
			}
		}
	}
}

// forwardButterfly transforms eight values; the results but numbers 0 and 4 are
// 1<<13 times larger.
func forwardButterfly(out, in *[8]int32) {
	t0, t7, t1, t6 := in[0]+in[7], in[0]-in[7], in[1]+in[6], in[1]-in[6]
	t2, t5, t3, t4 := in[2]+in[5], in[2]-in[5], in[3]+in[4], in[3]-in[4]
	t10, t13, t11, t12 := t0+t3, t0-t3, t1+t2, t1-t2
	out[0], out[4] = t10+t11, t10-t11
	z1 := (t12 + t13) * fix0541
	out[2], out[6] = z1+t13*fix0765, z1-t12*fix1847

	z1, z2, z3, z4 := t4+t7, t5+t6, t4+t6, t5+t7
	z5 := (z3 + z4) * fix1175
	z1, z2, z3, z4 = -z1*fix0899, -z2*fix2562, z5-z3*fix1961, z5-z4*fix0390
	out[7] = t4*fix0298 + z1 + z3
	out[5] = t5*fix2053 + z2 + z4
	out[3] = t6*fix3072 + z2 + z3
	out[1] = t7*fix1501 + z1 + z4
}

// quantize divides coefficients, to the nearest.
func quantize(b *[64]int32, q *[64]uint16) (out [64]int16) {
	for i, v := range b {
		by := int32(q[i]) << 3
		if v < 0 {
			out[i] = int16(-((-v + by/2) / by))
		} else {
			out[i] = int16((v + by/2) / by)
		}
	}
	return out
}
