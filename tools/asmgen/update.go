package main

import (
	"slices"
	"strings"
)

// emitUpdates writes the functions that move variables.
func emitUpdates(a *asm, i isa) {
	a.isa = i
	for _, l := range updateLoops() {
		l.emit(a)
	}
}

// updateLoops lists the loops that move variables, in place and to new memory.
func updateLoops() []loop {
	all := []loop{axpyLoop(), momentumLoop(), adamLoop()}
	for _, l := range slices.Concat(binaryLoops()[:2], all) {
		all = append(all, l.streamed())
	}
	return append(all, adagradLoop(), adagradV2Loop(), rmsPropLoop(), addScaledLoop())
}

// adagradLoop and the following round as their portable twins do.
func adagradLoop() loop {
	return loop{name: "adagrad", doc: "adds grad² to a and sets v -= grad·lr·(1/√a).",
		stores: []string{"v", "a"}, loads: []string{"v", "a", "grad"}, scalars: []string{"lr"}, unroll: 2,
		body: func(a *asm) func(in, s []vec) []vec {
			one := a.inReg(a.float(1))
			return func(in, s []vec) []vec {
				g := in[2]
				sum := vadd(a, in[1], vmul(a, g, g))
				return []vec{vsub(a, in[0], vmul(a, vmul(a, g, s[0]), vdiv(a, one, a.sqrt(sum)))), sum}
			}
		}}
}

func adagradV2Loop() loop {
	return loop{name: "adagradV2", doc: "adds grad² to a and sets v -= grad·lr/(√a + epsilon).",
		stores: []string{"v", "a"}, loads: []string{"v", "a", "grad"}, scalars: []string{"lr", "epsilon"}, unroll: 2,
		body: func(a *asm) func(in, s []vec) []vec {
			return func(in, s []vec) []vec {
				g := in[2]
				sum := vadd(a, in[1], vmul(a, g, g))
				return []vec{vsub(a, in[0], vdiv(a, vmul(a, g, s[0]), vadd(a, a.sqrt(sum), s[1]))), sum}
			}
		}}
}

func rmsPropLoop() loop {
	return loop{name: "rmsProp", doc: "moves the mean square s by c = 1-rho, the momentum m and v by the gradient grad.",
		stores: []string{"v", "s", "m"}, loads: []string{"v", "s", "m", "grad"}, scalars: []string{"lr", "c", "momentum", "epsilon"}, unroll: 2,
		body: func(a *asm) func(in, k []vec) []vec {
			flush := newFlush(a)
			return func(in, k []vec) []vec {
				v, s, m, g := in[0], in[1], in[2], in[3]
				s = flush(vadd(a, s, vmul(a, vsub(a, vmul(a, g, g), s), k[1])))
				m = flush(vadd(a, vmul(a, m, k[2]), vdiv(a, vmul(a, g, k[0]), a.sqrt(vadd(a, s, k[3])))))
				return []vec{vsub(a, v, m), s, m}
			}
		}}
}

// newFlush returns what sets subnormal numbers to 0, as the package does without vectors.
func newFlush(a *asm) func(x vec) vec {
	abs, normal := a.word(1<<31-1), a.word(0x00800000)
	return func(x vec) vec { return a.keep(a.compare(cmpNotLess, a.and(x, abs), normal), x) }
}

// streamed returns the loop that leaves its operands alone and stores past the caches.
func (l loop) streamed() loop {
	stores := slices.Clone(l.stores)
	for i, p := range stores {
		if slices.Contains(l.loads, p) {
			stores[i] = "new" + p
		}
	}
	l.doc = "is " + l.name + " that stores to other memory, which is aligned, past the caches."
	l.name, l.stores, l.past = "stream"+strings.ToUpper(l.name[:1])+l.name[1:], stores, true
	return l
}

func axpyLoop() loop {
	return loop{name: "axpy", doc: "sets y += s·x.", stores: []string{"y"}, loads: []string{"y", "x"}, scalars: []string{"s"}, unroll: 4,
		body: func(a *asm) func(in, s []vec) []vec {
			return func(in, s []vec) []vec { return []vec{a.fma(in[1], s[0], in[0])} }
		}}
}

// addScaledLoop rounds each product and the sum, as its portable twin does.
func addScaledLoop() loop {
	return loop{name: "addScaled", doc: "sets y += t·(s·x).", stores: []string{"y"}, loads: []string{"y", "x"}, scalars: []string{"s", "t"}, unroll: 4,
		body: func(a *asm) func(in, s []vec) []vec {
			return func(in, s []vec) []vec { return []vec{vadd(a, in[0], vmul(a, vmul(a, in[1], s[0]), s[1]))} }
		}}
}

func momentumLoop() loop {
	return loop{name: "momentum", doc: "sets m = m·momentum + grad and v -= lr·m.",
		stores: []string{"v", "m"}, loads: []string{"v", "m", "grad"}, scalars: []string{"lr", "momentum"}, unroll: 4,
		body: func(a *asm) func(in, s []vec) []vec {
			flush := newFlush(a)
			return func(in, s []vec) []vec {
				m := flush(a.fma(in[1], s[1], in[2]))
				return []vec{a.fnma(m, s[0], in[0]), m}
			}
		}}
}

func adamLoop() loop {
	return loop{name: "adam", doc: "moves v with the moments m and s by the gradient grad; c1 and c2 are 1-beta.",
		stores: []string{"v", "m", "s"}, loads: []string{"v", "m", "s", "grad"}, scalars: []string{"alpha", "c1", "c2", "epsilon"}, unroll: 2,
		body: func(a *asm) func(in, k []vec) []vec {
			flush := newFlush(a)
			return func(in, k []vec) []vec {
				v, m, s, g := in[0], in[1], in[2], in[3]
				m = flush(a.fma(vsub(a, g, m), k[1], m))
				s = flush(a.fma(vsub(a, vmul(a, g, g), s), k[2], s))
				step := vdiv(a, vmul(a, m, k[0]), vadd(a, a.sqrt(s), k[3]))
				return []vec{vsub(a, v, step), m, s}
			}
		}}
}
