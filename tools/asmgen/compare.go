package main

import "github.com/mmcloughlin/avo/operand"

// compareStep is how many elements a step of a comparison takes: the bytes of
// the smaller vector register.
const compareStep = 32

// emitComparisons writes the functions that set bytes to 1 where a relation
// holds and to 0 elsewhere.
func emitComparisons(a *asm) {
	for _, c := range []struct {
		name, doc string
		predicate uint8
	}{
		{"greater", "x > y", cmpGreater}, {"greaterEqual", "x >= y", cmpGreaterEqual},
		{"equal", "x == y", cmpEqual}, {"notEqual", "x != y", cmpNotEqual},
	} {
		a.text(c.name+a.isa.suffix(), "func(z *byte, x, y *float32, n int)",
			c.name+a.isa.suffix()+" sets z = "+c.doc+", in whole steps: n must be a multiple of 32.")
		emitComparison(a, c.predicate)
	}
}

func emitComparison(a *asm, predicate uint8) {
	z, x, y, n := a.arg("z"), a.arg("x"), a.arg("y"), a.arg("n")
	bytes := newTruthBytes(a)
	a.Label("loop")
	a.CMPQ(n, operand.I32(compareStep))
	a.JLT(operand.LabelRef("done"))
	var holds []cond
	for at := 0; at < compareStep; at += a.lanes() {
		holds = append(holds, a.compare(predicate, a.copyOf(operand.Mem{Base: x, Disp: 4 * at}), operand.Mem{Base: y, Disp: 4 * at}))
	}
	a.VMOVDQU(bytes(holds), operand.Mem{Base: z})
	a.ADDQ(operand.I32(compareStep), z)
	a.ADDQ(operand.I32(4*compareStep), x)
	a.ADDQ(operand.I32(4*compareStep), y)
	a.SUBQ(operand.I32(compareStep), n)
	a.JMP(operand.LabelRef("loop"))
	a.Label("done")
	a.end()
}

// newTruthBytes returns what makes 32 bytes of the conditions of as many lanes.
func newTruthBytes(a *asm) func(c []cond) vec {
	ones := a.YMM()
	if a.isa == avx512 {
		a.VPBROADCASTD(a.bits(0x01010101), ones)
		return func(c []cond) vec {
			k, r := a.K(), a.YMM()
			a.KUNPCKWD(c[0], c[1], k)
			a.VMOVDQU8_Z(ones, k, r)
			return r
		}
	}
	a.VMOVDQU(a.bits(0x01010101), ones)
	order := a.YMM()
	a.VMOVDQU(a.static("bytesInOrder", []uint32{0, 4, 1, 5, 2, 6, 3, 7}), order)
	return func(c []cond) vec {
		low, high, r := a.YMM(), a.YMM(), a.YMM()
		a.VPACKSSDW(c[1], c[0], low) // each half of a register by itself
		a.VPACKSSDW(c[3], c[2], high)
		a.VPACKSSWB(high, low, r)
		a.VPERMD(r, order, r)
		a.VPAND(ones, r, r)
		return r
	}
}
