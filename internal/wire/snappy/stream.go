package snappy

import (
	"encoding/binary"
	"errors"
	"io"
)

const (
	// chunk is how many bytes a Writer packs together. TensorFlow reads
	// blocks of up to 256 KiB.
	chunk = 1 << 16
	// mostPacked bounds what a Reader takes for a block's length.
	mostPacked = 1 << 26
)

// A Writer packs what is written to it.
type Writer struct {
	w      io.Writer
	have   []byte
	packed []byte
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write implements io.Writer. The bytes may be kept until Close.
func (w *Writer) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		k := min(len(b), chunk-len(w.have))
		w.have = append(w.have, b[:k]...)
		b, n = b[k:], n+k
		if len(w.have) == chunk {
			if err := w.Flush(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// Flush writes what is kept.
func (w *Writer) Flush() error {
	if len(w.have) == 0 {
		return nil
	}
	w.packed = Encode(append(w.packed[:0], 0, 0, 0, 0), w.have)
	binary.BigEndian.PutUint32(w.packed, uint32(len(w.packed)-4))
	w.have = w.have[:0]
	_, err := w.w.Write(w.packed)
	return err
}

// Close writes what is left. It does not close the writer below.
func (w *Writer) Close() error { return w.Flush() }

// A Reader unpacks what a Writer, or TensorFlow, has packed.
type Reader struct {
	r    io.Reader
	rest []byte // of a block
	err  error
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	for len(r.rest) == 0 && r.err == nil {
		r.rest, r.err = r.block()
	}
	if len(r.rest) == 0 {
		return 0, r.err
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *Reader) block() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > mostPacked {
		return nil, ErrCorrupt
	}
	packed, err := io.ReadAll(io.LimitReader(r.r, int64(n))) // grows only as bytes arrive
	if err == nil && len(packed) < int(n) {
		err = io.ErrUnexpectedEOF
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	return Decode(packed)
}
