package npy_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/dense/npy"
)

// TestStrings reads strings in all forms that numpy has for them.
func TestStrings(t *testing.T) {
	for _, c := range []struct {
		header, data string
		want         []string
	}{
		{"'|S3', 'fortran_order': False, 'shape': (2,)", "ab\x00\x00\x01\x00", []string{"ab", "\x00\x01"}},
		{"'|S1', 'fortran_order': True, 'shape': (2, 2)", "abcd", []string{"a", "c", "b", "d"}},
		{"'|S0', 'fortran_order': False, 'shape': (2,)", "", []string{"", ""}},
		{"'<U2', 'fortran_order': False, 'shape': (2,)", "\xe9\x00\x00\x00\x00\xf6\x01\x00a\x00\x00\x00\x00\x00\x00\x00", []string{"é\U0001f600", "a"}},
		{"'>U2', 'fortran_order': False, 'shape': ()", "\x00\x00\x00\x00\x00\x00\x00b", []string{"\x00b"}},
	} {
		got, err := npy.Read(strings.NewReader(file("{'descr': "+c.header+", }", c.data)))
		if err != nil {
			t.Errorf("%s: %v", c.header, err)
			continue
		}
		if v, err := tf.Values[string](got); err != nil || !slices.Equal(v, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.header, v, err, c.want)
		}
	}
}

// TestWriteStrings writes strings, and numbers of two bytes, and reads them again.
func TestWriteStrings(t *testing.T) {
	words, err := tf.FromSlice([]string{"", "longest", "b"}, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	short, err := tf.ScalarOf(tf.BFloat16, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	none, err := tf.NewTensor(tf.String, tf.Shape{0, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []*tf.Tensor{words, short, none} {
		var b bytes.Buffer
		if err := npy.Write(&b, x); err != nil {
			t.Fatal(err)
		}
		if got, err := npy.Read(&b); err != nil || got.String() != x.String() {
			t.Errorf("%v became %v, %v", x, got, err)
		}
	}
}
