package bundle

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf/core"
)

// TestVariants reads lists of tensors that TensorFlow wrote, and writes them
// again: the same file comes of it.
func TestVariants(t *testing.T) {
	r, err := Open("testdata/variants")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	v, err := r.Lookup("v")
	if err != nil {
		t.Fatal(err)
	}
	p, err := core.EncodeTensor(v)
	if err != nil || len(p.GetVariantVal()) != 2 || len(p.GetVariantVal()[0].GetTensors()) != 2 || p.GetVariantVal()[0].GetTypeName() != "tensorflow::TensorList" {
		t.Fatalf("read %v, %v", p, err)
	}
	prefix := filepath.Join(t.TempDir(), "again")
	w, err := Create(prefix)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add("v", v); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	sameFile(t, prefix+".data-00000-of-00001", "variants.data-00000-of-00001")
}

// TestVariantDamage changes and cuts every byte of what is stored.
func TestVariantDamage(t *testing.T) {
	v := core.NewTensor(core.Variant, core.Shape{2})
	for i := range v.Variants() {
		v.Variants()[i].Value = core.Scalar(int64(i))
	}
	whole, crc, err := variantBytes(v)
	if err != nil {
		t.Fatal(err)
	}
	again, sum, err := parseVariants(whole, core.Shape{2})
	if err != nil || sum != crc || core.Data[int64](again.Variants()[1].Value.(*core.Tensor))[0] != 1 {
		t.Fatalf("read %v, %v", again, err)
	}
	for i := range whole {
		broken := slices.Clone(whole)
		broken[i] ^= 1
		for _, b := range [][]byte{broken, whole[:i]} {
			if _, sum, err := parseVariants(b, core.Shape{2}); err == nil && sum == crc {
				t.Errorf("byte %d does not count", i)
			}
		}
	}
}

// TestVariantSlices stores variants in slices and reads them whole, and whole ones in
// slices.
func TestVariantSlices(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "sliced")
	w, err := Create(prefix)
	if err != nil {
		t.Fatal(err)
	}
	whole := core.NewTensor(core.Variant, core.Shape{2})
	for i := range whole.Variants() {
		whole.Variants()[i].Value = core.Scalar(int64(i))
		part := core.NewTensor(core.Variant, core.Shape{1})
		part.Variants()[0].Value = core.Scalar(int64(i))
		if err := w.AddSlice("parts", core.Shape{2}, Slice{{int64(i), 1}}, part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Add("whole", whole); err != nil {
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
	for _, key := range []string{"parts", "whole"} {
		all, err := r.Lookup(key)
		if err != nil || core.Data[int64](all.Variants()[1].Value.(*core.Tensor))[0] != 1 {
			t.Errorf("%s: read %v, %v", key, all, err)
		}
		last, err := r.LookupSlice(key, Slice{{1, 1}})
		if err != nil || core.Data[int64](last.Variants()[0].Value.(*core.Tensor))[0] != 1 {
			t.Errorf("%s: read %v, %v", key, last, err)
		}
	}
}
