package machine

// An ISA is a set of vector instructions that code is made of.
type ISA uint8

const (
	// None makes no code.
	None ISA = iota
	// AVX2 has vectors of 8 words. It needs FMA, too.
	AVX2
	// AVX512 has vectors of 16 words. It needs F, DQ, BW and VL.
	AVX512
)

// Lanes is how many elements a vector has.
func (i ISA) Lanes() int { return [...]int{0, 8, 16}[i] }

// Bytes reports whether bytes can be read and written: AVX2 cannot mask them.
func (i ISA) Bytes() bool { return i == AVX512 }

// A Size is that of the elements of a stream, in bytes.
type Size int

const (
	// Byte elements are bools, 0 or 1, which lanes hold as words.
	Byte Size = 1
	// Word elements are float32 or int32.
	Word Size = 4
)

// A Value is a vector that code has computed.
type Value int

// Lanes adds to code what computes an element of a result from those of its operands. It
// returns false if there are no instructions for that.
type Lanes func(c *Code, in []Value) (Value, bool)

// op is what an instruction of a Code does.
type op uint8

const (
	load     op = iota // the next elements of a stream
	spread             // the one element of a stream, in all lanes
	constant           // a word in all lanes
	literal            // a constant that is loaded anew in each turn
	store              // writes to a stream; gives no value

	add
	sub
	mul
	div
	rawMax // the second operand where either is NaN or both are zero
	rawMin
	sqrt
	fnma  // args[2] - args[0]·args[1], rounded once
	round // to a whole number, as mode says

	and
	or
	xor

	intAdd
	intSub
	intMul
	intMax
	intMin
	intAbs

	keep   // args[2] where args[0] and args[1] compare so, else 0
	choose // args[2] where args[0] and args[1] compare so, else args[3]
	pick   // args[1] where the words of args[0] are not 0, else args[2]
)

// predicate is how a comparison is written in VCMPPS; none of them signals.
type predicate uint8

const (
	equal        predicate = 0x00
	unordered    predicate = 0x03
	notEqual     predicate = 0x04
	notLessEqual predicate = 0x16
	greaterEqual predicate = 0x1d
	greater      predicate = 0x1e
)

// mode is where to numbers are rounded, as VROUNDPS has it; none of them signals.
type mode uint8

const (
	toEven mode = 0x08 // to the nearest, that which is even if there are two
	down   mode = 0x09
	up     mode = 0x0a
)

// An inst computes one value, or stores one.
type inst struct {
	op     op
	args   [4]Value
	n      int // how many args there are
	pred   predicate
	mode   mode   // of round
	stream int    // of load, spread and store
	size   Size   // of its elements
	word   uint32 // of constant and literal
}

// A Code is a loop that is being made, by one goroutine.
type Code struct {
	isa     ISA
	insts   []inst // by value
	streams int
	consts  []Value
}

// New returns code without instructions.
func New(isa ISA) *Code { return &Code{isa: isa, insts: make([]inst, 0, 64)} }

func (c *Code) add(i inst) Value {
	c.insts = append(c.insts, i)
	return Value(len(c.insts) - 1)
}

// compute is not copied into each function that makes an operation: lanes call tens of these.
//
//go:noinline
func (c *Code) compute(o op, args ...Value) Value {
	i := inst{op: o, n: len(args)}
	copy(i.args[:], args)
	return c.add(i)
}

func (c *Code) stream(i inst) Value {
	i.stream = c.streams
	c.streams++
	return c.add(i)
}

// Load reads a new stream.
func (c *Code) Load(s Size) Value { return c.stream(inst{op: load, size: s}) }

// Spread reads the one word of a new stream, which all elements share.
func (c *Code) Spread() Value { return c.stream(inst{op: spread, size: Word}) }

// Store writes a value to a new stream.
func (c *Code) Store(v Value, s Size) {
	c.stream(inst{op: store, size: s, args: [4]Value{v}, n: 1})
}

// Spreads reports whether a value is the same in all lanes.
func (c *Code) Spreads(v Value) bool {
	o := c.insts[v].op
	return o == spread || o == constant
}

// Bytes reports whether bytes can be read and written.
func (c *Code) Bytes() bool { return c.isa.Bytes() }
