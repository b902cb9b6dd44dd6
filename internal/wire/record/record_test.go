package record

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// three are the records of testdata/three.tfrecord, which TensorFlow wrote.
var three = [][]byte{[]byte("hello"), {}, bytes.Repeat([]byte("x"), 300)}

func threeFile(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/three.tfrecord")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// readAll returns every record and the error that ended them.
func readAll(r io.Reader) ([][]byte, error) { return readFrom(NewReader(r)) }

func readFrom(reader *Reader) ([][]byte, error) {
	var records [][]byte
	for {
		data, err := reader.Next()
		if err != nil {
			return records, err
		}
		records = append(records, slices.Clone(data))
	}
}

func equal(a, b [][]byte) bool { return slices.EqualFunc(a, b, bytes.Equal) }

func write(t testing.TB, records ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out)
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func TestReadsWhatTensorFlowWrote(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"whole":           bytes.NewReader(threeFile(t)),
		"byte by byte":    iotest.OneByteReader(bytes.NewReader(threeFile(t))),
		"data with error": iotest.DataErrReader(bytes.NewReader(threeFile(t))),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := readAll(r)
			if err != io.EOF || !equal(got, three) {
				t.Errorf("read %q and %v, want %q and EOF", got, err, three)
			}
		})
	}
}

func TestWritesWhatTensorFlowWrites(t *testing.T) {
	if got := write(t, three...); !bytes.Equal(got, threeFile(t)) {
		t.Errorf("wrote % x, want % x", got, threeFile(t))
	}
}

func TestTensorFlowReadsOurs(t *testing.T) {
	python := os.Getenv("GORGE_TF_PYTHON")
	if python == "" {
		t.Skip("GORGE_TF_PYTHON names no Python with TensorFlow 2.21")
	}
	records := append(slices.Clone(three), bytes.Repeat([]byte{0, 0xff}, 1<<16))
	path := filepath.Join(t.TempDir(), "ours.tfrecord")
	if err := os.WriteFile(path, write(t, records...), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), python, "testdata/records.py", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got [][]byte
	for _, line := range strings.Fields(string(out)) {
		data, err := hex.DecodeString(strings.TrimPrefix(line, "-"))
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, data)
	}
	if !equal(got, records) {
		t.Errorf("TensorFlow read %d records, want the %d that were written", len(got), len(records))
	}
}

// header makes a valid header for any length.
func header(length uint64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, length)
	return binary.LittleEndian.AppendUint32(b, MaskedCRC(b))
}

const (
	atEnd     = "EOF"
	truncated = "truncated record at 0' failed with Read less bytes than requested"
	atStart   = "corrupted record at 0 (Is this even a TFRecord file?)"
)

// A header cut short is an error, unless the stream may still be written.
func TestHeaderCutShort(t *testing.T) {
	file := threeFile(t)
	for n := range file {
		whole := map[int]int{0: 0, 21: 1, 37: 2}
		records, complete := whole[n]
		got, err := readAll(bytes.NewReader(file[:n]))
		var corrupt *CorruptError
		if complete && (err != io.EOF || len(got) != records) || !complete && !errors.As(err, &corrupt) {
			t.Errorf("cut at %d: %d records and %v", n, len(got), err)
		}
		if _, err := NewReader(bytes.NewReader(file[:n])).Skip(); n > 0 && n < 21 && !errors.As(err, &corrupt) {
			t.Errorf("cut at %d: skipped, %v", n, err)
		}
	}
}

// A compressed stream without its end is cut short, wherever that is.
func TestCompressedStreamCutShort(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(threeFile(t)); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	for n := 10; n < packed.Len(); n++ { // of which the header of gzip takes ten
		r, err := gzip.NewReader(bytes.NewReader(packed.Bytes()[:n]))
		if err != nil {
			t.Fatal(err)
		}
		var corrupt *CorruptError
		if got, err := readAll(r); !errors.As(err, &corrupt) {
			t.Errorf("cut at %d of %d: %d records and %v", n, packed.Len(), len(got), err)
		}
	}
}

// The errors are those that TensorFlow 2.21's reader gave for the same bytes,
// except for the first two promises, which it believes and dies of.
func TestBrokenStreams(t *testing.T) {
	file := threeFile(t)
	cut := func(n int) []byte { return file[:n] }
	flip := func(i int) []byte {
		b := slices.Clone(file)
		b[i] ^= 1
		return b
	}
	for _, tc := range []struct {
		name    string
		stream  []byte
		records int
		err     string
	}{
		{"empty", nil, 0, atEnd},
		{"cut in the length", cut(5), 0, atEnd},
		{"cut in the header", cut(11), 0, atEnd},
		{"cut before the data", cut(12), 0, truncated},
		{"cut in the data", cut(13), 0, truncated},
		{"cut before the checksum", cut(17), 0, truncated},
		{"cut in the checksum", cut(20), 0, truncated},
		{"cut after a record", cut(21), 1, atEnd},
		{"cut in the second header", cut(32), 1, atEnd},
		{"cut in the second checksum", cut(36), 1, "truncated record at 21' failed with Read less bytes than requested"},
		{"length wrong", flip(0), 0, atStart},
		{"length checksum wrong", flip(9), 0, atStart},
		{"data wrong", flip(14), 0, "corrupted record at 12"},
		{"data checksum wrong", flip(18), 0, "corrupted record at 12"},
		{"second length wrong", flip(22), 1, "corrupted record at 21"},
		{"second checksum wrong", flip(33), 1, "corrupted record at 33"},
		{"a terabyte promised", append(header(1<<40), "abc"...), 0, truncated},
		{"nearly everything promised", append(header(1<<62), "abc"...), 0, truncated},
		{"more than an int promised", header(maxLength + 1), 0, "record size too large"},
		{"everything promised", header(1<<64 - 1), 0, "record size too large"},
		{"another format", []byte("PK\x03\x04 not a TFRecord"), 0, atStart},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := readFrom(NewReader(bytes.NewReader(tc.stream)).Unfinished())
			if err == nil || err.Error() != tc.err {
				t.Errorf("error = %v, want %s", err, tc.err)
			}
			if !equal(got, three[:tc.records]) {
				t.Errorf("read %q before the error, want %d records", got, tc.records)
			}
			var corrupt *CorruptError
			if errors.As(err, &corrupt) != (tc.err != atEnd) {
				t.Errorf("%T: corruption and end must be told apart", err)
			}
		})
	}
}

func TestReaderStaysDone(t *testing.T) {
	r := NewReader(io.MultiReader(strings.NewReader(strings.Repeat("?", headerSize)), bytes.NewReader(threeFile(t))))
	_, first := r.Next()
	data, second := r.Next()
	if first == nil || second != first || data != nil {
		t.Errorf("after %v came %q and %v, want the same error", first, data, second)
	}
}

func TestOffset(t *testing.T) {
	r := NewReader(bytes.NewReader(threeFile(t)))
	for _, want := range []int64{0, 21, 37, 353} {
		if got := r.Offset(); got != want {
			t.Errorf("offset %d, want %d", got, want)
		}
		_, _ = r.Next()
	}
	if got := r.Offset(); got != 353 {
		t.Errorf("offset after the end = %d, want 353", got)
	}
}

var errDisk = errors.New("disk on fire")

func TestReaderPassesErrorsOn(t *testing.T) {
	for _, n := range []int{0, 3, 12, 15, 25} {
		r := io.MultiReader(bytes.NewReader(threeFile(t)[:n]), iotest.ErrReader(errDisk))
		if _, err := readAll(r); !errors.Is(err, errDisk) {
			t.Errorf("after %d bytes: error = %v, want %v", n, err, errDisk)
		}
	}
}

// failAfter accepts some writes and fails all later ones.
type failAfter struct{ writes int }

func (f *failAfter) Write(p []byte) (int, error) {
	if f.writes--; f.writes < 0 {
		return 0, errDisk
	}
	return len(p), nil
}

func TestWriterStaysBroken(t *testing.T) {
	for ok := range 3 {
		sink := &failAfter{writes: ok}
		w := NewWriter(sink)
		if err := w.Write([]byte("lost")); !errors.Is(err, errDisk) {
			t.Errorf("error = %v, want %v", err, errDisk)
		}
		sink.writes = 100
		if err := w.Write(nil); !errors.Is(err, errDisk) {
			t.Errorf("a torn stream was continued: %v", err)
		}
		if sink.writes != 100 {
			t.Error("bytes were written after a failure")
		}
	}
}

// A record larger than the step in which memory is taken.
func TestLargeRecord(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 3*growth/16+1)
	got, err := readAll(bytes.NewReader(write(t, large, three[0], large)))
	if err != io.EOF || !equal(got, [][]byte{large, three[0], large}) {
		t.Errorf("a large record did not come back: %d records, %v", len(got), err)
	}
}

func TestPromisesTakeNoMemory(t *testing.T) {
	stream := append(header(1<<40), "abc"...)
	r := NewReader(bytes.NewReader(stream))
	if _, err := r.Next(); err == nil {
		t.Fatal("a cut record was accepted")
	}
	if cap(r.buf) > 2*growth {
		t.Errorf("%d bytes were taken for a record that never came", cap(r.buf))
	}
}
