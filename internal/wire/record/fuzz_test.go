package record

import (
	"bytes"
	"io"
	"testing"
)

// FuzzReader feeds any bytes. Whatever is read from them, when written again,
// is what they began with: the reader makes nothing up.
func FuzzReader(f *testing.F) {
	file := threeFile(f)
	f.Add(file)
	f.Add(file[:20])
	f.Add(header(1 << 40))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r := NewReader(bytes.NewReader(stream))
		var again bytes.Buffer
		w := NewWriter(&again)
		var err error
		for err == nil {
			var data []byte
			if data, err = r.Next(); err == nil {
				if err := w.Write(data); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !bytes.Equal(again.Bytes(), stream[:r.Offset()]) {
			t.Errorf("%d bytes were read as other records than they hold", r.Offset())
		}
		if err == io.EOF && int(r.Offset()) != len(stream) {
			t.Errorf("the end came at %d of %d bytes", r.Offset(), len(stream))
		}
	})
}

// FuzzRoundTrip cuts any bytes into two records and reads them back.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("hello"), uint(2))
	f.Add([]byte(nil), uint(0))
	f.Fuzz(func(t *testing.T, data []byte, cut uint) {
		cut %= uint(len(data) + 1)
		want := [][]byte{data[:cut], data[cut:]}
		got, err := readAll(bytes.NewReader(write(t, want...)))
		if err != io.EOF || !equal(got, want) {
			t.Errorf("read %q and %v, want %q", got, err, want)
		}
	})
}
