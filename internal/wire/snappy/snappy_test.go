package snappy

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestDecode has blocks as other writers make them.
func TestDecode(t *testing.T) {
	long := strings.Repeat("0123456789", 7)
	for in, want := range map[string]string{
		"\x00":                                  "",
		"\x03\x08abc":                           "abc",
		"\x46\xf0\x45" + long:                   long,
		"\x46\xf4\x45\x00" + long:               long,
		"\x08\x04ab\x09\x02":                    "abababab",
		"\x0a\x04ab\x1e\x02\x00":                "ababababab",
		"\x0a\x04ab\x1f\x02\x00\x00\x00":        "ababababab",
		"\x02\x08abc":                           "",
		"\x05\x08abc":                           "",
		"\x03\x10abc":                           "",
		"\x05\x08abc\x01\x04":                   "",
		"\x05\x08abc\x02":                       "",
		"\x05\x00a\x01\x00":                     "",
		"\xff\xff\xff\xff\x0f\x08abc":           "",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff ": "",
		"\x46\xf4\x45":                          "",
	} {
		got, err := Decode([]byte(in))
		if string(got) != want || (err != nil) != (want == "" && in != "\x00") {
			t.Errorf("%x is %q, want %q (%v)", in, got, want, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\x0a\x04ab\x1e\x02\x00"))
	f.Add([]byte("\x0a\x04ab\x1f\x02\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if out, err := Decode(b); err == nil && len(out) > len(b)*maxExpansion {
			t.Fatalf("%d bytes unfold to %d", len(b), len(out))
		}
	})
}

// texts are of all sorts: without repetitions, with near and far ones, of more
// than one block.
func texts() [][]byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 200_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	list := [][]byte{nil, []byte("a"), []byte("abcd"), []byte("aaaaaaaaaaaa"), noise, bytes.Repeat([]byte("far"), 70_000)}
	for _, n := range []int{59, 60, 61, 62, 255, 256, 257, 65_535, 65_536, 65_537} {
		list = append(list, noise[:n], bytes.Repeat([]byte{7}, n), append(bytes.Clone(noise[:n]), noise[:n]...))
	}
	for range 200 { // words of a few letters
		b := make([]byte, rnd.IntN(3000))
		for i := range b {
			b[i] = "ab "[rnd.IntN(3)]
		}
		list = append(list, b)
	}
	return list
}

func TestRoundTrip(t *testing.T) {
	for _, want := range texts() {
		packed := Encode(nil, want)
		if got, err := Decode(packed); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes come back as %d (%v)", len(want), len(got), err)
		}
	}
	if n := len(Encode(nil, bytes.Repeat([]byte("again "), 10_000))); n > 4000 {
		t.Errorf("60,000 bytes of repetitions are packed into %d", n)
	}
}

// TestStream writes texts in pieces and reads them in others.
func TestStream(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, want := range texts() {
		var file bytes.Buffer
		w := NewWriter(&file)
		for rest := want; len(rest) > 0; {
			n := min(len(rest), 1+rnd.IntN(100_000))
			if k, err := w.Write(rest[:n]); k != n || err != nil {
				t.Fatal(k, err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(NewReader(&file))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes come back as %d (%v)", len(want), len(got), err)
		}
	}
}

// TestBadStreams: what is cut off or has lengths that cannot be is refused.
func TestBadStreams(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file)
	_, _ = w.Write([]byte("some text, some text"))
	_ = w.Close()
	for cut := 1; cut < file.Len(); cut++ {
		if _, err := io.ReadAll(NewReader(bytes.NewReader(file.Bytes()[:cut]))); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	for _, b := range []string{"\xff\xff\xff\xff", "\x00\x00\x00\x02\xff\xff"} {
		if _, err := io.ReadAll(NewReader(strings.NewReader(b))); err == nil {
			t.Errorf("%x is read", b)
		}
	}
}

// FuzzRoundTrip packs and unpacks any bytes.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("abcabcabcabc"))
	f.Add(bytes.Repeat([]byte{0}, 300))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := Decode(Encode(nil, b)); err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%x comes back as %x (%v)", b, got, err)
		}
		_, _ = io.ReadAll(NewReader(bytes.NewReader(b)))
	})
}
