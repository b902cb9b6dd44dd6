package memory

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/gorge-tf/gorge/internal/invariants"
)

// Plain is what can be lent: types without pointers.
type Plain interface {
	~bool | ~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~complex64 | ~complex128
}

// A Loan is scratch memory that is used again when it has been returned. As of a sync.Pool, idle
// memory is collected.
type Loan struct {
	block []uint64 // a power of two
}

// loans are idle, by the logarithm of their length.
var loans [64]sync.Pool

// Lend is Make for what is read only until [Loan.Return]: n elements of any value. Memory that is new each
// time costs page faults and clearing. What several goroutines compute at once has a loan for each. A loan
// that is not returned is garbage.
//
//go:noinline
func Lend[T Plain](n int) ([]T, *Loan) {
	var z T
	p, l := lend(n, int(unsafe.Sizeof(z)))
	return unsafe.Slice((*T)(p), n), l
}

func lend(n, size int) (unsafe.Pointer, *Loan) {
	class := bits.Len(uint(max(8, (Size(n, size)+7)/8) - 1))
	l, ok := loans[class].Get().(*Loan)
	if !ok {
		l = &Loan{Make[uint64](1 << class)}
	}
	return unsafe.Pointer(unsafe.SliceData(l.block)), l
}

// Return gives l back. Its memory must not be used any more.
func (l *Loan) Return() {
	if invariants.Enabled {
		poison(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(l.block))), 8*len(l.block)))
	}
	loans[bits.Len(uint(len(l.block)-1))].Put(l)
}
