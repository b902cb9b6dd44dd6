package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/internal/wire/record"
	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// version of the format; every version so far can be read.
const version = 1

func indexName(prefix string) string { return prefix + ".index" }

func dataName(prefix string, shard, shards int) string {
	return fmt.Sprintf("%s.data-%05d-of-%05d", prefix, shard, shards)
}

// temporary returns the name that a file has until it is complete.
func temporary(name string) string {
	return fmt.Sprintf("%s%s%d%s", name, tempMark, rand.Uint64(), ownMark)
}

// makeDir makes the directory of a prefix, but not those above it.
func makeDir(prefix string) error {
	dir := filepath.Dir(prefix)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return core.FileError(dir, err)
	}
	return nil
}

// A Writer writes a bundle. Nothing has the bundle's names before Finish, and a
// bundle of the same prefix stays whole until Finish has done its last step.
type Writer struct {
	prefix  string
	data    *output
	entries map[string]*pb.BundleEntryProto
}

// Create begins a bundle. Finish or Abort ends it.
func Create(prefix string) (*Writer, error) {
	prefix = core.LocalPath(prefix)
	if err := makeDir(prefix); err != nil {
		return nil, err
	}
	data, err := createOutput(dataName(prefix, 0, 1))
	if err != nil {
		return nil, err
	}
	return &Writer{prefix, data, map[string]*pb.BundleEntryProto{}}, nil
}

// Add adds a tensor.
func (w *Writer) Add(key string, t *core.Tensor) error {
	if key == "" || w.entries[key] != nil {
		return core.Errorf(core.InvalidArgument, "Adding duplicate key: %s", key)
	}
	begin := w.data.at
	crc, err := w.store(t)
	if err != nil {
		return err
	}
	w.entries[key] = &pb.BundleEntryProto{
		Dtype: pb.DataType(t.DType()), Shape: core.ShapeProto(t.Shape()),
		Offset: begin, Size: w.data.at - begin, Crc32C: record.Mask(crc),
	}
	return nil
}

// store appends the values of a tensor to the data.
func (w *Writer) store(t *core.Tensor) (crc uint32, err error) {
	switch {
	case t.DType() == core.String:
		values := core.Data[string](t)
		head, crc := stringHead(values)
		if _, err := w.data.write(0, head); err != nil {
			return 0, err
		}
		for _, s := range values {
			if crc, err = w.data.write(crc, []byte(s)); err != nil {
				return 0, err
			}
		}
		return crc, nil
	case t.DType() == core.Variant:
		b, crc, err := variantBytes(t)
		if err == nil {
			_, err = w.data.write(0, b)
		}
		return crc, err
	case t.DType().Size() == 0:
		return 0, core.Errorf(core.Unimplemented, "Saving data type %s not yet supported", t.DType().CName())
	}
	return w.data.write(0, t.Buffer().Bytes()[:t.NumBytes()])
}

// AddSlice adds a slice of a tensor of the given shape. Different slices may come
// from different writers, whose bundles [Merge] joins.
func (w *Writer) AddSlice(key string, full core.Shape, s Slice, t *core.Tensor) error {
	if s.isWhole(full) {
		return w.Add(key, t)
	}
	e := w.entries[key]
	if e == nil {
		e = &pb.BundleEntryProto{Dtype: pb.DataType(t.DType()), Shape: core.ShapeProto(full)}
	}
	if have, _ := core.ShapeFromProto(e.GetShape()); len(e.GetSlices()) == 0 && w.entries[key] != nil || core.DType(e.GetDtype()) != t.DType() || !have.Equal(full) {
		return core.Errorf(core.InvalidArgument, "slices of tensor %s must all be of one type and of one shape", key)
	}
	if err := w.Add(s.key(key), t); err != nil {
		return err
	}
	e.Slices = append(e.Slices, s.proto())
	w.entries[key] = e
	return nil
}

// Finish completes the bundle: first the data gets its name, then the index,
// whose rename decides. Data of an older bundle goes after that.
func (w *Writer) Finish() error {
	shards, err := claimGeneration(w.prefix, 1, func(n int) error { return w.data.claim(dataName(w.prefix, 0, n)) })
	if err != nil {
		return err
	}
	defer w.data.settle()
	header := &pb.BundleHeaderProto{NumShards: int32(shards), Version: &pb.VersionDef{Producer: version}}
	if err := writeIndex(w.prefix, header, w.entries); err != nil {
		_ = storage.remove(w.data.name)
		return err
	}
	w.data.settle()
	retire(w.prefix)
	return nil
}

// Abort drops the bundle. After Finish it does nothing.
func (w *Writer) Abort() { w.data.abort() }

// writeIndex writes the index of a bundle.
func writeIndex(prefix string, header *pb.BundleHeaderProto, entries map[string]*pb.BundleEntryProto) error {
	return writeTable(indexName(prefix), func(t *tableWriter) error {
		b, err := proto.Marshal(header)
		if err != nil {
			return err
		}
		t.add("", b)
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			if b, err = proto.Marshal(entries[key]); err != nil {
				return err
			}
			t.add(key, b)
		}
		return nil
	})
}

// writeTable writes the file of a table, which has its name when it is complete.
func writeTable(name string, fill func(*tableWriter) error) error {
	out, err := createOutput(name)
	if err != nil {
		return err
	}
	defer out.abort()
	t := newTableWriter(out)
	if err := fill(t); err != nil {
		return err
	}
	if err := t.finish(); err != nil {
		return err
	}
	return out.commit()
}
