package main

import "github.com/mmcloughlin/avo/operand"

// emitPrefetch writes the function that asks for memory that is needed soon. All
// processors have the instruction.
func emitPrefetch(a *asm) {
	a.text("prefetch", "func(p *byte, lines int)", "prefetch brings cache lines, at least one, from p on into the first-level cache.")
	p, lines := a.arg("p"), a.arg("lines")
	a.Label("line")
	a.PREFETCHT0(operand.Mem{Base: p})
	a.ADDQ(operand.U8(64), p)
	a.DECQ(lines)
	a.JNZ(operand.LabelRef("line"))
	a.RET()
}
