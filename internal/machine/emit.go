package machine

// conditions of jumps, as the second byte of their opcodes.
const (
	below = 0x82
	zero  = 0x84
)

// arithmetic are the opcodes of instructions of two or three registers.
var arithmetic = [...]opcode{
	add: {plain, map0F, 0x58}, mul: {plain, map0F, 0x59}, sub: {plain, map0F, 0x5c},
	rawMin: {plain, map0F, 0x5d}, div: {plain, map0F, 0x5e}, rawMax: {plain, map0F, 0x5f},
	and: {p66, map0F, 0xdb}, or: {p66, map0F, 0xeb}, xor: {p66, map0F, 0xef},
	intAdd: {p66, map0F, 0xfe}, intSub: {p66, map0F, 0xfa}, intMul: {p66, map0F38, 0x40},
	intMax: {p66, map0F38, 0x3d}, intMin: {p66, map0F38, 0x39},
}

var (
	moveLoad      = opcode{plain, map0F, 0x10}
	moveStore     = opcode{plain, map0F, 0x11}
	moveAligned   = opcode{plain, map0F, 0x28}
	squareRoot    = opcode{plain, map0F, 0x51}
	roundFloats   = opcode{p66, map0F3A, 0x08} // VRNDSCALEPS of AVX-512: to 2⁰
	compareFloats = opcode{plain, map0F, 0xc2}
	andFloats     = opcode{plain, map0F, 0x54}
	broadcast     = opcode{p66, map0F38, 0x18}
	absolute      = opcode{p66, map0F38, 0x1e}
	negMulAdd     = opcode{p66, map0F38, 0xbc}
	maskedLoad    = opcode{p66, map0F38, 0x2c} // of AVX2
	maskedStore   = opcode{p66, map0F38, 0x2e}
	blendVEX      = opcode{p66, map0F3A, 0x4a}
	equalWords    = opcode{p66, map0F, 0x76}
	blend         = opcode{p66, map0F38, 0x65} // of AVX-512
	testWords     = opcode{p66, map0F38, 0x27}
	widenBytes    = opcode{p66, map0F38, 0x31}
	narrowWords   = opcode{pF3, map0F38, 0x31}
)

// An emitter writes the loop of a Code.
type emitter struct {
	*Code
	*allocation
	assembler
	tail bool // what is written is for the last, partial vector
}

// Assemble returns the bytes of the loop. When it is called SI points to the addresses of
// the streams, CX is how many elements are in whole vectors, and DX has the mask of the
// tail: its bits, or with AVX2 the address of its words.
func (c *Code) Assemble() ([]byte, error) {
	alloc, err := c.allocate()
	if err != nil {
		return nil, err
	}
	e := &emitter{Code: c, allocation: alloc, assembler: assembler{isa: c.isa, bytes: make([]byte, 0, 32*len(c.insts)+64)}}
	e.prologue()
	e.loop()
	land := e.skipTail()
	e.tail = true
	e.body()
	land()
	e.assembler.emit(0xc3) // RET
	return e.finish(), nil
}

// prologue loads all that stays as it is in the loop.
func (e *emitter) prologue() {
	if e.Code.isa == AVX512 {
		e.assembler.emit(0xc5, 0xf8, 0x92, 3<<6|tailMask<<3|rdx) // KMOVW DX, K1
	} else {
		e.vector(moveLoad, tailLanes, 0, at(rdx), mask{})
	}
	for v := range e.insts {
		switch i := &e.insts[v]; i.op {
		case spread:
			e.loadPointer(rax, rsi, i.stream)
			e.vector(broadcast, e.vectors[v], 0, at(rax), mask{})
		case constant:
			e.repeat(e.vectors[v], i.word)
		}
	}
	for s, p := range e.pointers { // SI, if it is among them, is the last
		if p != none {
			e.loadPointer(p, rsi, s)
		}
	}
	e.assembler.emit(0x31, 0xc0) // XORL AX, AX
}

// repeat loads a word of the pool into all lanes.
func (e *emitter) repeat(to int, word uint32) {
	e.pool = append(e.pool, word)
	e.vector(broadcast, to, 0, pooled(len(e.pool)-1), mask{})
}

// loop writes the loop over whole vectors.
func (e *emitter) loop() {
	e.assembler.emit(0x48, 0x85, 0xc9) // TESTQ CX, CX
	land := e.forward(zero)
	start := len(e.bytes)
	e.body()
	e.assembler.emit(0x48, 0x83, 0xc0, byte(e.Code.isa.Lanes())) // ADDQ lanes, AX
	e.assembler.emit(0x48, 0x39, 0xc8)                           // CMPQ AX, CX
	e.back(below, start)
	land()
}

// skipTail jumps to what follows the tail if that has no elements.
func (e *emitter) skipTail() (land func()) {
	if e.Code.isa == AVX512 {
		e.assembler.emit(0xc5, 0xf8, 0x98, 3<<6|tailMask<<3|tailMask) // KORTESTW K1, K1
	} else {
		e.vector(opcode{p66, map0F38, 0x17}, tailLanes, 0, register(tailLanes), mask{}) // VPTEST
	}
	return e.forward(zero)
}

// body computes one vector of each value.
func (e *emitter) body() {
	for v := range e.insts {
		if !e.Spreads(Value(v)) {
			e.inst(&e.insts[v], e.vectors[v])
		}
	}
}

// inst writes one instruction of a Code, whose result goes to register to.
func (e *emitter) inst(i *inst, to int) {
	reg := func(k int) int { return e.vectors[i.args[k]] }
	switch i.op {
	case load:
		e.load(to, i)
	case store:
		e.store(reg(0), i)
	case literal:
		e.repeat(to, i.word)
	case sqrt:
		e.vector(squareRoot, to, 0, register(reg(0)), mask{})
	case round:
		e.vector(roundFloats, to, 0, register(reg(0)), mask{})
		e.assembler.emit(byte(i.mode))
	case intAbs:
		e.vector(absolute, to, 0, register(reg(0)), mask{})
	case fnma:
		e.vector(moveAligned, to, 0, register(reg(2)), mask{})
		e.vector(negMulAdd, to, reg(0), register(reg(1)), mask{})
	case keep:
		e.compared(i)
		e.keep(to, reg(2))
	case choose:
		e.compared(i)
		e.choose(to, reg(2), reg(3))
	case pick:
		e.pick(to, reg(0), reg(1), reg(2))
	default:
		e.vector(arithmetic[i.op], to, reg(0), register(reg(1)), mask{})
	}
}

// load reads a vector, or in the tail the lanes of its mask.
func (e *emitter) load(to int, i *inst) {
	from := indexed(e.pointers[i.stream], i.size)
	switch {
	case i.size == Byte:
		e.vector(widenBytes, to, 0, from, e.tailed(true))
	case e.tail && e.Code.isa == AVX2:
		e.vector(maskedLoad, to, tailLanes, from, mask{})
	default:
		e.vector(moveLoad, to, 0, from, e.tailed(true))
	}
}

func (e *emitter) store(from int, i *inst) {
	to := indexed(e.pointers[i.stream], i.size)
	switch {
	case i.size == Byte:
		e.vector(narrowWords, from, 0, to, e.tailed(false))
	case e.tail && e.Code.isa == AVX2:
		e.vector(maskedStore, from, tailLanes, to, mask{})
	default:
		e.vector(moveStore, from, 0, to, e.tailed(false))
	}
}

// tailed is the mask of accesses to memory.
func (e *emitter) tailed(zero bool) mask {
	if !e.tail || e.Code.isa == AVX2 {
		return mask{}
	}
	return mask{tailMask, zero}
}

// compared puts where the first two operands compare as they should into the register
// of conditions.
func (e *emitter) compared(i *inst) {
	to := condition
	if e.Code.isa == AVX2 {
		to = scratch
	}
	e.vector(compareFloats, to, e.vectors[i.args[0]], register(e.vectors[i.args[1]]), mask{})
	e.assembler.emit(byte(i.pred))
}

func (e *emitter) keep(to, x int) {
	if e.Code.isa == AVX2 {
		e.vector(andFloats, to, scratch, register(x), mask{})
		return
	}
	e.vector(moveAligned, to, 0, register(x), mask{condition, true})
}

func (e *emitter) choose(to, yes, no int) {
	if e.Code.isa == AVX2 {
		e.vector(blendVEX, to, no, register(yes), mask{})
		e.assembler.emit(scratch << 4)
		return
	}
	e.vector(blend, to, no, register(yes), mask{k: condition})
}

// pick chooses by words: those that are not 0, or with AVX2 those that are.
func (e *emitter) pick(to, words, yes, no int) {
	if e.Code.isa == AVX2 {
		e.vector(arithmetic[xor], scratch, scratch, register(scratch), mask{})
		e.vector(equalWords, scratch, words, register(scratch), mask{})
		e.choose(to, no, yes)
		return
	}
	e.vector(testWords, condition, words, register(words), mask{})
	e.choose(to, yes, no)
}
