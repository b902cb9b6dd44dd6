package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// flushBits of MXCSR have results below the least normal number become 0, and operands count as 0:
// FTZ and DAZ (Intel, Software Developer's Manual, volume 1, 10.2.3).
const flushBits = 1<<15 | 1<<6

// emitSubnormal writes the functions that change how a thread computes. All processors with AMD64
// have the instructions.
func emitSubnormal(a *asm) {
	a.text("flushSubnormals", "func() (was uint32)", "flushSubnormals has the thread take subnormal numbers for 0, and returns how it computed before.")
	ret, err := a.ReturnIndex(0).Resolve()
	if err != nil {
		panic(err)
	}
	a.STMXCSR(ret.Addr)
	a.MOVL(ret.Addr, reg.EAX)
	a.MOVL(reg.EAX, reg.ECX)
	a.ORL(operand.U32(flushBits), reg.ECX)
	a.MOVL(reg.ECX, ret.Addr)
	a.LDMXCSR(ret.Addr)
	a.MOVL(reg.EAX, ret.Addr)
	a.RET()
	a.text("computeAs", "func(was uint32)", "computeAs has the thread compute as flushSubnormals said that it did.")
	was, err := a.Param("was").Resolve()
	if err != nil {
		panic(err)
	}
	a.LDMXCSR(was.Addr)
	a.RET()
}
