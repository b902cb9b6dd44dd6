package memory

import (
	"sync"
	"sync/atomic"
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
	block []byte
	class int
}

// loans are idle, by size class.
var loans [numClasses]sync.Pool

// lent is set when loans may be idle, which survive one collection.
var lent atomic.Bool

// Lend is Make for what is needed until [Loan.Return] only: n elements of any value. Memory that is new each
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
	bytes := Size(n, size)
	class := classIndex(bytes)
	if class >= numClasses {
		return unsafe.Pointer(unsafe.SliceData(Make[byte](bytes))), &Loan{class: class}
	}
	l, ok := loans[class].Get().(*Loan)
	if !ok {
		l = &Loan{Make[byte](classSize(class)), class}
		if invariants.Enabled {
			poison(l.block) // borrowers must not rely on zeros
		}
	}
	return unsafe.Pointer(unsafe.SliceData(l.block)), l
}

// Return gives l back. Its memory must not be used any more.
func (l *Loan) Return() {
	if l.class >= numClasses {
		return
	}
	if invariants.Enabled {
		poison(l.block)
	}
	loans[l.class].Put(l)
	if !lent.Load() {
		lent.Store(true)
	}
}

// trimAll gives the idle memory of pools to the garbage collector. What is lent and idle has been kept
// through a collection, and goes with the next one.
func trimAll() (freed int64) {
	if freed = trimPools(); lent.Swap(false) {
		freed++
	}
	return freed
}
