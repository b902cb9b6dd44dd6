package record

import (
	"encoding/binary"
	"io"
)

const (
	lengthSize = 8
	crcSize    = 4
	headerSize = lengthSize + crcSize
)

// Writer writes records. It makes three small writes per record and keeps
// nothing back: wrap a file in a bufio.Writer, and flush that when a reader
// shall see the records. A Writer is for one goroutine at a time.
type Writer struct {
	w      io.Writer
	header [headerSize]byte
	footer [crcSize]byte
	err    error
}

// NewWriter returns a Writer that appends to w.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w}
}

// Write appends one record. An error leaves the stream torn, so that every
// later call returns it again.
func (w *Writer) Write(data []byte) error {
	binary.LittleEndian.PutUint64(w.header[:], uint64(len(data)))
	binary.LittleEndian.PutUint32(w.header[lengthSize:], MaskedCRC(w.header[:lengthSize]))
	binary.LittleEndian.PutUint32(w.footer[:], MaskedCRC(data))
	for _, part := range [][]byte{w.header[:], data, w.footer[:]} {
		w.put(part)
	}
	return w.err
}

func (w *Writer) put(part []byte) {
	if w.err == nil {
		_, w.err = w.w.Write(part)
	}
}
