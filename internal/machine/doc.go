// Package machine makes machine code at run time: loops that read streams of elements,
// compute on them in vector registers and write streams of results.
//
// A [Code] is filled first, value by value; each value is a vector of lanes:
//
//	c := machine.New(machine.AVX512)
//	x, s := c.Load(machine.Word), c.Spread()       // streams 0 and 1: x[i], and one s for all
//	c.Store(c.Mul(c.Add(x, s), x), machine.Word)   // stream 2
//
// [Code.Assemble] gives each value a register (alloc.go) and writes the bytes of the loop
// (emit.go, encode.go). [Load] puts them where they can be executed (program.go), and
// [Program.Run] runs them for some elements.
//
//	prologue   the mask of the tail, operands that are repeated, constants, the
//	           addresses of streams
//	loop       whole vectors; AX counts elements
//	tail       what is left, by masked loads and stores
//
// # Invariants
//
//   - Code touches only the elements that it is called for: the last, partial vector is
//     read and written by a mask.
//   - Accesses to memory are in the order in which values were added, vector by vector.
//     A result may lie in the memory of an operand of elements of the same size.
//   - It calls nothing, uses no stack, and changes only registers that a function of
//     Go's ABI0 may change, except R14 (the goroutine) and R15 (position-independent code).
//   - A call is bounded by [MaxElements]: the scheduler cannot interrupt it, since it finds
//     no function at that address, and the garbage collector waits.
//   - No page is writable and executable at the same time. Where the system denies
//     executable memory, [Load] says so and programs do without.
package machine
