// Package riegelitest writes record files of Riegeli for tests.
package riegelitest

import (
	"bytes"
	"encoding/binary"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/minio/highwayhash"
)

const (
	blockSize   = 1 << 16
	blockHeader = 24
)

var key = []byte("Riegeli/records\nRiegeli/records\n")

// File is a file under construction. Its zero value is empty.
type File struct{ b []byte }

// Bytes returns the file.
func (f *File) Bytes() []byte { return f.b }

// Chunk adds a chunk of records with a compression: 0, 'b' for Brotli or 'z' for
// Zstandard. It returns the position of the first record.
func (f *File) Chunk(compression byte, records ...[]byte) uint64 {
	if len(f.b) == 0 {
		f.Raw('s', 0, nil, 0)
	}
	var sizes, values []byte
	for _, r := range records {
		sizes = binary.AppendUvarint(sizes, uint64(len(r)))
		values = append(values, r...)
	}
	packed := compress(compression, sizes)
	data := binary.AppendUvarint([]byte{compression}, uint64(len(packed)))
	data = append(append(data, packed...), compress(compression, values)...)
	return f.Raw('r', len(records), data, len(values))
}

// Raw adds a chunk of a type with any data.
func (f *File) Raw(kind byte, records int, data []byte, decoded int) uint64 {
	begin := len(f.b)
	h := make([]byte, 40)
	binary.LittleEndian.PutUint64(h[8:], uint64(len(data)))
	binary.LittleEndian.PutUint64(h[16:], highwayhash.Sum64(data, key))
	binary.LittleEndian.PutUint64(h[24:], uint64(records)<<8|uint64(kind))
	binary.LittleEndian.PutUint64(h[32:], uint64(decoded))
	binary.LittleEndian.PutUint64(h, highwayhash.Sum64(h[8:], key))
	f.write(append(h, data...))
	for len(f.b) < begin+records || f.inHeader() {
		f.b = append(f.b, 0)
	}
	return uint64(begin)
}

// inHeader reports whether the file ends within a block header, where no chunk may
// begin.
func (f *File) inHeader() bool {
	in := len(f.b) % blockSize
	return in > 0 && in < blockHeader
}

// write adds data, and block headers where they belong. What these say, where chunks
// are, readers that do not look for lost ones need not know.
func (f *File) write(data []byte) {
	for len(data) > 0 {
		if len(f.b)%blockSize == 0 {
			f.b = append(f.b, make([]byte, blockHeader)...)
		}
		n := min(len(data), blockSize-len(f.b)%blockSize)
		f.b, data = append(f.b, data[:n]...), data[n:]
	}
}

func compress(compression byte, b []byte) []byte {
	var out bytes.Buffer
	out.Write(binary.AppendUvarint(nil, uint64(len(b))))
	switch compression {
	case 'b':
		w := brotli.NewWriter(&out)
		w.Write(b)
		w.Close()
	case 'z':
		w, err := zstd.NewWriter(&out)
		if err != nil {
			panic(err) // not without options
		}
		w.Write(b)
		w.Close()
	default:
		return b
	}
	return out.Bytes()
}
