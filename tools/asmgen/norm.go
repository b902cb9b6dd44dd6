package main

// normLoops lists the loops of batch normalization: what belongs to channels
// comes repeated to the length of the others.
func normLoops() []loop {
	return []loop{
		mixed("normalize", "sets y = (x-about)·factor + shift.", []string{"y"}, []string{"x", "about", "factor", "shift"},
			func(a *asm, in []vec) []vec {
				return []vec{vadd(a, vmul(a, vsub(a, in[0], in[1]), in[2]), in[3])}
			}),
		mixed("addSquares", "sets acc += (x-about)².", []string{"acc"}, []string{"acc", "x", "about"},
			func(a *asm, in []vec) []vec {
				d := vsub(a, in[1], in[2])
				return []vec{a.fma(d, d, in[0])}
			}),
		mixed("addProducts", "sets sum += d and acc += d·(x-about).", []string{"sum", "acc"}, []string{"sum", "acc", "d", "x", "about"},
			func(a *asm, in []vec) []vec {
				return []vec{vadd(a, in[0], in[2]), a.fma(in[2], vsub(a, in[3], in[4]), in[1])}
			}),
		mixed("normGrad", "sets z = (d - shift - (x-about)·slope)·factor.", []string{"z"}, []string{"d", "x", "about", "slope", "shift", "factor"},
			func(a *asm, in []vec) []vec {
				through := vmul(a, vsub(a, in[1], in[2]), in[3])
				return []vec{vmul(a, vsub(a, vsub(a, in[0], in[4]), through), in[5])}
			}),
	}
}

// mixed describes a loop over several slices without constants.
func mixed(name, doc string, stores, loads []string, f func(a *asm, in []vec) []vec) loop {
	return loop{name: name, doc: doc, stores: stores, loads: loads, unroll: 2,
		body: func(a *asm) func(in, s []vec) []vec {
			return func(in, _ []vec) []vec { return f(a, in) }
		}}
}
