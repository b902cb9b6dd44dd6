package memory

import (
	"bufio"
	"errors"
	"io"
)

// firstRead is how much is read of what does not say how large it is.
const firstRead = 64 << 10

// Grow returns b with room for n bytes more, within the budget. What it has to
// copy at least doubles.
func Grow(b []byte, n int) ([]byte, error) {
	if n <= cap(b)-len(b) {
		return b, nil
	}
	size, err := product(len(b)+n, 1)
	if err != nil {
		return b, err
	}
	more, err := TryMake[byte](max(size, 2*cap(b)))
	if err != nil { // perhaps there is room for no more than is needed
		more, err = TryMake[byte](size)
	}
	if err != nil {
		return b, err
	}
	return more[:copy(more, b)], nil
}

// ReadAll is io.ReadAll within the budget: r may have no end. Size is what it is
// thought to have, 0 if that is not known.
func ReadAll(r io.Reader, size int) (b []byte, err error) {
	if b, err = Grow(nil, max(size+1, firstRead)); err != nil { // one more, to see the end
		return nil, err
	}
	for {
		if b, err = Grow(b, 1); err != nil {
			return nil, err
		}
		n, err := r.Read(b[len(b):min(cap(b), len(b)+piece)])
		b = b[:len(b)+n]
		if errors.Is(err, io.EOF) {
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// piece is the most that is read at once.
const piece = 1 << 20

// ReadLine is r.ReadBytes('\n') within the budget: the line may have no end.
func ReadLine(r *bufio.Reader) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if line, err = appended(line, part, err); !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func appended(line, part []byte, err error) ([]byte, error) {
	line, short := Grow(line, len(part))
	if short != nil {
		return nil, short
	}
	return append(line, part...), err
}

// Meter returns r, of which more and more may be kept: the budget hears of what
// is read.
func Meter(r io.Reader) io.Reader { return meter{r} }

type meter struct{ r io.Reader }

func (m meter) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if short := TryRoom(n); short != nil {
		return 0, short
	}
	return n, err
}
