package machine

import "encoding/binary"

// The three tables that an opcode is in, and its prefixes, as VEX and EVEX number them.
const (
	map0F, map0F38, map0F3A = 1, 2, 3
	plain, p66, pF3         = 0, 1, 2
)

// An opcode is the encoding of a vector instruction but for its operands.
type opcode struct{ pp, table, op byte }

// general registers, by their numbers.
const (
	rax, rcx, rdx, rbx, rsi, rdi = 0, 1, 2, 3, 6, 7
	r8, r13                      = 8, 13
)

// An operand is a vector register, or memory.
type operand struct {
	reg    int
	memory bool
	base   int  // a general register, which AX times scale is added to unless it is bare
	scale  byte // its logarithm
	bare   bool
	pool   bool // a word of the pool instead, which reg numbers
}

func register(r int) operand { return operand{reg: r} }
func indexed(base int, size Size) operand {
	return operand{memory: true, base: base, scale: log2(size)}
}
func at(base int) operand  { return operand{memory: true, base: base, bare: true} }
func pooled(i int) operand { return operand{memory: true, pool: true, reg: i} }

func log2(s Size) byte {
	if s == Word {
		return 2
	}
	return 0
}

// A mask is a mask register of AVX-512; 0 stands for none.
type mask struct {
	k    byte
	zero bool // lanes that are not in it become 0, instead of staying
}

// An assembler writes instructions.
type assembler struct {
	isa   ISA
	bytes []byte
	pool  []uint32    // words behind the code
	fixes []reference // to the pool
}

// reference is a place of 4 bytes for the distance from its end to a word of the pool.
type reference struct{ at, word int }

func (a *assembler) emit(b ...byte) { a.bytes = append(a.bytes, b...) }

// vector writes an instruction on whole vectors: reg is the register that the ModRM byte
// names, v the one of the prefix, x what else it names.
func (a *assembler) vector(o opcode, reg, v int, x operand, m mask) {
	if a.isa == AVX512 {
		a.evex(o, reg, v, x, m)
	} else {
		a.vex(o, 1, reg, v, x)
	}
	a.emit(o.op)
	a.modrm(reg, x)
}

// bit returns bit n of x, inverted, as prefixes have those of registers.
func inverted(x, n int) byte { return byte(^x>>n) & 1 }

// vex writes the prefix of three bytes; long is 1 for vectors of 256 bits.
func (a *assembler) vex(o opcode, long byte, reg, v int, x operand) {
	index, base := x.high()
	a.emit(0xc4, inverted(reg, 3)<<7|index<<6|base<<5|o.table, byte(^v&15)<<3|long<<2|o.pp)
}

// evex writes the prefix of vectors of 512 bits.
func (a *assembler) evex(o opcode, reg, v int, x operand, m mask) {
	index, base := x.high()
	p2 := 2<<5 | inverted(v, 4)<<3 | m.k
	if m.zero {
		p2 |= 1 << 7
	}
	a.emit(0x62, inverted(reg, 3)<<7|index<<6|base<<5|inverted(reg, 4)<<4|o.table, byte(^v&15)<<3|1<<2|o.pp, p2)
}

// high returns the inverted high bits of an operand: of its index, or bit 4 of its
// register, and of its base, or bit 3 of its register.
func (x operand) high() (index, base byte) {
	if !x.memory {
		return inverted(x.reg, 4), inverted(x.reg, 3)
	}
	return 1, inverted(x.base, 3) // the index is AX, or there is none
}

// modrm writes the bytes that name operands.
func (a *assembler) modrm(reg int, x operand) {
	r := byte(reg&7) << 3
	switch {
	case !x.memory:
		a.emit(3<<6 | r | byte(x.reg&7))
	case x.pool:
		a.emit(r | 5)
		a.fixes = append(a.fixes, reference{len(a.bytes), x.reg})
		a.emit(0, 0, 0, 0)
	case x.bare:
		a.emit(1<<6|r|byte(x.base&7), 0) // a distance of 0; the base is neither SP nor R12
	default:
		a.emit(1<<6|r|4, x.scale<<6|rax<<3|byte(x.base&7), 0)
	}
}

// loadPointer loads the general register r from place i of what register from points to.
func (a *assembler) loadPointer(r, from, i int) {
	a.emit(0x48|byte(r>>3)<<2|byte(from>>3), 0x8b, 2<<6|byte(r&7)<<3|byte(from&7))
	a.bytes = binary.LittleEndian.AppendUint32(a.bytes, uint32(8*i))
}

// forward is a jump to what follows later; land is called there.
func (a *assembler) forward(condition byte) (land func()) {
	a.emit(0x0f, condition, 0, 0, 0, 0)
	from := len(a.bytes)
	return func() { binary.LittleEndian.PutUint32(a.bytes[from-4:], uint32(len(a.bytes)-from)) }
}

// back jumps to a place that there is already.
func (a *assembler) back(condition byte, to int) {
	a.emit(0x0f, condition, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(a.bytes[len(a.bytes)-4:], uint32(to-len(a.bytes)))
}

// finish puts the pool behind the code and returns all bytes.
func (a *assembler) finish() []byte {
	for len(a.bytes)%4 != 0 {
		a.emit(0xcc)
	}
	base := len(a.bytes)
	for _, w := range a.pool {
		a.bytes = binary.LittleEndian.AppendUint32(a.bytes, w)
	}
	for _, f := range a.fixes {
		binary.LittleEndian.PutUint32(a.bytes[f.at:], uint32(base+4*f.word-(f.at+4)))
	}
	return a.bytes
}
