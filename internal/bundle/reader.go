package bundle

import (
	"path/filepath"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A Reader reads a bundle. It may be used by several goroutines.
type Reader struct {
	prefix string
	shards int
	open   opener
	index  *input
	table  *table

	mu    sync.Mutex
	files map[int32]*input // of data, by shard
}

// An Entry is what the index says of a tensor.
type Entry struct {
	DType  core.DType
	Shape  core.Shape
	Slices []Slice // nil: it is stored as a whole
	proto  *pb.BundleEntryProto
}

// Open opens the bundle of a prefix. Close ends its use. What it reads is of one
// bundle, even if another is written over it meanwhile.
func Open(prefix string) (*Reader, error) { return open(core.LocalPath(prefix), openFile) }

// open reads the index, and opens the data that is there. Data of an index that has been
// replaced since may have been removed, so that the new one is read.
func open(prefix string, f opener) (*Reader, error) {
	for range 100 {
		r, err := openIndex(prefix, f)
		if err != nil {
			return nil, err
		}
		r.openData()
		if !r.index.replaced() {
			return r, nil
		}
		r.Close()
	}
	return nil, core.Errorf(core.Aborted, "a bundle must not be written again faster than it can be opened: %s", prefix)
}

func openIndex(prefix string, f opener) (*Reader, error) {
	index, err := f(indexName(prefix))
	if err != nil {
		return nil, err
	}
	r := &Reader{prefix: prefix, open: f, index: index, files: map[int32]*input{}}
	if err := r.readHeader(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// mostOpened bounds the files that are opened ahead: a process may have a thousand or so.
const mostOpened = 256

// openData opens the data files: a file that is open stays readable when a writer removes
// it. A file that cannot be opened is an error of the first read from it. The files of a
// bundle that has more than mostOpened are opened when they are read.
func (r *Reader) openData() {
	have, err := dataFiles(r.prefix)
	if err != nil || len(have[r.shards]) > mostOpened {
		return
	}
	for _, name := range have[r.shards] {
		if shard, _, ok := shardOf(r.prefix, filepath.Base(name)); ok {
			_, _ = r.file(int32(shard))
		}
	}
}

func (r *Reader) readHeader() (err error) {
	if r.table, err = openTable(r.index, r.index.size); err != nil {
		return inFile(r.index.name, err)
	}
	h, err := header(r.table, r.index.name)
	if err != nil {
		return err
	}
	if h.GetEndianness() != pb.BundleHeaderProto_LITTLE {
		return core.Errorf(core.Unimplemented, "TensorBundle at %s is of a different endianness than this machine's hardware", r.prefix)
	}
	r.shards = int(h.GetNumShards())
	return checkVersion(h.GetVersion())
}

// header reads the first entry of an index.
func header(t *table, name string) (*pb.BundleHeaderProto, error) {
	const unreadable = "Unable to read file (%s). Perhaps the file is corrupt or was produced by a newer version of TensorFlow with format changes (%s)"
	b, ok, err := t.get("")
	switch {
	case err != nil:
		return nil, core.Errorf(core.CodeOf(err), unreadable+": %s", name, "failed to seek to header entry", core.AsError(err).Message())
	case !ok:
		return nil, core.Errorf(core.Internal, unreadable, name, "failed to seek to header entry")
	}
	h := &pb.BundleHeaderProto{}
	if proto.Unmarshal(b, h) != nil {
		return nil, core.Errorf(core.DataLoss, unreadable+": Entry for key  not parseable.", name, "unable to parse header")
	}
	return h, nil
}

// checkVersion refuses what does not want to be read by us.
func checkVersion(v *pb.VersionDef) error {
	switch {
	case v.GetProducer() < 0:
		return core.Errorf(core.InvalidArgument, "Checkpoint producer version %d below min producer 0 supported by TensorFlow.  Please regenerate your checkpoint.", v.GetProducer())
	case v.GetMinConsumer() > version:
		return core.Errorf(core.InvalidArgument, "Checkpoint min consumer version %d above current version %d for TensorFlow.  Please upgrade TensorFlow.", v.GetMinConsumer(), version)
	case slices.Contains(v.GetBadConsumers(), version):
		return core.Errorf(core.InvalidArgument, "Checkpoint disallows consumer version %d.  Please upgrade TensorFlow: this version is likely buggy.", version)
	}
	return nil
}

// Close ends the use of the files.
func (r *Reader) Close() {
	_ = r.index.Close()
	for _, f := range r.files {
		_ = f.Close()
	}
}

// Keys returns the names of the tensors, without those of slices, in order.
func (r *Reader) Keys() (keys []string, err error) {
	err = r.table.each(func(key string, _ []byte) error {
		if key != "" && key[0] != 0 { // the keys of slices begin with zero
			keys = append(keys, key)
		}
		return nil
	})
	return keys, inFile(r.index.name, err)
}

// Entry returns what the index says of a tensor.
func (r *Reader) Entry(key string) (*Entry, error) {
	b, ok, err := r.table.get(key)
	switch {
	case err != nil:
		return nil, inFile(r.index.name, err)
	case !ok || key == "":
		return nil, core.Errorf(core.NotFound, "Key %s not found in checkpoint", key)
	}
	e, err := parseEntry(key, b)
	return e, inFile(r.index.name, err)
}

func parseEntry(key string, b []byte) (*Entry, error) {
	p := &pb.BundleEntryProto{}
	if proto.Unmarshal(b, p) != nil {
		return nil, core.Errorf(core.DataLoss, "Entry for key %s not parseable.", key)
	}
	shape, err := core.ShapeFromProto(p.GetShape())
	e := &Entry{DType: core.DType(p.GetDtype()), Shape: shape, proto: p}
	if err != nil || core.CheckSize(e.DType, shape) != nil || p.GetDtype() < 0 || p.GetDtype() > 255 || !e.DType.Valid() || e.DType.IsRef() {
		return nil, core.Errorf(core.DataLoss, "Invalid tensor shape: %s %v", key, p.GetShape())
	}
	for _, s := range p.GetSlices() {
		slice, err := sliceOf(s, shape)
		if err != nil {
			return nil, err
		}
		e.Slices = append(e.Slices, slice)
	}
	return e, nil
}

// An Alloc returns a tensor, with arbitrary elements, to read values into.
type Alloc func(d core.DType, s core.Shape) (*core.Tensor, error)

// Lookup reads a tensor.
func (r *Reader) Lookup(key string) (*core.Tensor, error) { return r.LookupIn(key, core.AllocTensor) }

// LookupIn is Lookup into a tensor from a, or another one if the values cannot be read
// as they are stored.
func (r *Reader) LookupIn(key string, a Alloc) (*core.Tensor, error) {
	e, err := r.Entry(key)
	if err != nil {
		return nil, err
	}
	return r.slice(key, e, Whole(len(e.Shape)), a)
}

// LookupSlice reads a slice of a tensor, no matter how it is stored.
func (r *Reader) LookupSlice(key string, s Slice) (*core.Tensor, error) {
	e, err := r.Entry(key)
	if err != nil {
		return nil, err
	}
	return r.slice(key, e, s, core.AllocTensor)
}

func (r *Reader) slice(key string, e *Entry, want Slice, a Alloc) (*core.Tensor, error) {
	if len(e.Slices) == 0 {
		if want.isWhole(e.Shape) {
			return r.value(key, key, e, a)
		}
		return assemble(key, e.DType, e.Shape, want, []tile{r.tile(key, key, e, Whole(len(e.Shape)), e.Shape)})
	}
	var tiles []tile
	for _, s := range e.Slices {
		shape, err := s.Shape(e.Shape)
		if err != nil {
			return nil, err
		}
		name := s.key(key)
		tiles = append(tiles, r.tile(key, name, &Entry{DType: e.DType}, s, shape))
	}
	return assemble(key, e.DType, e.Shape, want, tiles)
}

// tile returns the slice of a tensor that is stored under a key of its own. Its entry is
// read when it is needed.
func (r *Reader) tile(tensor, key string, e *Entry, at Slice, shape core.Shape) tile {
	return tile{
		at: at,
		check: func() (err error) {
			d := e.DType
			if e, err = r.Entry(key); err != nil {
				return err
			}
			if e.DType != d || !e.Shape.Equal(shape) || e.Slices != nil {
				return core.Errorf(core.DataLoss, "slice %s must be a %s%s, but is a %s%s", at, d.CName(), shape.String(), e.DType.CName(), e.Shape.String())
			}
			_, err = r.located(key, e)
			return err
		},
		load: func(a Alloc) (*core.Tensor, error) { return r.value(tensor, key, e, a) },
	}
}

// located returns the file with the values of an entry, after it has checked
// that they can be there.
func (r *Reader) located(key string, e *Entry) (*input, error) {
	have, want := e.proto.GetSize(), int64(e.Shape.NumElements())*int64(e.DType.Size())
	switch {
	case e.DType == core.String:
		if least := int64(e.Shape.NumElements()) + 4; have < least {
			return nil, core.Errorf(core.DataLoss, "Invalid size in bundle entry: key %s; stored size %d; expected size is at least %d", key, have, least)
		}
	case e.DType == core.Variant:
		if least := 5 * int64(e.Shape.NumElements()); have < least {
			return nil, core.Errorf(core.DataLoss, "Invalid size in bundle entry: key %s; stored size %d; expected size is at least %d", key, have, least)
		}
	case e.DType.Size() == 0:
		return nil, core.Errorf(core.Unimplemented, "Restoring data type %s not yet supported", e.DType.CName())
	case have != want:
		return nil, core.Errorf(core.DataLoss, "Invalid size in bundle entry: key %s; stored size %d; expected size %d", key, have, want)
	}
	f, err := r.file(e.proto.GetShardId())
	if err != nil {
		return nil, err
	}
	return f, f.has(e.proto.GetOffset(), have)
}

// file returns the file of a shard.
func (r *Reader) file(shard int32) (*input, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.files[shard]; f != nil {
		return f, nil
	}
	f, err := r.open(dataName(r.prefix, int(shard), r.shards))
	if err == nil {
		r.files[shard] = f
	}
	return f, err
}

// value reads the values of an entry of a tensor. Errors name it and the file.
func (r *Reader) value(tensor, key string, e *Entry, a Alloc) (*core.Tensor, error) {
	f, err := r.located(key, e)
	if err != nil {
		return nil, ofTensor(tensor, err)
	}
	t, crc, err := readValues(f, e, a)
	if core.CodeOf(err) == core.ResourceExhausted {
		return nil, err
	}
	if err != nil {
		return nil, ofTensor(tensor, err)
	}
	if stored := record.Unmask(e.proto.GetCrc32C()); stored != crc {
		err = core.Errorf(core.DataLoss, "TensorBundle at %s shard %d (%d bytes): Checksum does not match: stored %08d vs. calculated on the restored bytes %d",
			r.prefix, e.proto.GetShardId(), e.proto.GetSize(), stored, crc)
		return nil, ofTensor(tensor, err)
	}
	return t, nil
}

func readValues(f *input, e *Entry, a Alloc) (t *core.Tensor, crc uint32, err error) {
	if e.DType != core.String && e.DType != core.Variant {
		if t, err = a(e.DType, e.Shape); err != nil {
			return nil, 0, err
		}
		b := t.Buffer().Bytes()[:t.NumBytes()]
		crc, err = f.read(e.proto.GetOffset(), b)
		core.NormalizeBools(e.DType, b)
		return t, crc, err
	}
	b, err := memory.TryMake[byte](int(e.proto.GetSize()))
	if err != nil {
		return nil, 0, core.AsError(err)
	}
	if _, err := f.read(e.proto.GetOffset(), b); err != nil {
		return nil, 0, err
	}
	if e.DType == core.Variant {
		return parseVariants(b, e.Shape)
	}
	if t, err = core.AllocTensor(core.String, e.Shape); err != nil {
		return nil, 0, err
	}
	crc, err = parseStrings(b, core.Data[string](t))
	return t, crc, err
}
