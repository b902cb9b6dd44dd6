package digits

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPlainFiles reads the data from a directory, unpacked.
func TestPlainFiles(t *testing.T) {
	dir := t.TempDir()
	entries, err := embedded.ReadDir("data")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".gz")
		rank := 1
		if strings.Contains(name, "images") {
			rank = 3
		}
		raw, err := embedded.ReadFile("data/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		r, err := uncompressed(raw)
		if err != nil {
			t.Fatal(err)
		}
		var plain bytes.Buffer
		if _, err := plain.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		if _, _, err := parseIDX(bytes.NewReader(plain.Bytes()), rank); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), plain.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read, _, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	own, _, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(read.Pixels, own.Pixels) || !slices.Equal(read.Labels, own.Labels) || own.N() != 4000 || own.Size != 28 {
		t.Error("plain files hold other images than packed ones")
	}
}

func FuzzParseIDX(f *testing.F) {
	f.Add([]byte{0, 0, 8, 1, 0, 0, 0, 2, 7, 9}, 1)
	f.Add([]byte{0, 0, 8, 3, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1}, 3)
	f.Fuzz(func(t *testing.T, raw []byte, rank int) {
		rank = 1 + rank&3
		data, dims, err := parseIDX(bytes.NewReader(raw), rank)
		if err != nil {
			return
		}
		n := 1
		for _, d := range dims {
			n *= d
		}
		if len(data) != n || len(raw) < 4+4*rank+n {
			t.Errorf("%d bytes of sizes %v from %d bytes", len(data), dims, len(raw))
		}
	})
}
