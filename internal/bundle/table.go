package bundle

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/internal/wire/snappy"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	tableMagic   = 0xdb4775248b80fb57
	footerSize   = 48
	trailerSize  = 5 // the type of a block and a checksum
	rawBlock     = 0
	snappyBlock  = 1
	blockTarget  = 1 << 18
	restartEvery = 16
)

// A span says where a block lies in its file, without what trails it.
type span struct{ offset, size uint64 }

func parseSpan(b []byte) (s span, rest []byte, err error) {
	for _, v := range []*uint64{&s.offset, &s.size} {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			return s, nil, corrupt("bad block handle")
		}
		*v, b = x, b[n:]
	}
	return s, b, nil
}

func (s span) append(b []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, s.offset), s.size)
}

// A table maps keys to values that lie in a file. It may be used by several
// goroutines.
type table struct {
	r     io.ReaderAt
	size  int64
	index block

	mu   sync.Mutex // over what was read last: neighbours are often asked for in a row
	last span
	read block
}

// openTable reads the index of a table.
func openTable(r io.ReaderAt, size int64) (*table, error) {
	if size < footerSize {
		return nil, corrupt("file is too short to be an sstable")
	}
	footer := make([]byte, footerSize)
	if _, err := r.ReadAt(footer, size-footerSize); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint64(footer[footerSize-8:]) != tableMagic {
		return nil, corrupt("not an sstable (bad magic number)")
	}
	_, rest, err := parseSpan(footer)
	if err != nil {
		return nil, err
	}
	s, _, err := parseSpan(rest)
	if err != nil {
		return nil, err
	}
	t := &table{r: r, size: size}
	t.index, err = t.load(s)
	return t, err
}

// load reads a block.
func (t *table) load(s span) (block, error) {
	if s.size > uint64(t.size) || s.offset > uint64(t.size) || s.offset+s.size+trailerSize > uint64(t.size) {
		return block{}, corrupt("truncated block read")
	}
	b, err := memory.TryMake[byte](int(s.size) + trailerSize)
	if err != nil {
		return block{}, core.AsError(err)
	}
	if _, err := t.r.ReadAt(b, int64(s.offset)); err != nil && err != io.EOF {
		return block{}, err
	}
	contents, crc := b[:s.size+1], binary.LittleEndian.Uint32(b[s.size+1:])
	if record.MaskedCRC(contents) != crc {
		return block{}, corrupt("block checksum mismatch")
	}
	switch kind := contents[s.size]; kind {
	case rawBlock:
		return parseBlock(contents[:s.size])
	case snappyBlock:
		plain, err := snappy.Decode(contents[:s.size])
		if core.Exhausted(err) {
			return block{}, core.AsError(err)
		}
		if err != nil {
			return block{}, corrupt(err.Error())
		}
		return parseBlock(plain)
	}
	return block{}, corrupt("bad block type")
}

// blockAt returns the block that an entry of the index points to.
func (t *table) blockAt(entry []byte) (block, error) {
	s, _, err := parseSpan(entry)
	if err != nil {
		return block{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.read.entries != nil && t.last == s {
		return t.read, nil
	}
	b, err := t.load(s)
	if err == nil {
		t.last, t.read = s, b
	}
	return b, err
}

// get returns the value of a key.
func (t *table) get(key string) (value []byte, ok bool, err error) {
	at, ok := t.index.seek(key)
	if !ok {
		return nil, false, at.err
	}
	b, err := t.blockAt(at.value)
	if err != nil {
		return nil, false, err
	}
	at, ok = b.seek(key)
	if !ok || string(at.key) != key {
		return nil, false, at.err
	}
	return at.value, true, nil
}

// each calls f for all entries in order, which must be that of the keys.
func (t *table) each(f func(key string, value []byte) error) error {
	var last []byte
	began := false
	at := t.index.first()
	for at.next() {
		b, err := t.blockAt(at.value)
		if err != nil {
			return err
		}
		c := b.first()
		for c.next() {
			if began && bytes.Compare(c.key, last) <= 0 {
				return corrupt("keys of a table must be in order")
			}
			began, last = true, append(last[:0], c.key...)
			if err := memory.TryRoom(len(c.key)); err != nil { // few bytes of a block may be a long key
				return core.AsError(err)
			}
			if err := f(string(c.key), c.value); err != nil {
				return err
			}
		}
		if c.err != nil {
			return c.err
		}
	}
	return at.err
}
