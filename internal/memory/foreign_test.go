package memory

import (
	"runtime"
	"testing"
	"unsafe"
)

func TestWrapAliases(t *testing.T) {
	mem := []byte("hello")
	b := Wrap(mem, nil)
	mem[0] = 'j'
	if got := string(b.Bytes()); got != "jello" {
		t.Fatalf("wrapped memory reads %q, want the caller's change in it", got)
	}
	if b.Sole() || !b.Escaped() {
		t.Fatalf("Sole %v, Escaped %v: wrapped memory is known to its owner", b.Sole(), b.Escaped())
	}
	b.Unref()
}

func TestWrapOfNothing(t *testing.T) {
	for _, mem := range [][]byte{nil, {}} {
		if b := Wrap(mem, nil); b.Len() != 0 || len(b.Bytes()) != 0 {
			t.Fatalf("an empty wrap has %d bytes", b.Len())
		}
	}
}

func TestWrapKeepsOwnerAlive(t *testing.T) {
	collected := make(chan struct{})
	b := Wrap(make([]byte, 8), ownerWithCleanup(collected))
	runtime.GC()
	select {
	case <-collected:
		t.Fatal("the owner was collected while its buffer lives")
	default:
	}
	runtime.KeepAlive(b)
}

func ownerWithCleanup(collected chan struct{}) any {
	owner := new([128]byte)
	runtime.AddCleanup(owner, func(c chan struct{}) { close(c) }, collected)
	return owner
}

func TestAdoptFreesOnce(t *testing.T) {
	for _, tc := range []struct {
		name   string
		escape bool
		want   int
	}{{"released", false, 1}, {"escaped", true, 0}} {
		t.Run(tc.name, func(t *testing.T) {
			freed := 0
			b := Adopt([]byte("abc"), func() { freed++ })
			b.Ref()
			if tc.escape {
				b.Escape()
			}
			b.Unref()
			if freed != 0 {
				t.Fatal("freed while a reference was left")
			}
			b.Unref()
			if freed != tc.want {
				t.Fatalf("freed %d times, want %d", freed, tc.want)
			}
		})
	}
}

func TestSubSharesMemoryAndReference(t *testing.T) {
	freed := 0
	b := Adopt([]byte("0123456789"), func() { freed++ })
	s := b.Sub(3, 4)
	if got := string(s.Bytes()); got != "3456" {
		t.Fatalf("Sub(3, 4) reads %q", got)
	}
	if cap(s.Bytes()) != 4 {
		t.Fatalf("Sub(3, 4) lets appends write over %d bytes", cap(s.Bytes()))
	}
	if b.Sole() || s.Sole() {
		t.Fatal("the whole and a part of it cannot both be Sole")
	}
	b.Unref()
	if freed != 0 || !s.Sole() {
		t.Fatalf("freed %d, Sole %v: the part alone holds the memory now", freed, s.Sole())
	}
	s.Unref()
	if freed != 1 {
		t.Fatalf("freed %d times, want 1", freed)
	}
}

func TestSubSharesEscape(t *testing.T) {
	b := New(64)
	before := b.Sub(0, 8)
	before.Sub(0, 4).Escape()
	if !b.Escaped() || !before.Escaped() || !b.Sub(8, 8).Escaped() {
		t.Fatal("an escaped part makes the whole and its other parts escaped")
	}
}

func TestSubOutOfRangePanics(t *testing.T) {
	for _, r := range [][2]int{{-1, 2}, {0, 9}, {9, 0}, {8, 1}, {2, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Sub(%d, %d) of 8 bytes does not panic", r[0], r[1])
				}
			}()
			New(8).Sub(r[0], r[1])
		}()
	}
}

type fakeHandle struct{ released int }

func (h *fakeHandle) Release() { h.released++ }

func TestOpaque(t *testing.T) {
	h := new(fakeHandle)
	b := NewOpaque("FAKE", h, 24)
	if b.Len() != 24 || b.Space() != "FAKE" || b.Handle() != any(h) {
		t.Fatalf("Len %d, Space %q, Handle %v", b.Len(), b.Space(), b.Handle())
	}
	mustPanic(t, `the host cannot address the 24 bytes of this buffer: they are in space "FAKE"`, func() { b.Bytes() })
	mustPanic(t, "cannot address", func() { Slice[float32](b) })
	b.Ref().Unref()
	if h.released != 0 {
		t.Fatal("released while a reference was left")
	}
	b.Unref()
	if h.released != 1 {
		t.Fatalf("released %d times, want 1", h.released)
	}
}

func TestHostMemoryHasNoSpace(t *testing.T) {
	b := New(8)
	if r, off := b.Region(); b.Space() != "" || b.Handle() != nil || r != nil || off != 0 {
		t.Fatalf("Space %q, Handle %v, Region %v+%d, want none", b.Space(), b.Handle(), r, off)
	}
}

func TestSliceViews(t *testing.T) {
	b := New(16)
	f := Slice[float32](b)
	f[1] = 1
	if got := Slice[uint32](b); len(got) != 4 || got[1] != 0x3f800000 {
		t.Fatalf("the bits of 1.0 read %#x over %d elements", got[1], len(got))
	}
	if got := Slice[complex128](b); len(got) != 1 {
		t.Fatalf("%d complex128 in 16 bytes", len(got))
	}
	for _, empty := range []*Buffer{New(0), Wrap(nil, nil), b.Sub(4, 0)} {
		if got := Slice[int64](empty); len(got) != 0 {
			t.Fatalf("%d elements in an empty buffer", len(got))
		}
	}
}

func TestSliceRefusesMisfits(t *testing.T) {
	mustPanic(t, "10 bytes is no whole number of elements of 4 bytes", func() { Slice[int32](New(10)) })
	mustPanic(t, "no whole number", func() { Slice[struct{}](New(10)) })
	odd := Wrap(unsafe.Slice((*byte)(unsafe.Pointer(new([2]uint64))), 16)[1:9], nil)
	if odd.Aligned(8) || !odd.Aligned(1) {
		t.Fatal("an odd address is aligned to 1 and not to 8")
	}
	mustPanic(t, "aligned to 8 bytes", func() { Slice[float64](odd) })
}

// Pieces are sole by themselves, but not what Sub makes of the same buffer; they keep
// the whole, and a program's knowing one of them keeps it from being recycled.
func TestPieces(t *testing.T) {
	freed := 0
	mem := []byte("abcdefgh")
	b := Adopt(mem, func() { freed++ })
	x, y := b.Piece(0, 4), b.Piece(4, 4)
	b.Unref()
	if !x.Sole() || !y.Sole() || !x.IsPiece() || string(y.Bytes()) != "efgh" {
		t.Fatalf("pieces: Sole %v and %v, IsPiece %v, the second reads %q", x.Sole(), y.Sole(), x.IsPiece(), y.Bytes())
	}
	if s := x.Sub(0, 2); s.Sole() || x.Sole() || s.IsPiece() {
		t.Errorf("a part of a piece: Sole %v, the piece %v, IsPiece %v", s.Sole(), x.Sole(), s.IsPiece())
	} else {
		s.Unref()
	}
	x.Unref()
	if freed != 0 {
		t.Fatal("the memory is freed while a piece lives")
	}
	y.Unref()
	if freed != 1 {
		t.Fatalf("freed %d times with the last piece", freed)
	}
}

func TestPieceEscapes(t *testing.T) {
	b := New(8)
	x, y := b.Piece(0, 4), b.Piece(4, 4)
	x.Escape()
	if !b.Escaped() || !y.Escaped() || x.Sole() {
		t.Errorf("a piece has escaped: the whole %v, the other %v, Sole %v", b.Escaped(), y.Escaped(), x.Sole())
	}
}
