package main

// erf is that of Cephes: a quotient of polynomials up to 1, and beyond what another one and e^-x²
// leave of 1. One division serves both.
func (e *emitter64) erf(x vec) vec {
	size := e.pd(e.VMINPD, e.and(x, e.quad(1<<63-1)), e.copyOf(e.quadFloat(6)))
	square := e.times(size, size)
	power := e.exp(e.minus(e.zero(), square))
	over := e.times(e.times(power, e.polynomial64(size, 2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0, 4.86371970985681366614e1,
		1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3, 5.57535335369399327526e2)), e.quadFloat(-1))
	under := e.polynomial64(size, 1, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2,
		1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2)
	near := e.compare64(cmpLess, size, e.quadFloat(1))
	over = e.choose64(near, e.times(size, e.polynomial64(square, 9.60497373987051638749e0, 9.00260197203842689217e1, 2.23200534594684319226e3,
		7.00332514112805075473e3, 5.55923013010394962768e4)), over)
	under = e.choose64(near, e.polynomial64(square, 1, 3.35617141647503099647e1, 5.21357949780152679795e2, 4.59432382970980127987e3,
		2.26290000613890934246e4, 4.92673942608635921086e4), under)
	base := e.choose64(near, e.zero(), e.copyOf(e.quadFloat(1)))
	y := e.plus(base, e.pd(e.VDIVPD, under, over))
	return e.or(y, e.and(x, e.quad(1<<63)))
}
