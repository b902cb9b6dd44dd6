package inbound

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gorge-tf/gorge/internal/memory"
)

// A Body is the body of a request by HTTP. It counts what has been read of it until it
// is closed, which the handler does when the body is whole or of no use any more.
type Body struct {
	in     io.Reader
	holder *Holder

	mu sync.Mutex
	w  http.ResponseWriter // nil: the body is closed
}

// OpenBody begins to count what in gives: the body of a request that is answered by w,
// or what it inflates to. A body with the most bytes is ended by the read deadline of
// its connection; if w has none, it ends when more comes.
func OpenBody(w http.ResponseWriter, in io.Reader) *Body {
	b := &Body{in: in, w: w}
	b.holder = Open(b.end)
	return b
}

// end makes a read that waits fail. A response must not be used after its handler has
// returned.
func (b *Body) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.w != nil {
		_ = http.NewResponseController(b.w).SetReadDeadline(time.Unix(1, 0)) // fails if there is none
	}
}

// Close ends the counting. It closes nothing else.
func (b *Body) Close() error {
	b.holder.Close()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.w = nil
	return nil
}

// Read reads and counts.
func (b *Body) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if crowded := b.holder.Take(int64(n)); crowded != nil {
		return 0, crowded
	}
	return n, err
}

const (
	firstPiece = 16 << 10 // how much memory a body gets at first
	mostPiece  = 1 << 20  // and at once
)

// ReadAll reads the whole body, within the budget for memory. Size is what it is said
// to have, -1 if that is not known. What it counts is the memory that it takes.
func (b *Body) ReadAll(size int64) ([]byte, error) {
	var pieces [][]byte
	for room := firstPiece; ; room = min(2*room, mostPiece) {
		if size >= 0 {
			room = int(min(int64(room), size+1)) // one more, to see the end
			size -= int64(room)                  // -1 when more comes than was said
		}
		p, err := b.piece(room)
		pieces = append(pieces, p)
		if errors.Is(err, io.EOF) {
			return join(pieces)
		}
		if err != nil {
			return nil, cmp.Or(b.holder.Take(0), err) // the deadline tells less than why there was one
		}
	}
}

// piece reads the next n bytes; fewer come with an error.
func (b *Body) piece(n int) ([]byte, error) {
	if err := b.holder.Take(int64(n)); err != nil {
		return nil, err
	}
	p, err := memory.TryMake[byte](n)
	if err != nil {
		return nil, err
	}
	n = 0
	for n < len(p) && err == nil { // io.ReadFull would make one of the end and of a body that was cut off
		var more int
		more, err = b.in.Read(p[n:])
		n += more
	}
	return p[:n], err
}

// join returns the pieces of a whole body as one.
func join(pieces [][]byte) ([]byte, error) {
	if len(pieces) == 1 {
		return pieces[0], nil
	}
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	all, err := memory.TryMake[byte](n)
	if err != nil {
		return nil, err
	}
	all = all[:0]
	for _, p := range pieces {
		all = append(all, p...)
	}
	return all, nil
}

// Bodies returns a handler whose requests have bodies of at most most bytes, which are
// counted until it returns.
func Bodies(most int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		b := OpenBody(w, http.MaxBytesReader(w, r.Body, most))
		defer b.Close()
		counted := *r
		counted.Body = b
		next.ServeHTTP(w, &counted)
	})
}
