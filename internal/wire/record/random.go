package record

import (
	"encoding/binary"
	"errors"
	"io"
)

// Skip passes over the next record and returns how long its data is. Only the
// length is checked, not the data. Its errors are those of Next.
func (r *Reader) Skip() (int64, error) {
	if r.err != nil {
		return 0, r.err
	}
	length, err := r.readLength()
	if err == nil && length > maxLength {
		err = &CorruptError{r.offset, "record size too large"}
	}
	if err == nil {
		err = r.discard(int64(length) + crcSize)
	}
	if err != nil {
		r.err = err
		return 0, err
	}
	r.offset += headerSize + int64(length) + crcSize
	return int64(length), nil
}

// discard passes over n bytes, without reading them if r can do that.
func (r *Reader) discard(n int64) error {
	var passed int64
	var err error
	if d, ok := r.r.(interface{ Discard(int) (int, error) }); ok && int64(int(n)) == n {
		var k int
		k, err = d.Discard(int(n))
		passed = int64(k)
	} else {
		passed, err = io.CopyN(io.Discard, r.r, n)
	}
	if passed < n && (err == nil || errors.Is(err, io.EOF)) {
		return r.truncated()
	}
	return err
}

// Size returns how many bytes a record with n bytes of data takes.
func Size(n int64) int64 { return headerSize + n + crcSize }

// Open returns the data of the one record that b consists of, which lies at an
// offset of a stream.
func Open(b []byte, offset int64) ([]byte, error) {
	switch {
	case len(b) < headerSize+crcSize:
		return nil, (&Reader{offset: offset}).truncated()
	case !checked(b[:headerSize]):
		return nil, corrupted(offset)
	case binary.LittleEndian.Uint64(b) != uint64(len(b)-headerSize-crcSize):
		return nil, &CorruptError{offset, "record has another length than its index says"}
	case !checked(b[headerSize:]):
		return nil, corrupted(offset + headerSize)
	}
	return b[headerSize : len(b)-crcSize], nil
}
