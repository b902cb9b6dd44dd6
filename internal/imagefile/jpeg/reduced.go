package jpeg

// The constants of the reduced transforms, times 1<<13.
const (
	fix0211 = 1730
	fix0509 = 4176
	fix0601 = 4926
	fix0720 = 5906
	fix0850 = 6967
	fix1061 = 8697
	fix1272 = 10426
	fix1451 = 11893
	fix2172 = 17799
	fix3624 = 29692
)

// reduced4 makes 4 by 4 samples of a block.
func reduced4(dst []byte, stride int, b *[64]int16, q *[64]uint16) {
	var mid [4][8]int16
	var v [8]int16
	var w [4]int32
	for x := range 8 {
		if x == 4 {
			continue // is not used
		}
		for k := range 8 {
			v[k] = b[8*k+x] * int16(q[8*k+x])
		}
		fourOf(&w, &v)
		for k := range 4 {
			mid[k][x] = saturated((w[k] + 1<<(fixBits-extraBits)) >> (fixBits - extraBits + 1))
		}
	}
	const shift = fixBits + extraBits + 3 + 1
	for y := range mid {
		fourOf(&w, &mid[y])
		row := dst[y*stride:][:4]
		for k := range row {
			row[k] = sample((w[k] + 1<<(shift-1)) >> shift)
		}
	}
}

// fourOf makes four values of eight, of which it does not use number 4.
func fourOf(out *[4]int32, in *[8]int16) {
	t0 := int32(in[0]) << (fixBits + 1)
	t2 := int32(in[2])*fix1847 - int32(in[6])*fix0765
	t10, t12 := t0+t2, t0-t2
	z1, z2, z3, z4 := int32(in[7]), int32(in[5]), int32(in[3]), int32(in[1])
	t0 = -z1*fix0211 + z2*fix1451 - z3*fix2172 + z4*fix1061
	t2 = -z1*fix0509 - z2*fix0601 + z3*fix0899 + z4*fix2562
	out[0], out[3] = t10+t2, t10-t2
	out[1], out[2] = t12+t0, t12-t0
}

// reduced2 makes 2 by 2 samples of a block.
func reduced2(dst []byte, stride int, b *[64]int16, q *[64]uint16) {
	var mid [2][8]int32
	var v [8]int32
	for _, x := range [...]int{0, 1, 3, 5, 7} {
		for _, k := range [...]int{0, 1, 3, 5, 7} {
			v[k] = int32(b[8*k+x] * int16(q[8*k+x]))
		}
		low, high := twoOf(&v)
		const shift = fixBits - extraBits + 2
		mid[0][x], mid[1][x] = (low+1<<(shift-1))>>shift, (high+1<<(shift-1))>>shift
	}
	const shift = fixBits + extraBits + 3 + 2
	for y := range mid {
		low, high := twoOf(&mid[y])
		dst[y*stride] = sample((low + 1<<(shift-1)) >> shift)
		dst[y*stride+1] = sample((high + 1<<(shift-1)) >> shift)
	}
}

// twoOf makes two values of the first and the odd ones of eight.
func twoOf(in *[8]int32) (low, high int32) {
	t10 := in[0] << (fixBits + 2)
	t0 := -in[7]*fix0720 + in[5]*fix0850 - in[3]*fix1272 + in[1]*fix3624
	return t10 + t0, t10 - t0
}
