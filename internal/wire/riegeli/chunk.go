package riegeli

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/minio/highwayhash"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/wire/snappy"
)

// The compressions of chunks.
const (
	noCompression     = 0
	brotliCompression = 'b'
	zstdCompression   = 'z'
	snappyCompression = 's'
)

// decode reads the records of a chunk.
func (f *Reader) decode(c *chunk) ([][]byte, error) {
	if c.kind == transposedChunk {
		return nil, ErrTransposed
	}
	if c.kind != simpleChunk || c.size == 0 {
		return nil, fmt.Errorf("its type %q is not known: %w", c.kind, ErrCorrupt)
	}
	data := make([]byte, c.size)
	if _, err := f.read(data, c.data); err != nil {
		return nil, err
	}
	if highwayhash.Sum64(data, key) != c.hash {
		return nil, fmt.Errorf("its data does not have its hash: %w", ErrCorrupt)
	}
	compression := data[0]
	n, used := binary.Uvarint(data[1:])
	rest := data[1+max(used, 0):]
	if used <= 0 || n > uint64(len(rest)) {
		return nil, fmt.Errorf("the sizes of its records must lie in it: %w", ErrCorrupt)
	}
	sizes, err := decompress(compression, rest[:n])
	if err != nil {
		return nil, err
	}
	values, err := decompress(compression, rest[n:])
	if err != nil {
		return nil, err
	}
	return divide(c, sizes, values)
}

// divide cuts the values of a chunk into records.
func divide(c *chunk, sizes, values []byte) ([][]byte, error) {
	if c.decoded != uint64(len(values)) || c.records > uint64(len(sizes)) {
		return nil, fmt.Errorf("its header must say what it holds: %w", ErrCorrupt)
	}
	out := make([][]byte, c.records)
	for i := range out {
		n, used := binary.Uvarint(sizes)
		if used <= 0 || n > uint64(len(values)) {
			return nil, fmt.Errorf("its records must lie in it: %w", ErrCorrupt)
		}
		out[i], values, sizes = values[:n:n], values[n:], sizes[used:]
	}
	if len(sizes)+len(values) > 0 {
		return nil, fmt.Errorf("it holds more than its records: %w", ErrCorrupt)
	}
	return out, nil
}

// maxDecompressed bounds what a chunk may become: protocol buffers end there. Without
// it a kilobyte could claim all memory.
const maxDecompressed = 1 << 31

// decompress returns what was compressed to b, which begins with the size of that.
func decompress(compression byte, b []byte) ([]byte, error) {
	if compression == noCompression {
		return b, nil
	}
	size, used := binary.Uvarint(b)
	if used <= 0 {
		return nil, fmt.Errorf("compressed data must begin with its size: %w", ErrCorrupt)
	}
	if size > maxDecompressed {
		return nil, fmt.Errorf("compressed data must have at most %d bytes, it says %d: %w", maxDecompressed, size, ErrCorrupt)
	}
	b = b[used:]
	var out []byte
	var err error
	switch compression {
	case brotliCompression:
		out, err = readAll(brotli.NewReader(bytes.NewReader(b)), size, len(b))
	case zstdCompression:
		out, err = unzstd(b, size)
	case snappyCompression:
		out, err = snappy.Decode(b)
	default:
		return nil, fmt.Errorf("its compression %q is not known: %w", compression, ErrCorrupt)
	}
	var room *memory.Exhausted
	if errors.As(err, &room) {
		return nil, err
	}
	if err != nil || uint64(len(out)) != size {
		return nil, fmt.Errorf("compressed data must have its size, %d bytes (%v): %w", size, err, ErrCorrupt)
	}
	return out, nil
}

func unzstd(b []byte, size uint64) ([]byte, error) {
	d, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return readAll(d, size, len(b))
}

// likelyExpansion is more than what compression gains as a rule. Memory for so much is
// asked for at once; for more only as data comes.
const likelyExpansion = 16

// readAll reads size bytes, and one more if there is one.
func readAll(r io.Reader, size uint64, compressed int) ([]byte, error) {
	var out bytes.Buffer
	out.Grow(int(min(size, uint64(compressed)*likelyExpansion)) + bytes.MinRead)
	_, err := io.Copy(&out, io.LimitReader(r, int64(size)+1))
	return out.Bytes(), err
}
