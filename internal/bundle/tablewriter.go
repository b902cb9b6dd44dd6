package bundle

import (
	"encoding/binary"
	"io"

	"github.com/gorge-tf/gorge/internal/wire/record"
)

// A tableWriter writes a table. Keys come in order.
type tableWriter struct {
	w           io.Writer
	at          uint64
	data, index blockWriter
	last        string
	some        bool  // there are entries
	pending     *span // a block whose entry in the index waits for the key that follows it
	err         error
}

func newTableWriter(w io.Writer) *tableWriter {
	return &tableWriter{w: w, data: blockWriter{interval: restartEvery}, index: blockWriter{interval: 1}}
}

func (w *tableWriter) add(key string, value []byte) {
	if w.some && len(key)+len(value) >= 2*blockTarget {
		w.flush() // small neighbours do not have to be read with it
	}
	w.point(separator(w.last, key))
	w.data.add(key, value)
	if w.last, w.some = key, true; w.data.size() >= blockTarget {
		w.flush()
	}
}

// point writes the pending entry of the index.
func (w *tableWriter) point(key string) {
	if w.pending != nil {
		w.index.add(key, w.pending.append(nil))
		w.pending = nil
	}
}

// flush ends the block of data.
func (w *tableWriter) flush() {
	if len(w.data.buf) > 0 {
		s := w.block(&w.data)
		w.pending = &s
	}
}

func (w *tableWriter) block(b *blockWriter) span {
	contents := b.finish()
	s := span{w.at, uint64(len(contents))}
	w.put(sealed(append(contents, rawBlock)))
	return s
}

// sealed appends the checksum of a block and its type.
func sealed(b []byte) []byte { return binary.LittleEndian.AppendUint32(b, record.MaskedCRC(b)) }

func (w *tableWriter) put(b []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(b)
		w.at += uint64(len(b))
	}
}

// finish writes what is left, and where the index is.
func (w *tableWriter) finish() error {
	w.flush()
	meta := w.block(&blockWriter{})
	w.point(successor(w.last))
	index := w.block(&w.index)
	footer := make([]byte, footerSize-8, footerSize)
	copy(footer, index.append(meta.append(nil)))
	w.put(binary.LittleEndian.AppendUint64(footer, tableMagic))
	return w.err
}

// separator returns a short key that is at least a and less than b.
func separator(a, b string) string {
	n := commonPrefix(a, b)
	if n == min(len(a), len(b)) || a[n] == 0xff || a[n]+1 >= b[n] {
		return a
	}
	return a[:n] + string([]byte{a[n] + 1})
}

// successor returns a short key that is at least a.
func successor(a string) string {
	for i := range len(a) {
		if a[i] != 0xff {
			return a[:i] + string([]byte{a[i] + 1})
		}
	}
	return a
}
