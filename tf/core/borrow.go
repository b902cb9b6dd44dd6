package core

import (
	"unsafe"

	"github.com/gorge-tf/gorge/internal/memory"
)

// Borrow is Make for what only the kernel that runs reads: n elements of any value, from the pool of
// the session, to which executors give them back when the kernel has ended. Memory that is new in each
// step costs page faults and clearing, often more than the kernel. An output must not be made of
// borrowed memory, and nothing may keep it. The goroutine that the kernel was called on borrows, not
// what ParallelFor runs.
func Borrow[T Plain](c *OpContext, n int) []T {
	var z T
	return unsafe.Slice((*T)(c.borrow(n, int(unsafe.Sizeof(z)))), n)
}

func (c *OpContext) borrow(n, size int) unsafe.Pointer {
	b := must(c.buffer(memory.Size(n, size), true))
	if c.Pool != nil {
		c.borrowed = append(c.borrowed, b)
	}
	return unsafe.Pointer(unsafe.SliceData(b.Bytes()))
}

// Plain is what can be borrowed and lent: types without pointers.
type Plain = memory.Plain

// A Loan is scratch memory that Lend gives.
type Loan = memory.Loan

// Lend is Borrow for what ParallelFor runs, which returns what it has been lent: n elements of any value.
func Lend[T Plain](n int) ([]T, *Loan) { return memory.Lend[T](n) }

// must returns b, or panics with the reason why there is none.
func must(b *Buffer, err error) *Buffer {
	if err != nil {
		panic(err)
	}
	return b
}

// GiveBack gives back what the kernel has borrowed. Executors call it when the kernel has ended. What is
// not given back is collected as garbage.
func (c *OpContext) GiveBack() {
	if len(c.borrowed) > 0 {
		c.giveBack()
	}
}

func (c *OpContext) giveBack() {
	for i, b := range c.borrowed {
		b.Unref()
		c.borrowed[i] = nil
	}
	c.borrowed = c.borrowed[:0]
}

// Run is k(c), in a context of its own: what k has borrowed is given back.
func (k Compute) Run(c *OpContext) error {
	err := k(c)
	c.GiveBack()
	return err
}
