package bundle

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/gorge-tf/gorge/tf/core"
	"github.com/gorge-tf/gorge/tf/pb"
)

// fails checks an error's code and words.
func fails(t *testing.T, err error, code core.Code, words string) {
	t.Helper()
	if core.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
		t.Errorf("%v, want %v: %s", err, code, words)
	}
}

func TestParseSlice(t *testing.T) {
	for spec, want := range map[string]string{
		"":             "Need least two elements in shape_and_slice specification: ",
		"2":            "Need least two elements in shape_and_slice specification: 2",
		"2 a 0,3:-":    "Non numerical dimension in shape_and_slice: 2 a 0,3:-",
		"-2 2 -:-":     "Non numerical dimension in shape_and_slice: -2 2 -:-",
		"2 2 0:-":      "Expected a pair of numbers or '-' but got '0': string = 0:-",
		"2 2 0,x:-":    "Expected a pair of numbers or '-' but got '0,x': string = 0,x:-",
		"2 2 0,0:-":    "Expected non-negative start and positive length but got start = 0, length = 0: string = 0,0:-",
		"2 2 0,3:-":    "Extent in dimension 0 out of bounds: shape = [2,2], slice = 0,3:-",
		"2 2 0,1":      "Mismatching ranks: shape = [2,2], slice = 0,1",
		"9 1,99999999": "Extent in dimension 0 out of bounds: shape = [9], slice = 1,99999999",
		"9 9223372036854775807,9223372036854775807": "Expected non-negative start",
	} {
		code := core.InvalidArgument
		if strings.HasPrefix(want, "Extent") || strings.HasPrefix(want, "Mismatching") {
			code = core.Internal
		}
		_, _, _, err := ParseSlice(spec)
		fails(t, err, code, want)
	}
	full, s, shape, err := ParseSlice("4 5 1,2:-")
	if err != nil || !full.Equal(core.Shape{4, 5}) || !shape.Equal(core.Shape{2, 5}) || s.String() != "1,2:-" {
		t.Error(full, s, shape, err)
	}
}

func TestWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "p"))
	if err != nil {
		t.Fatal(err)
	}
	x := tensor(t, []float32{1, 2})
	for _, key := range []string{"x", "y", "z"} {
		if err := w.Add(key, x); err != nil {
			t.Fatal(err)
		}
	}
	half := Slice{{0, 2}}
	fails(t, w.Add("x", x), core.InvalidArgument, "Adding duplicate key: x")
	fails(t, w.Add("", x), core.InvalidArgument, "Adding duplicate key: ")
	fails(t, w.Add("r", core.HandleTensor(core.ResourceHandle{})), core.Unimplemented, "Saving data type resource not yet supported")
	fails(t, w.AddSlice("x", core.Shape{4}, half, x), core.InvalidArgument, "slices of tensor x must all be of one type and of one shape")
	if err := w.AddSlice("s", core.Shape{4}, half, x); err != nil {
		t.Fatal(err)
	}
	fails(t, w.AddSlice("s", core.Shape{4}, half, x), core.InvalidArgument, "Adding duplicate key: ")
	fails(t, w.AddSlice("s", core.Shape{5}, Slice{{2, 2}}, x), core.InvalidArgument, "slices of tensor s must")
	w.Abort()
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	fails(t, w.Finish(), core.FailedPrecondition, "has been written")
	if _, err := Create(filepath.Join(dir, "none", "below", "p")); core.CodeOf(err) != core.NotFound {
		t.Error(err)
	}
	s := CreateSlices(filepath.Join(dir, "s"))
	if err := s.Add("x", core.Shape{4}, half, x); err != nil {
		t.Fatal(err)
	}
	fails(t, s.Add("x", core.Shape{5}, half, x), core.Internal, "Mismatching shapes: existing tensor = [4], trying to add name x, shape = [5]")
	fails(t, s.Add("x", core.Shape{4}, half, tensor(t, []int32{1, 2})), core.Internal, "Mismatching types: existing type = float, trying to add name x, type = int32")
	fails(t, s.Add("x", core.Shape{}, Slice{}, core.HandleTensor(core.ResourceHandle{})), core.Unimplemented, "Saving data type resource not yet supported")
}

// files are files in memory.
type files map[string][]byte

func (f files) open(name string) (*input, error) {
	b, ok := f[name]
	if !ok {
		return nil, core.FileError(name, os.ErrNotExist)
	}
	return &input{strings.NewReader(string(b)), io.NopCloser(nil), name, int64(len(b))}, nil
}

// golden returns TensorFlow's files, of both formats.
func golden(t testing.TB) files {
	f := files{}
	for _, name := range []string{"whole.index", "whole.data-00000-of-00001", "slices"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		f[name] = b
	}
	return f
}

// lookup reads one tensor of the bundle "whole".
func (f files) lookup(key string) error {
	r, err := open("whole", f.open)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Lookup(key)
	return err
}

// TestDamage changes files in one place each.
func TestDamage(t *testing.T) {
	const index, data = "whole.index", "whole.data-00000-of-00001"
	change := func(name string, at int, b ...byte) files {
		f := golden(t)
		f[name] = slices.Clone(f[name])
		copy(f[name][(at+len(f[name]))%len(f[name]):], b)
		return f
	}
	short := golden(t)
	short[data] = short[data][:20]
	none := golden(t)
	delete(none, data)
	for _, c := range []struct {
		f     files
		key   string
		code  core.Code
		words string
	}{
		{golden(t), "none", core.NotFound, "Key none not found in checkpoint"},
		{golden(t), "", core.NotFound, "Key  not found in checkpoint"},
		{none, "matrix", core.NotFound, data + "; No such file or directory"},
		{short, "matrix", core.OutOfRange, "Read less bytes than requested"},
		{files{}, "", core.NotFound, index + "; No such file or directory"},
		{files{index: []byte("x")}, "", core.DataLoss, "file is too short to be an sstable"},
		{change(index, -1, 0), "", core.DataLoss, "not an sstable (bad magic number)"},
		{change(index, 20, 0xff), "", core.DataLoss, "block checksum mismatch"},
		{change(index, -48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), "", core.DataLoss, "bad block handle"},
		{change(index, -48, 0, 0, 0xff, 0xff, 0x7f, 0xff, 0xff, 0x7f), "", core.DataLoss, "truncated block read"},
		{change(data, 0, 1), "matrix", core.DataLoss, "TensorBundle at whole shard 0 (48 bytes): Checksum does not match: stored"},
		{change(data, 48, 2), "strings", core.DataLoss, "The length checksum does not match: expected"},
		{change(data, 60, 'x'), "strings", core.DataLoss, "Checksum does not match"},
	} {
		fails(t, c.f.lookup(c.key), c.code, c.words)
	}
}

// index returns the files of a bundle with the given header and entries.
func index(t *testing.T, h *pb.BundleHeaderProto, entries map[string]*pb.BundleEntryProto) files {
	prefix := filepath.Join(t.TempDir(), "p")
	if err := writeIndex(prefix, h, entries); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(prefix + ".index")
	if err != nil {
		t.Fatal(err)
	}
	return files{"whole.index": b, "whole.data-00000-of-00001": make([]byte, 100)}
}

func TestHeaders(t *testing.T) {
	for words, h := range map[string]*pb.BundleHeaderProto{
		"different endianness":           {Endianness: pb.BundleHeaderProto_BIG},
		"below min producer 0":           {Version: &pb.VersionDef{Producer: -1}},
		"above current version 1":        {Version: &pb.VersionDef{MinConsumer: 2}},
		"disallows consumer version 1. ": {Version: &pb.VersionDef{BadConsumers: []int32{1}}},
	} {
		code := core.InvalidArgument
		if h.GetEndianness() != 0 {
			code = core.Unimplemented
		}
		fails(t, index(t, h, nil).lookup("x"), code, words)
	}
}

// TestEntries is about entries that promise what is not there.
func TestEntries(t *testing.T) {
	shape := func(s ...int) *pb.TensorShapeProto { return core.ShapeProto(s) }
	slice := func(start, length int64) *pb.TensorSliceProto { return Slice{{start, length}}.proto() }
	const float, str, huge = pb.DataType(core.Float32), pb.DataType(core.String), 1 << 50
	for words, e := range map[string]*pb.BundleEntryProto{
		"Invalid tensor shape: x":                            {Dtype: float, Shape: shape(huge, huge)},
		"Invalid tensor shape: x dim":                        {Dtype: 77, Shape: shape(2)},
		"key x; stored size 0; expected size 1125899906":     {Dtype: float, Shape: shape(1 << 48)},
		"key x; stored size 0; expected size is at least":    {Dtype: str, Shape: shape(1 << 48)},
		"Read less bytes than requested":                     {Dtype: float, Shape: shape(1 << 48), Size: huge},
		"Read less bytes than requested: 1125899":            {Dtype: str, Shape: shape(1 << 40), Size: huge},
		"Restoring data type resource not yet supported":     {Dtype: pb.DataType(core.Resource), Shape: shape(2)},
		"key x; stored size 0; expected size is at least 10": {Dtype: pb.DataType(core.Variant), Shape: shape(2)},
		"Does not have sufficient slices":                    {Dtype: float, Shape: shape(4), Slices: []*pb.TensorSliceProto{slice(0, 2)}},
		"Key \x00x\x00\x01\x01\x01\x80\x84 not found":        {Dtype: float, Shape: shape(huge), Slices: []*pb.TensorSliceProto{slice(0, 4), slice(4, huge-4)}},
		"Overlapping slices: existing slice = 0,3":           {Dtype: float, Shape: shape(4), Slices: []*pb.TensorSliceProto{slice(0, 3), slice(2, 2)}},
		"out of bounds: shape = [4], slice = 3,2":            {Dtype: float, Shape: shape(4), Slices: []*pb.TensorSliceProto{slice(3, 2)}},
		"Expected non-negative start and positive length":    {Dtype: float, Shape: shape(4), Slices: []*pb.TensorSliceProto{slice(-3, 2)}},
	} {
		entries := map[string]*pb.BundleEntryProto{"x": e}
		for _, s := range []Slice{{{0, 3}}, {{2, 2}}, {{0, 2}}} {
			entries[s.key("x")] = &pb.BundleEntryProto{Dtype: float, Shape: shape(int(s[0].Length)), Size: 4 * s[0].Length}
		}
		err := index(t, &pb.BundleHeaderProto{NumShards: 1}, entries).lookup("x")
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want %s", err, words)
		}
	}
	wrong := map[string]*pb.BundleEntryProto{
		"x":                    {Dtype: float, Shape: shape(4), Slices: []*pb.TensorSliceProto{slice(0, 2)}},
		Slice{{0, 2}}.key("x"): {Dtype: float, Shape: shape(3), Size: 12},
	}
	fails(t, index(t, &pb.BundleHeaderProto{NumShards: 1}, wrong).lookup("x"), core.DataLoss, "slice 0,2 must be a float[2], but is a float[3]")
}

// TestSliceFileDamage has slice files that promise what is not there.
func TestSliceFileDamage(t *testing.T) {
	meta := func(m ...*pb.SavedSliceMeta) *pb.SavedTensorSlices {
		return &pb.SavedTensorSlices{Meta: &pb.SavedTensorSliceMeta{Tensor: m, Versions: &pb.VersionDef{Producer: 1}}}
	}
	float, four := pb.DataType(core.Float32), core.ShapeProto(core.Shape{4})
	all := []*pb.TensorSliceProto{Whole(1).proto()}
	data := func(v ...float32) *pb.SavedTensorSlices {
		return &pb.SavedTensorSlices{Data: &pb.SavedSlice{Data: &pb.TensorProto{FloatVal: v}}}
	}
	whole := &pb.SavedSliceMeta{Name: "x", Shape: four, Type: float, Slice: all}
	for _, c := range []struct {
		meta, data *pb.SavedTensorSlices
		code       core.Code
		words      string
	}{
		{meta(whole), nil, core.DataLoss, "slice - of tensor x must be in the checkpoint file that lists it"},
		{meta(whole), data(1, 2, 3), core.DataLoss, "a slice must have the values of a float[4], got 3"},
		{meta(whole), &pb.SavedTensorSlices{Data: &pb.SavedSlice{Data: &pb.TensorProto{IntVal: []int32{1, 2, 3, 4}}}}, core.DataLoss, "a slice must have the values of a float[4], got 0"},
		{meta(whole), &pb.SavedTensorSlices{}, core.DataLoss, "a slice must have the values of a float[4], got 0"},
		{meta(), nil, core.NotFound, "x not found in checkpoint file"},
		{meta(&pb.SavedSliceMeta{Name: "x", Shape: four, Type: 77}), nil, core.DataLoss, "Invalid tensor shape: x"},
		{meta(whole, &pb.SavedSliceMeta{Name: "x", Type: float}), nil, core.Internal, "Incompatible tensor shapes detected for tensor x: existing = [4], new = []"},
	} {
		name := filepath.Join(t.TempDir(), "s")
		if err := writeTable(name, func(w *tableWriter) error {
			b, _ := proto.Marshal(c.meta)
			w.add("", b)
			if c.data != nil {
				b, _ = proto.Marshal(c.data)
				w.add(Whole(1).key("x"), b)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		r, err := OpenSlices(name)
		if err == nil {
			_, err = r.LookupSlice("x", Whole(1))
			r.Close()
		}
		fails(t, err, c.code, c.words)
	}
	_, err := OpenSlices("none*")
	fails(t, err, core.NotFound, "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for none*")
	_, err = OpenSlices("[")
	fails(t, err, core.InvalidArgument, "Failed to get matching files on [")
	_, err = openSlices([]string{"a"}, files{"a": make([]byte, 60)}.open)
	fails(t, err, core.DataLoss, "Unable to open table file a: DATA_LOSS: not an sstable (bad magic number): perhaps your file is in a different file format")
}

var errDisk = errors.New("disk")

// brokenAt is a file in which reads past some offset fail.
type brokenAt struct {
	io.ReaderAt
	limit int64
}

func (b brokenAt) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.limit {
		return 0, errDisk
	}
	return b.ReaderAt.ReadAt(p, off)
}

func TestDiskErrors(t *testing.T) {
	f := golden(t)
	for _, limit := range []int64{0, 10} {
		r, err := open("whole", func(name string) (*input, error) {
			in, err := f.open(name)
			if strings.Contains(name, "data") || limit == 0 {
				in.ReaderAt = brokenAt{in.ReaderAt, limit}
			}
			return in, err
		})
		if err == nil {
			_, err = r.Lookup("matrix")
		}
		if !errors.Is(err, errDisk) {
			t.Error(err)
		}
	}
}

// TestSliceTooLarge: what may not fit into a message is refused.
func TestSliceTooLarge(t *testing.T) {
	for d, want := range map[*core.Tensor]int{
		core.NewTensor(core.Bool, core.Shape{100}): 1100, core.NewTensor(core.Int32, core.Shape{100}): 2000, core.Scalar("abcdefghij"): 1020,
	} {
		if n := messageSize("x", Whole(d.Rank()), d); n < want || n > want+100 {
			t.Errorf("%v: at most %d bytes, want %d and a little", d, n, want)
		}
	}
	if err := checkMessage(1 << 31); err != nil {
		t.Error(err)
	}
	fails(t, checkMessage(1<<31+1), core.InvalidArgument, "Tensor slice is too large to serialize (conservative estimate: 2147483649 bytes)")
}
