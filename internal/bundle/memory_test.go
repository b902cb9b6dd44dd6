package bundle

import (
	"bytes"
	"encoding/binary"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/snappy"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A sparse file is one of zeros that ends like a table.
type sparse struct {
	size   int64
	footer []byte
}

func (s sparse) ReadAt(b []byte, at int64) (int, error) {
	clear(b)
	if at == s.size-footerSize {
		copy(b, s.footer)
	}
	return len(b), nil
}

// TestBlockBeyondMemory: a table may say that it has a block that does not fit the memory.
func TestBlockBeyondMemory(t *testing.T) {
	footer := make([]byte, footerSize-8, footerSize)
	copy(footer, span{0, 1 << 44}.append(span{0, 0}.append(nil)))
	f := sparse{1 << 45, binary.LittleEndian.AppendUint64(footer, tableMagic)}
	if _, err := openTable(f, f.size); core.CodeOf(err) != core.ResourceExhausted {
		t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
	}
}

// TestTensorsBeyondMemory: what does not fit the memory is an error, also where it is put
// together of slices or of strings.
func TestTensorsBeyondMemory(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "m")
	w, err := Create(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	const n = 4 << 20
	half := core.NewTensor(core.Float32, core.Shape{n})
	for i := range int64(2) {
		if err := w.AddSlice("slices", core.Shape{2 * n}, Slice{{i * n, n}}, half); err != nil {
			t.Fatal(err)
		}
	}
	texts := core.NewTensor(core.String, core.Shape{8})
	for i := range core.Data[string](texts) {
		core.Data[string](texts)[i] = string(make([]byte, n))
	}
	if err := w.Add("strings", texts); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	debug.FreeOSMemory() // what is garbage now must not be room later
	used, _ := core.MemoryUsage()
	defer core.SetMemoryLimit(core.SetMemoryLimit(used + 4<<20))
	for _, key := range []string{"slices", "strings"} {
		if _, err := r.Lookup(key); core.CodeOf(err) != core.ResourceExhausted {
			t.Errorf("%s: got %v, want RESOURCE_EXHAUSTED", key, err)
		}
	}
	runtime.KeepAlive(half)
	runtime.KeepAlive(texts)
}

// TestPackedBlockBeyondMemory: a block may need more memory than is left once it is
// unpacked.
func TestPackedBlockBeyondMemory(t *testing.T) {
	contents := append(snappy.Encode(nil, make([]byte, 32<<20)), snappyBlock)
	footer := make([]byte, footerSize-8, footerSize)
	copy(footer, span{0, uint64(len(contents) - 1)}.append(span{0, 0}.append(nil)))
	file := append(sealed(contents), binary.LittleEndian.AppendUint64(footer, tableMagic)...)
	debug.FreeOSMemory() // what is garbage now must not be room later
	used, _ := core.MemoryUsage()
	defer core.SetMemoryLimit(core.SetMemoryLimit(used + 8<<20))
	if _, err := openTable(bytes.NewReader(file), int64(len(file))); core.CodeOf(err) != core.ResourceExhausted {
		t.Errorf("got %v, want RESOURCE_EXHAUSTED", err)
	}
}

// TestKeysBeyondMemory: keys that share all but their ends with others take little of a
// table and may be long.
func TestKeysBeyondMemory(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "m")
	key := strings.Repeat("k", 100_000)
	err := writeTable(indexName(prefix), func(w *tableWriter) error {
		w.data.interval = math.MaxInt
		h, err := proto.Marshal(&pb.BundleHeaderProto{NumShards: 1, Version: &pb.VersionDef{Producer: version}})
		w.add("", h)
		for i := range 3000 {
			w.add(key+strconv.Itoa(10_000+i), nil)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Open(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	debug.FreeOSMemory()
	used, _ := core.MemoryUsage()
	defer core.SetMemoryLimit(core.SetMemoryLimit(used + 32<<20))
	if keys, err := r.Keys(); core.CodeOf(err) != core.ResourceExhausted {
		t.Errorf("got %d keys of %d bytes, %v, want RESOURCE_EXHAUSTED", len(keys), len(key), err)
	}
}
