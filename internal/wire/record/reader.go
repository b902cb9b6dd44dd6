package record

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gorge-tf/gorge/internal/memory"
)

// CorruptError tells that a stream holds something else than whole records.
// Its text is TensorFlow's; the canonical code for it is DATA_LOSS.
type CorruptError struct {
	Offset int64  // of the bytes that failed
	Reason string // what TensorFlow says
}

// Error implements error.
func (e *CorruptError) Error() string { return e.Reason }

// growth is how much memory a record may claim before its bytes have arrived: a
// few bytes of bad input must not allocate what their length field says.
const growth = 1 << 20

// Reader reads records. It reads exactly what it needs: wrap a file in a
// bufio.Reader. A Reader is for one goroutine at a time.
type Reader struct {
	r      io.Reader
	offset int64
	header [headerSize]byte
	buf    []byte
	err    error
	open   bool // the stream may still be written
}

// NewReader returns a Reader of the records of r.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: r}
}

// NewReaderAt is NewReader for a stream that begins at a place of another one, from where
// offsets count.
func NewReaderAt(r io.Reader, offset int64) *Reader {
	return &Reader{r: r, offset: offset}
}

// Unfinished makes r take a header that is cut short, or a compressed stream that
// is, for the end: the writer may not have got further yet. TensorFlow's readers
// do so always. It returns r.
func (r *Reader) Unfinished() *Reader {
	r.open = true
	return r
}

// Offset returns the place after the last whole record that was read.
func (r *Reader) Offset() int64 { return r.offset }

// Next returns the data of the next record, which stays valid until the next
// call. It returns io.EOF at the end of the stream. Records that are cut short
// and wrong checksums give a *CorruptError, but see [Reader.Unfinished]. After
// any error the Reader is done.
func (r *Reader) Next() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	data, err := r.read()
	if err != nil {
		r.err = err
		return nil, err
	}
	r.offset += headerSize + int64(len(data)) + crcSize
	return data, nil
}

func (r *Reader) read() ([]byte, error) {
	length, err := r.readLength()
	if err != nil {
		return nil, err
	}
	if length > maxLength {
		return nil, &CorruptError{r.offset, "record size too large"}
	}
	body, err := r.take(int(length) + crcSize)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, r.truncated()
	}
	if err != nil {
		return nil, err
	}
	if !checked(body) {
		return nil, corrupted(r.offset + headerSize)
	}
	return body[:length], nil
}

// take returns the next n bytes: where they lie in the buffer of a bufio.Reader
// that has room for them, else in a copy.
func (r *Reader) take(n int) ([]byte, error) {
	b, ok := r.r.(*bufio.Reader)
	if !ok || b.Size() < n {
		err := r.fill(n)
		return r.buf, err
	}
	body, err := b.Peek(n)
	if err != nil {
		return nil, err
	}
	_, err = b.Discard(n) // which leaves the bytes where they are
	return body, err
}

// maxLength keeps length and checksum together within an int.
const maxLength = uint64(int(^uint(0)>>1)) - crcSize

func (r *Reader) readLength() (uint64, error) {
	_, err := io.ReadFull(r.r, r.header[:])
	if errors.Is(err, io.ErrUnexpectedEOF) { // of the header, or of what is below
		return 0, r.cut()
	}
	if err != nil {
		return 0, err
	}
	if !checked(r.header[:]) {
		return 0, corrupted(r.offset)
	}
	return binary.LittleEndian.Uint64(r.header[:]), nil
}

// fill reads n bytes into buf, which grows only as fast as they arrive, and
// within the memory limit.
func (r *Reader) fill(n int) (err error) {
	r.buf = r.buf[:0]
	for len(r.buf) < n {
		have := len(r.buf)
		step := min(n-have, max(have, cap(r.buf)-have, growth))
		if r.buf, err = memory.Grow(r.buf, step); err != nil {
			return err
		}
		r.buf = r.buf[:have+step]
		if _, err := io.ReadFull(r.r, r.buf[have:]); err != nil {
			return err
		}
	}
	return nil
}

// checked tells whether b ends with the masked checksum of what comes before.
func checked(b []byte) bool {
	data, crc := b[:len(b)-crcSize], b[len(b)-crcSize:]
	return MaskedCRC(data) == binary.LittleEndian.Uint32(crc)
}

func corrupted(offset int64) error {
	hint := ""
	if offset == 0 {
		hint = " (Is this even a TFRecord file?)"
	}
	return &CorruptError{offset, fmt.Sprintf("corrupted record at %d%s", offset, hint)}
}

// cut is what a header cut short means.
func (r *Reader) cut() error {
	if r.open {
		return io.EOF
	}
	return r.truncated()
}

func (r *Reader) truncated() error {
	return &CorruptError{r.offset, fmt.Sprintf(
		"truncated record at %d' failed with Read less bytes than requested", r.offset)}
}
