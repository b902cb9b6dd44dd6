package bundle

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/gorge-tf/gorge/tf/core"
)

// Identity returns what entries have in common whose values are likely to be the same:
// type, shape, size and checksum. It is "" for values that are not stored as they lie in
// memory.
func (e *Entry) Identity() string {
	if e.Slices != nil || e.DType == core.String || e.DType == core.Variant {
		return ""
	}
	return fmt.Sprint(e.DType, e.Shape, e.proto.GetSize(), e.proto.GetCrc32C())
}

// sameChunks are buffers for Same.
var sameChunks = sync.Pool{New: func() any { return new([1 << 16]byte) }}

// Same reports whether the values stored under a key are those of t, whose entry has the
// same identity. They are read piece by piece.
func (r *Reader) Same(key string, t *core.Tensor) (bool, error) {
	e, err := r.Entry(key)
	if err != nil {
		return false, err
	}
	f, err := r.located(key, e)
	if err != nil {
		return false, ofTensor(key, err)
	}
	b := t.Buffer().Bytes()[:t.NumBytes()]
	if int64(len(b)) != e.proto.GetSize() {
		return false, nil
	}
	same, err := f.same(e.proto.GetOffset(), b)
	return same, ofTensor(key, err)
}

// same reports whether the file has b at an offset.
func (in *input) same(offset int64, b []byte) (bool, error) {
	chunk := sameChunks.Get().(*[1 << 16]byte)
	defer sameChunks.Put(chunk)
	for len(b) > 0 {
		part := chunk[:min(len(chunk), len(b))]
		if n, err := in.ReadAt(part, offset); n < len(part) {
			return false, inFile(in.name, err)
		}
		if !bytes.Equal(part, b[:len(part)]) {
			return false, nil
		}
		b, offset = b[len(part):], offset+int64(len(part))
	}
	return true, nil
}
