package main

import "github.com/mmcloughlin/avo/reg"

// emitCPUID writes the function that asks the processor about itself.
func emitCPUID(a *asm) {
	a.text("cpuid", "func(leaf, sub uint32) (eax, ebx, ecx, edx uint32)", "cpuid executes the instruction of that name.")
	a.Load(a.Param("leaf"), reg.EAX)
	a.Load(a.Param("sub"), reg.ECX)
	a.CPUID()
	for i, r := range []reg.Register{reg.EAX, reg.EBX, reg.ECX, reg.EDX} {
		a.Store(r, a.ReturnIndex(i))
	}
	a.RET()
}
