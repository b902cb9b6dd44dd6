package link

import (
	"math/bits"
	"sync"
)

// Pieces of bodies have capacities of 1<<leastPiece to 1<<mostPiece bytes.
const leastPiece, mostPiece = 10, 26

// A bodyPool keeps memory for pieces of bodies, by powers of two. Unlike gRPC's pools it
// does not clear what it hands out: a piece is seen by others only after all of it has
// been read from the connection. It serves pieces of up to maxPiece bytes.
type bodyPool [mostPiece - leastPiece + 1]sync.Pool

var bodies bodyPool

// class is the index of the pieces with at least n bytes.
func class(n int) int { return max(0, bits.Len(uint(n-1))-leastPiece) }

// Get returns n bytes, 0 < n <= maxPiece, of any contents.
func (p *bodyPool) Get(n int) *[]byte {
	i := class(n)
	if b, ok := p[i].Get().(*[]byte); ok {
		*b = (*b)[:n]
		return b
	}
	b := make([]byte, n, 1<<(i+leastPiece))
	return &b
}

// Put takes back what Get returned.
func (p *bodyPool) Put(b *[]byte) { p[class(cap(*b))].Put(b) }

// nextPiece is the size of the next piece of a body, of which so much has come and so much
// is left: no more than has come, and a power of two as long as that is possible, since
// such pieces fill what they are in.
func nextPiece(come, left int) int {
	n := min(left, maxPiece, max(minPiece, come))
	if n >= minPiece {
		n = 1 << (bits.Len(uint(n)) - 1)
	}
	return n
}
