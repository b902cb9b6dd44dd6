package main

import (
	"slices"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dropSelfMoves takes out copies of a register to itself: the allocator leaves them where the
// copy has the register of the original, which is needed no longer.
func dropSelfMoves(f *ir.File, widest uint) {
	for _, fn := range f.Functions() {
		fn.Nodes = slices.DeleteFunc(fn.Nodes, func(n ir.Node) bool {
			i, ok := n.(*ir.Instruction)
			return ok && isSelfMove(i, widest)
		})
	}
}

// isSelfMove holds for moves of whole registers: those of narrower ones set what is above to zero.
func isSelfMove(i *ir.Instruction, widest uint) bool {
	if i.Opcode != "VMOVUPS" && i.Opcode != "VMOVAPS" || len(i.Operands) != 2 || len(i.Suffixes) > 0 {
		return false
	}
	from, ok := i.Operands[0].(reg.VecPhysical)
	return ok && from.Size() == widest && operand.Op(from) == i.Operands[1]
}
