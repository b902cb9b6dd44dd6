package bundle

import (
	"io"
	"os"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
)

// An input is a file to read from, of known size.
type input struct {
	io.ReaderAt
	io.Closer
	name string
	size int64
}

// An opener opens a file.
type opener func(name string) (*input, error)

func openFile(name string) (*input, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, core.FileError(name, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, core.FileError(name, err)
	}
	return &input{f, f, name, info.Size()}, nil
}

// has checks that a stretch of bytes is in the file.
func (in *input) has(offset, size int64) error {
	if offset < 0 || size < 0 || offset > in.size || size > in.size-offset {
		return core.Errorf(core.OutOfRange, "Read less bytes than requested: %d bytes at %d of %s, which has %d", size, offset, in.name, in.size)
	}
	return nil
}

// inputChunk is what is read before its checksum is taken, so that it is still
// in the cache.
const inputChunk = 1 << 19

// read fills b and returns its checksum.
func (in *input) read(offset int64, b []byte) (crc uint32, err error) {
	for len(b) > 0 {
		part := b[:min(inputChunk, len(b))]
		if n, err := in.ReadAt(part, offset); n < len(part) {
			return 0, core.FileError(in.name, err)
		}
		crc = record.ExtendCRC(crc, part)
		b, offset = b[len(part):], offset+int64(len(part))
	}
	return crc, nil
}
