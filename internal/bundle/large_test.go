package bundle

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestLargeTensors: tensors of more bytes than are put on the disk, or read, at once come
// back, into the memory that the reader was given.
func TestLargeTensors(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "m")
	w, err := Create(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	want := map[string][]int64{}
	for key, n := range map[string]int{"less": writeback/8 - 3, "more": writeback/8 + 12345, "some": 7, "none": 0} {
		x := core.NewTensor(core.Int64, core.Shape{n})
		for i := range core.Data[int64](x) {
			core.Data[int64](x)[i] = int64(i * len(key) * n)
		}
		if err := w.Add(key, x); err != nil {
			t.Fatal(err)
		}
		want[key] = core.Data[int64](x)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for key, values := range want {
		var given *core.Tensor
		got, err := r.LookupIn(key, func(d core.DType, s core.Shape) (*core.Tensor, error) {
			given = core.NewTensor(d, s)
			return given, nil
		})
		if err != nil || got != given || !slices.Equal(core.Data[int64](got), values) {
			t.Errorf("%s: %v, %v", key, got.Shape(), err)
		}
	}
	fail := core.Errorf(core.ResourceExhausted, "no room")
	if _, err := r.LookupIn("some", func(core.DType, core.Shape) (*core.Tensor, error) { return nil, fail }); err != fail {
		t.Error(err)
	}
}
