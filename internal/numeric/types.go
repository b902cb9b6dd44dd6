package numeric

// Signed lists the signed integers that tensors hold.
type Signed interface{ int8 | int16 | int32 | int64 }

// Unsigned lists the unsigned integers that tensors hold.
type Unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

// Integer lists all integers that tensors hold.
type Integer interface{ Signed | Unsigned }

// Float lists the floating point types that the processor computes with.
type Float interface{ float32 | float64 }

// Real lists the ordered numbers.
type Real interface{ Integer | Float }

// Complex lists the complex numbers.
type Complex interface{ complex64 | complex128 }

// Number lists everything that has Go's + - * operators. Half and BFloat16
// are not among them: their operators would work on the encoding. They reach
// the loops by way of Widen1 and Widen2.
type Number interface{ Real | Complex }

// Inexact lists the types that transcendental functions are defined for.
type Inexact interface{ Float | Complex }

// Index lists the types that positions are given in.
type Index interface{ int32 | int64 }
