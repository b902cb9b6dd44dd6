package link

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestPieces: the pieces of a body hold all of it and are counted. One is never larger
// than what came before it, or than the smallest size, and lies in less than twice its
// own memory.
func TestPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sizes := []int{0, 1, 1 << 10, 1<<10 + 1, minPiece - 1, minPiece, minPiece + 1, 3 * minPiece, 5<<20 + 7}
	for range 30 {
		sizes = append(sizes, r.IntN(20<<20))
	}
	body := make([]byte, 20<<20)
	for i := range body {
		body[i] = byte(r.Uint32())
	}
	for _, n := range sizes {
		come, took := 0, 0
		out, err := readBody(bufio.NewReader(bytes.NewReader(body)), header{body: n}, func(n int) error { took += n; return nil })
		if err != nil || took != n || out.Len() != n {
			t.Fatalf("%d bytes: %d read, %d counted, %v", n, out.Len(), took, err)
		}
		if !bytes.Equal(out.Materialize(), body[:n]) {
			t.Errorf("%d bytes were read as others", n)
		}
		for _, b := range out {
			if b.Len() > max(minPiece, come) {
				t.Errorf("a piece of %d bytes after %d of %d", b.Len(), come, n)
			}
			if m := cap(*bodies.Get(b.Len())); m >= 2*max(b.Len(), 1<<leastPiece) {
				t.Errorf("%d bytes lie in %d", b.Len(), m)
			}
			come += b.Len()
		}
		out.Free()
	}
}
