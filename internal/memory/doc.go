// Package memory is the storage under tensors: reference-counted blocks of
// bytes, pools that recycle them, and mapped arenas that a network card can
// read and write directly.
//
// Ownership. A Go slice does not keep the buffer under it referenced, so
// memory of a [Pool] must not be seen by code that does not count references.
// Before user code gets a slice of a buffer, its runtime calls
// [Buffer.Escape]: from then on the memory belongs to the garbage collector
// alone and is never recycled.
//
// Scratch. What only a kernel reads is a [Loan], or a pool's buffer that its
// executor releases when the kernel has ended: new memory costs page faults
// and clearing in each step. Neither may become part of an output.
//
// Misuse. Dropping a reference that is not held panics. When package
// invariants is enabled, so do uses after the release, and released memory
// is overwritten, so that a stale reader notices.
package memory
