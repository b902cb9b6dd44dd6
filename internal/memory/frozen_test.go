package memory

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// TestFrozenTextIsShared: only frozen bytes, as a whole, share memory with their string.
func TestFrozenTextIsShared(t *testing.T) {
	shares := func(b []byte) bool {
		s := Text(b)
		if s != string(b) {
			t.Fatal("a string differs from its bytes")
		}
		return len(b) > 0 && unsafe.StringData(s) == unsafe.SliceData(b)
	}
	b, small := bytes.Repeat([]byte("gorge"), largeText/5+1), []byte("gorge")
	if shares(b) {
		t.Error("a string shares memory with bytes that may change")
	}
	Freeze(b)
	Freeze(b)
	Freeze(small)
	if !shares(b) {
		t.Error("a string does not share memory with frozen bytes")
	}
	for _, c := range [][]byte{nil, small, b[:len(b)-1], b[1:], bytes.Clone(b)} {
		if shares(c) {
			t.Errorf("%d bytes share memory with a string, but were not frozen", len(c))
		}
	}
	if got := BytesOf(strings.Clone("gorge")); string(got) != "gorge" {
		t.Errorf("got %q", got)
	}
	runtime.KeepAlive(b)
}

// TestFrozenIsForgotten: what is collected leaves nothing.
func TestFrozenIsForgotten(t *testing.T) {
	count := func() int {
		frozen.RLock()
		defer frozen.RUnlock()
		return len(frozen.at)
	}
	had := count()
	for range 5 {
		Freeze(make([]byte, largeText))
	}
	for end := time.Now().Add(10 * time.Second); count() > had; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d entries stay", count()-had)
		}
		runtime.GC()
	}
}

// TestElementsAnywhere: memory of WrapAnywhere, and parts of it, are read at any address;
// other memory must be aligned.
func TestElementsAnywhere(t *testing.T) {
	if !AnyAddress {
		t.Skip("this machine's loops need aligned elements")
	}
	b := make([]byte, 8*10+1)
	for i := range b {
		b[i] = byte(i)
	}
	for off := range 8 {
		w := WrapAnywhere(b[off : off+64])
		for _, x := range []*Buffer{w, w.Sub(8, 56), w.Sub(8, 56).Piece(0, 56)} {
			got := Slice[uint64](x)
			if first := *(*[8]byte)(x.Bytes()); len(got) != len(x.Bytes())/8 || *(*[8]byte)(unsafe.Pointer(&got[0])) != first {
				t.Errorf("at %d: %x", off, got)
			}
			if x.Sole() {
				t.Error("read-only memory has a sole owner")
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("wrapped memory was read that is not aligned")
		}
	}()
	Slice[uint64](Wrap(b[1:9], nil))
}
