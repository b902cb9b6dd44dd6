package memory

import "unsafe"

const (
	firstBlock = 64   // often there is only one text
	textBlock  = 4096 // as much may stay in memory for one text
	longText   = 256
)

// Texts makes strings of bytes that are used again: short ones share blocks of memory,
// since allocating and freeing each by itself takes longer than writing it. It is for one
// goroutine.
type Texts struct{ block []byte }

// Of returns the text of b.
func (t *Texts) Of(b []byte) string {
	if len(b) > longText {
		return string(b)
	}
	if len(b) > cap(t.block)-len(t.block) {
		t.block = make([]byte, 0, max(len(b), min(max(4*cap(t.block), firstBlock), textBlock)))
	}
	begin := len(t.block)
	t.block = append(t.block, b...)
	text := t.block[begin:]
	return unsafe.String(unsafe.SliceData(text), len(text))
}
