package npy_test

import (
	"archive/zip"
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/dense/npy"
)

// texts are tensors as they print.
func texts(tensors map[string]*tf.Tensor) map[string]string {
	out := map[string]string{}
	for name, x := range tensors {
		out[name] = x.String()
	}
	return out
}

// TestNPZNoticesDamage flips every bit of an archive: what is read then is what
// was written, or nothing.
func TestNPZNoticesDamage(t *testing.T) {
	for _, file := range []string{"all.npz", "packed.npz"} {
		whole, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for bit := range 8 * len(whole) {
			b := bytes.Clone(whole)
			b[bit/8] ^= 1 << (bit % 8)
			got, err := npy.ReadArchive(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				continue
			}
			for name, text := range texts(got) {
				if want := written[name]; text != want {
					t.Errorf("%s, bit %d of byte %d: %q is %s, want %q", file, bit%8, bit/8, name, text, want)
				}
			}
			if len(got) != len(written) {
				t.Errorf("%s, bit %d of byte %d: %d tensors are read, want %d", file, bit%8, bit/8, len(got), len(written))
			}
		}
	}
}

// archive makes a zip archive of entries in order.
func archive(t *testing.T, entries ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, e := range entries {
		w, err := z.Create(e[0])
		if err == nil {
			_, err = w.Write([]byte(e[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestNPZRefuses: an entry is one array, to its last byte, and has a name of its
// own.
func TestNPZRefuses(t *testing.T) {
	two := file("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "ab")
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"more":  {archive(t, [2]string{"a.npy", two + "c"}), "a: an entry of an npz file must end with its array's data"},
		"less":  {archive(t, [2]string{"a.npy", two[:len(two)-1]}), "must have 2 bytes of data: there are 1"},
		"twice": {archive(t, [2]string{"a.npy", two}, [2]string{"a.npy", two}), "the entries of an npz file must have different names, a comes twice"},
	} {
		_, err := npy.ReadArchive(bytes.NewReader(c.b), int64(len(c.b)))
		if tf.CodeOf(err) != tf.DataLoss || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
