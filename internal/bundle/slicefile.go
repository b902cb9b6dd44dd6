package bundle

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// A SliceWriter writes a slice file.
type SliceWriter struct {
	name    string
	meta    pb.SavedTensorSliceMeta
	tensors map[string]*pb.SavedSliceMeta
	data    map[string][]byte
}

// CreateSlices begins a slice file, which Finish writes.
func CreateSlices(name string) *SliceWriter {
	return &SliceWriter{
		name: core.LocalPath(name), meta: pb.SavedTensorSliceMeta{Versions: &pb.VersionDef{Producer: version}},
		tensors: map[string]*pb.SavedSliceMeta{}, data: map[string][]byte{},
	}
}

// Add adds a slice of a tensor of the given shape.
func (w *SliceWriter) Add(name string, full core.Shape, s Slice, t *core.Tensor) error {
	if err := checkMessage(messageSize(name, s, t)); err != nil {
		return err
	}
	values, err := listed(t)
	if err != nil {
		return err
	}
	m := w.tensors[name]
	if m == nil {
		m = &pb.SavedSliceMeta{Name: name, Shape: core.ShapeProto(full), Type: pb.DataType(t.DType())}
		w.tensors[name] = m
		w.meta.Tensor = append(w.meta.Tensor, m)
	}
	if have, _ := core.ShapeFromProto(m.GetShape()); !have.Equal(full) {
		return core.Errorf(core.Internal, "Mismatching shapes: existing tensor = %s, trying to add name %s, shape = %s", have.String(), name, full.String())
	}
	if have := core.DType(m.GetType()); have != t.DType() {
		return core.Errorf(core.Internal, "Mismatching types: existing type = %s, trying to add name %s, type = %s", have.CName(), name, t.DType().CName())
	}
	m.Slice = append(m.Slice, s.proto())
	b, err := proto.Marshal(&pb.SavedTensorSlices{Data: &pb.SavedSlice{Name: name, Slice: s.proto(), Data: values}})
	w.data[s.key(name)] = b
	return err
}

// Finish writes the file.
func (w *SliceWriter) Finish() error {
	slices.SortFunc(w.meta.Tensor, func(a, b *pb.SavedSliceMeta) int { return strings.Compare(a.GetName(), b.GetName()) })
	return writeTable(w.name, func(t *tableWriter) error {
		b, err := proto.Marshal(&pb.SavedTensorSlices{Meta: &w.meta})
		if err != nil {
			return err
		}
		t.add("", b)
		for _, key := range slices.Sorted(maps.Keys(w.data)) {
			t.add(key, w.data[key])
		}
		return nil
	})
}

// A SliceReader reads the slices of tensors from all files whose names match a
// pattern.
type SliceReader struct {
	files   []*input
	tensors map[string]*sliced
}

// sliced is a tensor of which there are slices.
type sliced struct {
	dtype  core.DType
	shape  core.Shape
	slices []Slice
	tables []*table // where each slice lies
}

// OpenSlices opens the slice files that match a pattern. Close ends their use.
func OpenSlices(pattern string) (*SliceReader, error) {
	names, err := filepath.Glob(core.LocalPath(pattern))
	if err != nil {
		return nil, core.Errorf(core.InvalidArgument, "Unsuccessful TensorSliceReader constructor: Failed to get matching files on %s: %v", pattern, err)
	}
	if len(names) == 0 {
		return nil, core.Errorf(core.NotFound, "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for %s", pattern)
	}
	return openSlices(names, openFile)
}

func openSlices(names []string, f opener) (*SliceReader, error) {
	r := &SliceReader{tensors: map[string]*sliced{}}
	for _, name := range names {
		if err := r.load(name, f); err != nil {
			r.Close()
			return nil, err
		}
	}
	return r, nil
}

// Close ends the use of the files.
func (r *SliceReader) Close() {
	for _, f := range r.files {
		_ = f.Close()
	}
}

// load adds what is in a file.
func (r *SliceReader) load(name string, open opener) error {
	f, err := open(name)
	if err != nil {
		return err
	}
	r.files = append(r.files, f)
	t, err := openTable(f, f.size)
	if core.CodeOf(err) == core.ResourceExhausted { // which is no damage
		return err
	}
	if err != nil {
		return core.Errorf(core.DataLoss, "Unable to open table file %s: %s: %s: perhaps your file is in a different file format and you need to use a different restore operator?",
			name, core.CodeOf(err), core.AsError(err).Message())
	}
	b, ok, err := t.get("")
	if core.CodeOf(err) == core.ResourceExhausted {
		return err
	}
	var s pb.SavedTensorSlices
	if err != nil || !ok || proto.Unmarshal(b, &s) != nil {
		return core.Errorf(core.Internal, "Failed to find the saved tensor slices at the beginning of the checkpoint file: %s", name)
	}
	if err := checkVersion(s.GetMeta().GetVersions()); err != nil {
		return err
	}
	for _, m := range s.GetMeta().GetTensor() {
		if err := r.register(m, t); err != nil {
			return err
		}
	}
	return nil
}

func (r *SliceReader) register(m *pb.SavedSliceMeta, t *table) error {
	shape, err := core.ShapeFromProto(m.GetShape())
	d := core.DType(m.GetType())
	if err != nil || m.GetType() < 0 || m.GetType() > 255 || !d.Valid() || d.IsRef() || core.CheckSize(d, shape) != nil {
		return core.Errorf(core.DataLoss, "Invalid tensor shape: %s %v", m.GetName(), m.GetShape())
	}
	have := r.tensors[m.GetName()]
	if have == nil {
		have = &sliced{dtype: d, shape: shape}
		r.tensors[m.GetName()] = have
	}
	if have.dtype != d || !have.shape.Equal(shape) {
		return core.Errorf(core.Internal, "Incompatible tensor shapes detected for tensor %s: existing = %s, new = %s", m.GetName(), have.shape.String(), shape.String())
	}
	for _, p := range m.GetSlice() {
		s, err := sliceOf(p, shape)
		if err != nil {
			return err
		}
		have.slices, have.tables = append(have.slices, s), append(have.tables, t)
	}
	return nil
}

// Entry returns what the files say of a tensor, nil when there is none.
func (r *SliceReader) Entry(name string) *Entry {
	t := r.tensors[name]
	if t == nil {
		return nil
	}
	return &Entry{DType: t.dtype, Shape: t.shape, Slices: t.slices}
}

// LookupSlice reads a slice of a tensor, no matter in which slices it is stored.
func (r *SliceReader) LookupSlice(name string, want Slice) (*core.Tensor, error) {
	t := r.tensors[name]
	if t == nil {
		return nil, core.Errorf(core.NotFound, "%s not found in checkpoint file", name)
	}
	tiles := make([]tile, len(t.slices))
	for i, s := range t.slices {
		tiles[i] = t.tile(name, s, t.tables[i])
	}
	return assemble(name, t.dtype, t.shape, want, tiles)
}

// tile returns a stored slice. It is read by the check already: only then is it
// known that the values are all there.
func (t *sliced) tile(name string, s Slice, from *table) tile {
	var values *core.Tensor
	return tile{
		at:    s,
		check: func() (err error) { values, err = t.read(name, s, from); return err },
		load:  func(Alloc) (*core.Tensor, error) { return values, nil },
	}
}

func (t *sliced) read(name string, s Slice, from *table) (*core.Tensor, error) {
	b, ok, err := from.get(s.key(name))
	if err != nil {
		return nil, err
	}
	var rec pb.SavedTensorSlices
	if !ok || proto.Unmarshal(b, &rec) != nil {
		return nil, core.Errorf(core.DataLoss, "slice %s of tensor %s must be in the checkpoint file that lists it", s, name)
	}
	shape, err := s.Shape(t.shape)
	if err != nil {
		return nil, err
	}
	return unlisted(rec.GetData().GetData(), t.dtype, shape)
}

// Keys returns the names of the tensors, in order.
func (r *SliceReader) Keys() []string { return slices.Sorted(maps.Keys(r.tensors)) }
