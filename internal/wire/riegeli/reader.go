package riegeli

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/minio/highwayhash"
)

// ErrCorrupt is wrapped by what is said of a file that is not as the format has it.
var ErrCorrupt = errors.New("the file is no record file of Riegeli or is damaged")

// ErrTransposed says that records are stored by fields.
var ErrTransposed = errors.New("transposed chunks of Riegeli cannot be read")

// The layout of files.
const (
	blockSize   = 1 << 16
	blockHeader = 24
	chunkHeader = 40
)

// The types of chunks.
const (
	signatureChunk  = 's'
	metadataChunk   = 'm'
	paddingChunk    = 'p'
	simpleChunk     = 'r'
	transposedChunk = 't'
)

// key is that of all hashes in files.
var key = []byte("Riegeli/records\nRiegeli/records\n")

// A Reader finds records by their positions. It is for one goroutine.
type Reader struct {
	r      io.ReaderAt
	size   int64
	chunks []chunk // those with records, by where they begin

	cached  int // the chunk that records are of, -1: none
	records [][]byte
}

// chunk is what a chunk's header says, and where it is.
type chunk struct {
	begin   int64
	data    int64 // where the data begins
	size    int64 // of the data, without block headers
	hash    uint64
	kind    byte
	records uint64
	decoded uint64 // bytes of all records
}

// Open reads the headers of all chunks of a file.
func Open(r io.ReaderAt, size int64) (*Reader, error) {
	f := &Reader{r: r, size: size, cached: -1}
	for pos := int64(0); pos < size; {
		c, end, err := f.header(pos)
		if err != nil {
			return nil, fmt.Errorf("chunk at byte %d: %w", pos, err)
		}
		if (pos == 0) != (c.kind == signatureChunk) {
			return nil, fmt.Errorf("a file must have one signature, at its begin: %w", ErrCorrupt)
		}
		if c.records > 0 && c.kind != metadataChunk && c.kind != paddingChunk {
			f.chunks = append(f.chunks, c)
		}
		pos = end
	}
	if size == 0 {
		return nil, fmt.Errorf("the file is empty: %w", ErrCorrupt)
	}
	return f, nil
}

// header reads the header of the chunk at pos, and returns where the chunk ends.
func (f *Reader) header(pos int64) (chunk, int64, error) {
	var h [chunkHeader]byte
	data, err := f.read(h[:], pos)
	if err != nil {
		return chunk{}, 0, err
	}
	if binary.LittleEndian.Uint64(h[:]) != highwayhash.Sum64(h[8:], key) {
		return chunk{}, 0, fmt.Errorf("its header does not have its hash: %w", ErrCorrupt)
	}
	size, count := binary.LittleEndian.Uint64(h[8:]), binary.LittleEndian.Uint64(h[24:])
	c := chunk{begin: pos, data: data, hash: binary.LittleEndian.Uint64(h[16:]), kind: byte(count), records: count >> 8, decoded: binary.LittleEndian.Uint64(h[32:])}
	if size > uint64(f.size-data) || c.records > uint64(f.size) {
		return chunk{}, 0, fmt.Errorf("its data must lie in the file: %w", ErrCorrupt)
	}
	c.size = int64(size)
	end := skip(data, c.size)
	if end > f.size {
		return chunk{}, 0, fmt.Errorf("its data must lie in the file: %w", ErrCorrupt)
	}
	// Each record has a position of its own, so a chunk is as long as it has records.
	return c, max(end, boundary(pos+int64(c.records))), nil
}

// skip returns where n bytes end that begin at pos.
func skip(pos, n int64) int64 {
	for n > 0 {
		if pos%blockSize == 0 {
			pos += blockHeader
		}
		step := min(n, blockSize-pos%blockSize)
		pos, n = pos+step, n-step
	}
	return pos
}

// boundary returns the first place from pos on where a chunk may begin: not within a
// block header.
func boundary(pos int64) int64 {
	if in := pos % blockSize; in > 0 && in < blockHeader {
		return pos - in + blockHeader
	}
	return pos
}

// read fills b with what is at pos, without block headers, and returns where that
// ends.
func (f *Reader) read(b []byte, pos int64) (int64, error) {
	for len(b) > 0 {
		if pos%blockSize == 0 {
			pos += blockHeader
		}
		n := min(len(b), int(blockSize-pos%blockSize))
		if m, err := f.r.ReadAt(b[:n], pos); m < n {
			if err == io.EOF {
				err = fmt.Errorf("%w: %w", ErrCorrupt, io.ErrUnexpectedEOF)
			}
			return 0, err
		}
		b, pos = b[n:], pos+int64(n)
	}
	return pos, nil
}

// Last returns the last record. What is returned must not be changed, and is valid
// until the next call.
func (f *Reader) Last() ([]byte, error) {
	if len(f.chunks) == 0 {
		return nil, fmt.Errorf("the file has no records: %w", ErrCorrupt)
	}
	last := len(f.chunks) - 1
	return f.record(last, f.chunks[last].records-1)
}

// Record returns the record at a position, as Last does.
func (f *Reader) Record(position uint64) ([]byte, error) {
	i := sort.Search(len(f.chunks), func(i int) bool { return uint64(f.chunks[i].begin) > position }) - 1
	if i < 0 || position-uint64(f.chunks[i].begin) >= f.chunks[i].records {
		return nil, fmt.Errorf("there is no record at position %d: %w", position, ErrCorrupt)
	}
	return f.record(i, position-uint64(f.chunks[i].begin))
}

func (f *Reader) record(i int, n uint64) ([]byte, error) {
	if f.cached != i {
		f.cached, f.records = -1, nil // the memory of two chunks is not needed at once
		records, err := f.decode(&f.chunks[i])
		if err != nil {
			return nil, fmt.Errorf("chunk at byte %d: %w", f.chunks[i].begin, err)
		}
		f.cached, f.records = i, records
	}
	return f.records[n], nil
}
