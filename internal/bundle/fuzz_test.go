package bundle

import (
	"encoding/binary"
	"testing"
)

// reseal corrects the checksums of a table's blocks, as far as they are found,
// so that what is fuzzed is more than the checks of them.
func reseal(b []byte) []byte {
	if len(b) < footerSize {
		return b
	}
	footer := b[len(b)-footerSize:]
	binary.LittleEndian.PutUint64(footer[footerSize-8:], tableMagic)
	seal := func(s span) []byte {
		if s.size > uint64(len(b)) || s.offset > uint64(len(b)) || s.offset+s.size+trailerSize > uint64(len(b)) {
			return nil
		}
		end := s.offset + s.size + 1
		copy(b[end:], sealed(b[s.offset:end:end])[s.size+1:])
		return b[s.offset : end-1]
	}
	_, rest, err := parseSpan(footer)
	if err != nil {
		return b
	}
	if s, _, err := parseSpan(rest); err == nil {
		index, err := parseBlock(seal(s))
		for c := index.first(); err == nil && c.next(); {
			if s, _, err := parseSpan(c.value); err == nil {
				seal(s)
			}
		}
	}
	return b
}

func FuzzBundle(f *testing.F) {
	g := golden(f)
	f.Add(g["whole.index"], g["whole.data-00000-of-00001"])
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, index, data []byte) {
		r, err := open("p", files{"p.index": reseal(index), "p.data-00000-of-00001": data}.open)
		if err != nil {
			return
		}
		defer r.Close()
		keys, _ := r.Keys()
		for _, k := range keys {
			x, err := r.Lookup(k)
			if err == nil && x.Len()*max(x.DType().Size(), 1) > 64*(len(index)+len(data)) {
				t.Fatalf("%d bytes unfold to %v%v", len(index)+len(data), x.DType(), x.Shape())
			}
			if e, err := r.Entry(k); err == nil && len(e.Shape) > 0 {
				s := Whole(len(e.Shape))
				s[0] = Extent{0, 1}
				_, _ = r.LookupSlice(k, s)
			}
		}
	})
}

func FuzzSliceFile(f *testing.F) {
	f.Add(golden(f)["slices"])
	f.Fuzz(func(_ *testing.T, b []byte) {
		r, err := openSlices([]string{"s"}, files{"s": reseal(b)}.open)
		if err != nil {
			return
		}
		for name := range r.tensors {
			_, _ = r.LookupSlice(name, Whole(len(r.Entry(name).Shape)))
		}
	})
}

func FuzzParseSlice(f *testing.F) {
	f.Add("4 5 0,2:-")
	f.Fuzz(func(t *testing.T, spec string) {
		full, s, shape, err := ParseSlice(spec)
		if err != nil {
			return
		}
		if again, err := s.Shape(full); err != nil || !again.Equal(shape) || s.overlap(Whole(len(full)), full) == nil && shape.NumElements() != 0 {
			t.Fatalf("%q: %v of %v is %v, then %v (%v)", spec, s, full, shape, again, err)
		}
	})
}
