package inbound

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
)

// TestReadAll: a body comes whole, however it is cut and whatever size it is said to
// have, and what counts meanwhile is what has come, or some more.
func TestReadAll(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, firstPiece - 1, firstPiece, firstPiece + 1, 3*mostPiece + 7} {
		want := make([]byte, n)
		for i := range want {
			want[i] = byte(r.Uint32())
		}
		for _, size := range []int64{-1, 0, 1, int64(n), int64(n) + 5} {
			for name, cut := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r }, "halves": iotest.HalfReader, "end with data": iotest.DataErrReader,
			} {
				b := OpenBody(httptest.NewRecorder(), cut(bytes.NewReader(want)))
				got, err := b.ReadAll(size)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d bytes, said to be %d, %s: %d bytes, equal %v, %v", n, size, name, len(got), bytes.Equal(got, want), err)
				}
				if held := b.holder.held; held < int64(n) || held > int64(2*n+2*firstPiece) {
					t.Errorf("%d bytes, said to be %d, %s: counted as %d", n, size, name, held)
				}
				if err := b.Close(); err != nil || Held() != 0 {
					t.Errorf("after its end %d bytes are counted, %v", Held(), err)
				}
			}
		}
	}
}

// TestCutBody: an error of the body is what its reader gets, also that of a body that
// ends before its end, which is none of a body of unknown size.
func TestCutBody(t *testing.T) {
	for _, cut := range []error{errors.New("cut"), io.ErrUnexpectedEOF} {
		for _, size := range []int64{-1, 3, 10} {
			b := OpenBody(httptest.NewRecorder(), io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(cut)))
			if _, err := b.ReadAll(size); !errors.Is(err, cut) {
				t.Errorf("said to have %d bytes: got %v, want %v", size, err, cut)
			}
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestBodyEnds: a body that would need more than there is ends with the reason, though
// its connection has no deadline; so does one that is read bit by bit.
func TestBodyEnds(t *testing.T) {
	mayUse(t, 8<<20)
	b := OpenBody(httptest.NewRecorder(), endless{})
	defer b.Close()
	if _, err := b.ReadAll(-1); !errors.Is(err, ErrCrowded) {
		t.Errorf("as a whole: %v", err)
	}
	c := OpenBody(httptest.NewRecorder(), endless{})
	defer c.Close()
	if n, err := io.Copy(io.Discard, c); !errors.Is(err, ErrCrowded) || n > 8<<20 {
		t.Errorf("bit by bit: %d bytes, %v", n, err)
	}
	var read int64
	h := Bodies(1000, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { read, _ = io.Copy(io.Discard, r.Body) }))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", endless{}))
	if read != 1000 {
		t.Errorf("%d bytes of a body that may have 1000", read)
	}
}

// endless is a body without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
