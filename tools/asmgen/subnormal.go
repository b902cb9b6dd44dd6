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
	change := func(name, doc string, to func(mode reg.GPPhysical)) {
		a.text(name, "func() (was uint32)", name+" has the thread "+doc+", and returns how it computed before.")
		ret, err := a.ReturnIndex(0).Resolve()
		if err != nil {
			panic(err)
		}
		a.STMXCSR(ret.Addr)
		a.MOVL(ret.Addr, reg.EAX)
		a.MOVL(reg.EAX, reg.ECX)
		to(reg.ECX)
		a.MOVL(reg.ECX, ret.Addr)
		a.LDMXCSR(ret.Addr)
		a.MOVL(reg.EAX, ret.Addr)
		a.RET()
	}
	change("flushSubnormals", "take subnormal numbers for 0", func(mode reg.GPPhysical) { a.ORL(operand.U32(flushBits), mode) })
	change("keepSubnormals", "compute with subnormal numbers", func(mode reg.GPPhysical) { a.ANDL(operand.U32(1<<32-1-flushBits), mode) })
	a.text("computeAs", "func(was uint32)", "computeAs has the thread compute as one of the others said that it did.")
	was, err := a.Param("was").Resolve()
	if err != nil {
		panic(err)
	}
	a.LDMXCSR(was.Addr)
	a.RET()
}
