package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is an instruction set, by the bytes of a vector register.
type isa int

const (
	xmm    isa = 16 // the last steps across lanes
	avx2   isa = 32
	avx512 isa = 64
)

// suffix ends the names of the functions of an instruction set.
func (i isa) suffix() string {
	if i == avx2 {
		return "AVX2"
	}
	return "AVX512"
}

// asm builds one file. Vector helpers take the instruction set from a.isa.
type asm struct {
	*build.Context
	isa  isa
	data map[string]bool // static data that exist
	// held are the constants that the function holds in registers.
	held map[uint32]reg.VecVirtual
	// anywhere says that where loops begin does not matter, as in products, which are bound by their arithmetic.
	anywhere bool
}

// lanes is the number of float32 in a vector.
func (a *asm) lanes() int { return int(a.isa) / 4 }

// vec returns a new vector register.
func (a *asm) vec() reg.VecVirtual {
	switch a.isa {
	case xmm:
		return a.XMM()
	case avx2:
		return a.YMM()
	}
	return a.ZMM()
}

// text begins a function that takes no stack.
func (a *asm) text(name, signature, doc string) {
	a.Function(name)
	a.held = map[uint32]reg.VecVirtual{}
	a.Attributes(attr.NOSPLIT)
	a.SignatureExpr(signature)
	a.Pragma("noescape")
	a.Doc(doc)
}

// arg loads an integer or pointer argument.
func (a *asm) arg(name string) reg.Register { return a.Load(a.Param(name), a.GP64()) }

// end leaves the function.
func (a *asm) end() {
	a.VZEROUPPER()
	a.RET()
}

// bits returns static data of one 32-bit word per lane, or of one word alone
// where the instruction set can repeat it while loading.
func (a *asm) bits(v uint32) operand.Mem {
	if a.isa == avx512 {
		return a.repeated(v, 1)
	}
	return a.repeated(v, a.lanes())
}

// repeated returns static data of n equal words.
func (a *asm) repeated(v uint32, n int) operand.Mem {
	words := make([]uint32, n)
	for i := range words {
		words[i] = v
	}
	return a.static(fmt.Sprintf("word%d_%08x", n, v), words)
}

// static returns static data by name, added to the file when first asked for.
func (a *asm) static(name string, words []uint32) operand.Mem {
	if a.data[name] {
		return operand.NewDataAddr(operand.NewStaticSymbol(name), 0)
	}
	a.data[name] = true
	m := a.StaticGlobal(name)
	a.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, w := range words {
		a.AppendDatum(operand.U32(w))
	}
	return m
}

// word prepares a constant operand before a loop: a register where there are
// plenty, memory otherwise.
func (a *asm) word(v uint32) operand.Op {
	m := a.bits(v)
	if a.isa == avx2 {
		return m
	}
	if a.held[v] == nil {
		a.held[v] = a.vec()
		a.VPBROADCASTD(m, a.held[v])
	}
	return a.held[v]
}

// float is word for a floating point number.
func (a *asm) float(v float64) operand.Op { return a.word(math.Float32bits(float32(v))) }

// stored returns constants in memory, a whole vector of each: for functions that have
// more than there are registers.
func (a *asm) stored(v ...float64) []operand.Op {
	ops := make([]operand.Op, len(v))
	for i := range v {
		ops[i] = a.repeated(math.Float32bits(float32(v[i])), a.lanes())
	}
	return ops
}

// floats prepares several constants.
func (a *asm) floats(v ...float64) []operand.Op {
	ops := make([]operand.Op, len(v))
	for i := range v {
		ops[i] = a.float(v[i])
	}
	return ops
}

// broadcast loads a float32 argument into all lanes.
func (a *asm) broadcast(name string) reg.VecVirtual {
	p, err := a.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := a.vec()
	a.VBROADCASTSS(p.Addr, r)
	return r
}

// copyOf returns a register with the value of an operand.
func (a *asm) copyOf(v operand.Op) reg.VecVirtual {
	r := a.vec()
	a.VMOVUPS(v, r)
	return r
}

// inReg returns an operand that is not to be changed in a register.
func (a *asm) inReg(v operand.Op) reg.VecVirtual {
	if r, ok := v.(reg.VecVirtual); ok {
		return r
	}
	return a.copyOf(v)
}

// zero returns a register of zeros.
func (a *asm) zero() reg.VecVirtual {
	r := a.vec()
	a.clear(r)
	return r
}

// clear sets a register to zero.
func (a *asm) clear(r reg.VecVirtual) {
	if a.isa == avx2 {
		a.VXORPS(r, r, r)
		return
	}
	a.VPXORD(r, r, r)
}

// abreast writes sequences of instructions that do not depend on each other, the first of each,
// then the second of each and so on. A processor holds only so many instructions that wait for
// others: where one long chain comes after another it sees too few of these at once.
func (a *asm) abreast(sequences ...func()) {
	f := a.current()
	begin := len(f.Nodes)
	var all [][]ir.Node
	for _, s := range sequences {
		from := len(f.Nodes)
		s()
		all = append(all, slices.Clone(f.Nodes[from:]))
	}
	f.Nodes = f.Nodes[:begin]
	for i := 0; len(all) > 0; i++ {
		all = slices.DeleteFunc(all, func(nodes []ir.Node) bool { return i == len(nodes) })
		for _, nodes := range all {
			f.AddNode(nodes[i])
		}
	}
}

// current is the function that is being written.
func (a *asm) current() *ir.Function {
	file, err := a.Result()
	if err != nil {
		panic(err)
	}
	all := file.Functions()
	return all[len(all)-1]
}
