package main

import "github.com/mmcloughlin/avo/operand"

// emitSelect writes the function that chooses between words by bytes.
func emitSelect(a *asm) {
	a.text("selectWords"+a.isa.suffix(), "func(z *float32, c *byte, x, y *float32, n int)",
		"selectWords"+a.isa.suffix()+" sets z to x where c is not 0 and to y elsewhere, in whole vectors: n must be a multiple of 16.")
	z, c, x, y, n := a.arg("z"), a.arg("c"), a.arg("x"), a.arg("y"), a.arg("n")
	zero := a.zero()
	a.Label("loop")
	a.CMPQ(n, operand.I32(16))
	a.JLT(operand.LabelRef("done"))
	for at := 0; at < 16; at += a.lanes() {
		bytes := a.vec()
		a.VPMOVZXBD(operand.Mem{Base: c, Disp: at}, bytes)
		no := a.compareWords(bytes, zero)
		a.VMOVUPS(a.choose(no, operand.Mem{Base: y, Disp: 4 * at}, a.copyOf(operand.Mem{Base: x, Disp: 4 * at})), operand.Mem{Base: z, Disp: 4 * at})
	}
	a.ADDQ(operand.I32(16), c)
	for _, p := range []operand.Op{x, y, z} {
		a.ADDQ(operand.I32(64), p)
	}
	a.SUBQ(operand.I32(16), n)
	a.JMP(operand.LabelRef("loop"))
	a.Label("done")
	a.end()
}

// compareWords returns where integers x and y are equal.
func (a *asm) compareWords(x, y vec) cond {
	if a.isa == avx2 {
		c := a.YMM()
		a.VPCMPEQD(y, x, c)
		return c
	}
	k := a.K()
	a.VPCMPEQD(y, x, k)
	return k
}
