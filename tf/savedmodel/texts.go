package savedmodel

import (
	"bytes"
	"io"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

// texts are the large strings of a message. Functions that call the same module of XLA
// have it each: it is in memory once.
type texts struct{ all [][]byte }

// textChunk is how much of a string is compared at a time.
const textChunk = 1 << 16

// text reads the value of a field, which is kept.
func (f *fields) text() ([]byte, error) {
	n, err := f.length()
	if err != nil {
		return nil, err
	}
	if f.texts == nil || n < largeField {
		b, err := f.next(n)
		f.buf = nil
		return b, err
	}
	f.left -= n
	b, err := f.texts.read(f.r, int(n))
	if err == nil {
		memory.Freeze(b)
	}
	return b, err
}

// read reads n bytes, or returns the string that is the same as them.
func (t *texts) read(r io.Reader, n int) ([]byte, error) {
	like, same := t.all, 0 // the first bytes of what like has are those that were read
	chunk, head := make([]byte, min(textChunk, n)), []byte(nil)
	for {
		chunk = chunk[:min(len(chunk), n-same)]
		if _, err := io.ReadFull(r, chunk); err != nil {
			return nil, err
		}
		if like = alike(like, n, same, chunk); len(like) == 0 {
			break
		}
		head = like[0]
		if same += len(chunk); same == n {
			return head, nil
		}
	}
	b, err := memory.TryMake[byte](n)
	if err != nil {
		return nil, core.AsError(err)
	}
	copy(b, head[:same])
	copy(b[same:], chunk)
	if _, err := io.ReadFull(r, b[same+len(chunk):]); err != nil {
		return nil, err
	}
	t.all = append(t.all, b)
	return b, nil
}

// alike returns those of some strings that have n bytes, and part at a place.
func alike(all [][]byte, n, at int, part []byte) (out [][]byte) {
	for _, b := range all {
		if len(b) == n && bytes.HasPrefix(b[at:], part) {
			out = append(out, b)
		}
	}
	return out
}
