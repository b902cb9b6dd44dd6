package bundle

import (
	"encoding/binary"
	"sort"

	"github.com/gorge-tf/gorge/tf/core"
)

// A block is a run of sorted entries. Keys leave out what they share with the
// key before them, but for those at restart points, which are searched first.
type block struct {
	entries  []byte
	restarts []byte // offsets into entries, 4 bytes each
}

func corrupt(what string) error { return core.Errorf(core.DataLoss, "%s", what) }

// parseBlock splits the contents of a block.
func parseBlock(b []byte) (block, error) {
	if len(b) < 4 {
		return block{}, corrupt("bad block contents")
	}
	n := uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))
	if n > uint64(len(b)-4)/4 {
		return block{}, corrupt("bad block contents")
	}
	end := len(b) - 4 - 4*int(n)
	return block{b[:end], b[end : len(b)-4]}, nil
}

// restart returns a cursor before the entry at restart point i.
func (b block) restart(i int) cursor {
	at := binary.LittleEndian.Uint32(b.restarts[4*i:])
	if uint64(at) > uint64(len(b.entries)) {
		return cursor{err: corrupt("bad entry in block")}
	}
	return cursor{rest: b.entries[at:]}
}

// first returns a cursor before the first entry.
func (b block) first() cursor { return cursor{rest: b.entries} }

// seek returns a cursor at the first entry whose key is not less than key, and
// whether there is one.
func (b block) seek(key string) (cursor, bool) {
	n := len(b.restarts) / 4
	// Entries before the last restart point whose key is less than key need
	// not be looked at.
	i := sort.Search(n, func(i int) bool {
		c := b.restart(i)
		return c.next() && string(c.key) >= key
	})
	c := b.first()
	if i > 0 {
		c = b.restart(i - 1)
	}
	for c.next() {
		if string(c.key) >= key {
			return c, true
		}
	}
	return c, false
}

// A cursor goes through the entries of a block. The key is valid until the next
// entry, the value as long as the block.
type cursor struct {
	key, value []byte
	rest       []byte
	err        error
}

// next moves to the next entry. It reports false at the end, and when the block
// is damaged, which err tells.
func (c *cursor) next() bool {
	if c.err != nil || len(c.rest) == 0 {
		return false
	}
	var size [3]uint64 // of what is shared with the key before, of the rest of the key, of the value
	b := c.rest
	for i := range size {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > 1<<32-1 {
			return c.fail()
		}
		size[i], b = v, b[n:]
	}
	if size[0] > uint64(len(c.key)) || size[1]+size[2] > uint64(len(b)) {
		return c.fail()
	}
	c.key = append(c.key[:size[0]], b[:size[1]]...)
	c.value, c.rest = b[size[1]:size[1]+size[2]], b[size[1]+size[2]:]
	return true
}

func (c *cursor) fail() bool {
	c.err = corrupt("bad entry in block")
	return false
}

// A blockWriter makes a block of entries that are added in order.
type blockWriter struct {
	interval int // entries between restart points
	buf      []byte
	restarts []uint32
	since    int // entries since the last restart point
	last     string
}

func (w *blockWriter) add(key string, value []byte) {
	shared := 0
	switch {
	case w.restarts == nil:
		w.restarts = []uint32{0}
	case w.since < w.interval:
		shared = commonPrefix(w.last, key)
	default:
		w.restarts = append(w.restarts, uint32(len(w.buf)))
		w.since = 0
	}
	for _, n := range []int{shared, len(key) - shared, len(value)} {
		w.buf = binary.AppendUvarint(w.buf, uint64(n))
	}
	w.buf = append(append(w.buf, key[shared:]...), value...)
	w.last = key
	w.since++
}

// size is that of the block if it ended here.
func (w *blockWriter) size() int { return len(w.buf) + 4*max(1, len(w.restarts)) + 4 }

// finish returns the block and makes w ready for the next one.
func (w *blockWriter) finish() []byte {
	if w.restarts == nil {
		w.restarts = []uint32{0}
	}
	for _, r := range append(w.restarts, uint32(len(w.restarts))) {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, r)
	}
	done := w.buf
	*w = blockWriter{interval: w.interval}
	return done
}

func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
