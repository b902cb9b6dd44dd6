package memory

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// endless gives one byte again and again.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func TestReadAll(t *testing.T) {
	want := bytes.Repeat([]byte("0123456789"), 30_000)
	for _, size := range []int{0, 7, len(want), 2 * len(want)} {
		if got, err := ReadAll(bytes.NewReader(want), size); err != nil || !bytes.Equal(got, want) {
			t.Errorf("of a size thought to be %d: %d bytes, %v", size, len(got), err)
		}
	}
	bad := errors.New("bad")
	if _, err := ReadAll(io.MultiReader(bytes.NewReader(want), iotest.ErrReader(bad)), 0); !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
}

func TestReadLine(t *testing.T) {
	long := strings.Repeat("x", 100) + "\n"
	r := bufio.NewReaderSize(strings.NewReader("a\n"+long+"\nlast"), 16)
	for _, want := range []string{"a\n", long, "\n"} {
		if got, err := ReadLine(r); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if got, err := ReadLine(r); !errors.Is(err, io.EOF) || string(got) != "last" {
		t.Errorf("got %q, %v at the end", got, err)
	}
}

func TestWhatHasNoEndIsRefused(t *testing.T) {
	full(t, 64<<20)
	var x *Exhausted
	if _, err := ReadAll(endless(0), 0); !errors.As(err, &x) {
		t.Errorf("ReadAll: %v", err)
	}
	if _, err := ReadLine(bufio.NewReader(endless(0))); !errors.As(err, &x) {
		t.Errorf("ReadLine: %v", err)
	}
	var kept [][]byte
	r, err := Meter(endless(0)), error(nil)
	for err == nil {
		b := make([]byte, 50_000)
		_, err = r.Read(b)
		kept = append(kept, b)
	}
	if !errors.As(err, &x) || len(kept) > 2000 {
		t.Errorf("%d pieces were read, then: %v", len(kept), err)
	}
}
