package bundle

import (
	"errors"
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
	f, size, err := core.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	if err := NotPointer(f, size, name); err != nil {
		f.Close() // of a file that is only read
		return nil, err
	}
	return &input{f, f, name, size}, nil
}

// inFile names the file in an error about what it has.
func inFile(name string, err error) error {
	var e *core.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return &core.Error{Code: e.Code, Msg: e.Message() + ": " + name, Err: err}
	case errors.Is(err, io.EOF):
		return &core.Error{Code: core.DataLoss, Msg: "the file has been cut: " + name, Err: err}
	}
	return core.FileError(name, err)
}

// ofTensor names the tensor in an error about its values.
func ofTensor(key string, err error) error {
	if err == nil {
		return nil
	}
	e := core.AsError(err)
	return &core.Error{Code: e.Code, Msg: e.Message() + " (tensor " + key + ")", Err: err}
}

// replaced reports whether the name is another file's by now. It is exact: the number of a
// file that is open is not used again.
func (in *input) replaced() bool {
	f, ok := in.ReaderAt.(*os.File)
	if !ok {
		return false
	}
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(in.name)
	return err == nil && !os.SameFile(mine, now)
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
			return 0, inFile(in.name, err)
		}
		crc = record.ExtendCRC(crc, part)
		b, offset = b[len(part):], offset+int64(len(part))
	}
	return crc, nil
}
