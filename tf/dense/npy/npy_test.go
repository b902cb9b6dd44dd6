package npy_test

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/dense/npy"
)

// written is what testdata/golden.py writes.
var written = map[string]string{
	"float32": "float32[2,3]{-1.5, -0.5, 0.5, 1.5, 2.5, 3.5}",
	"big":     "int32[2,3]{0, 70000, 140000, 210000, 280000, 350000}",
	"columns": "float64[2,3]{0, 1, 2, 3, 4, 5}",
	"half":    "float16[2,3]{0, 1, 2, 3, 4, 5}",
	"bool":    "bool[2,3]{true, false, true, false, true, false}",
	"complex": "complex64[2,3]{(0+1i), (1+1i), (2+1i), (3+1i), (4+1i), (5+1i)}",
	"scalar":  "int64[]{-7}",
	"empty":   "uint8[0,3]{}",
	"vector":  "uint16[2]{1, 2}",
}

func readNPZ(t *testing.T, b []byte) map[string]*tf.Tensor {
	t.Helper()
	got, err := npy.ReadArchive(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestNPZ reads what numpy has written, writes it, and reads it again.
func TestNPZ(t *testing.T) {
	for _, file := range []string{"all.npz", "packed.npz"} {
		b, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		got := readNPZ(t, b)
		for _, compress := range []bool{false, true} {
			if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(written))) {
				t.Fatalf("%s has %v", file, slices.Sorted(maps.Keys(got)))
			}
			for name, want := range written {
				if s := got[name].String(); s != want {
					t.Errorf("%s: %s is %s, want %s", file, name, s, want)
				}
			}
			var again bytes.Buffer
			if err := npy.WriteArchive(&again, got, compress); err != nil {
				t.Fatal(err)
			}
			got = readNPZ(t, again.Bytes())
		}
	}
}

// TestNPYStream reads one file after the other, one of each version.
func TestNPYStream(t *testing.T) {
	b, err := os.ReadFile("testdata/versions.npy")
	if err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(b)
	for range 3 {
		if got, err := npy.Read(r); err != nil || got.String() != written["vector"] {
			t.Errorf("got %v, %v", got, err)
		}
	}
	if r.Len() != 0 {
		t.Errorf("%d bytes are left", r.Len())
	}
}

// TestNPYBytes compares a file with that of numpy, byte by byte.
func TestNPYBytes(t *testing.T) {
	b, err := os.ReadFile("testdata/versions.npy")
	if err != nil {
		t.Fatal(err)
	}
	x, err := tf.FromSlice([]uint16{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := npy.Write(&got, x); err != nil || !bytes.HasPrefix(b, got.Bytes()) {
		t.Errorf("got %q (%v), want %q", got.Bytes(), err, b[:got.Len()])
	}
}

func file(header string, data string) string {
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header + data
}

func TestNPYRefuses(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"empty":        {"", "must begin with"},
		"other":        {"PK\x03\x04aaaaaaaaaaa", "must begin with"},
		"version":      {"\x93NUMPY\x09\x00aaaaaaa", "must be 1, 2 or 3, got 9"},
		"short length": {"\x93NUMPY\x01\x00a", "ends in its header"},
		"long header":  {"\x93NUMPY\x02\x00\xff\xff\xff\xff", "must not be longer than"},
		"short header": {"\x93NUMPY\x01\x00\xff\x00abc", "must have 255 bytes"},
		"no dict":      {file("{}", ""), "must give descr, fortran_order and shape"},
		"objects":      {file("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", ""), "must not hold Python objects"},
		"dates":        {file("{'descr': '<M8', 'fortran_order': False, 'shape': (2,), }", ""), "must be that of numbers, booleans or strings"},
		"days":         {file("{'descr': '<M8[D]', 'fortran_order': False, 'shape': (2,), }", ""), `must be that of numbers, booleans or strings, got "M8[D]"`},
		"records":      {file("{'descr': [('a', '<f4'), ('b', '<i4')], 'fortran_order': False, 'shape': (2,), }", ""), "must not hold records of several fields"},
		"runes":        {file("{'descr': '<U3', 'fortran_order': False, 'shape': (2,), }", ""), "must have 24 bytes of data"},
		"no runes":     {file("{'descr': '<U1', 'fortran_order': False, 'shape': (), }", "\xff\xff\xff\xff"), "must be Unicode"},
		"no width":     {file("{'descr': '|S', 'fortran_order': False, 'shape': (2,), }", ""), "must be that of numbers, booleans or strings"},
		"empty many":   {file("{'descr': '|S0', 'fortran_order': False, 'shape': (90000000000,), }", ""), "must not hold more than"},
		"negative":     {file("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }", ""), "must be a tuple of sizes"},
		"huge":         {file("{'descr': '<f4', 'fortran_order': False, 'shape': (9000000000, 9000000000, 90000000), }", ""), ""},
		"short data":   {file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", "1234567"), "must have 8 bytes of data: there are 7"},
		"large":        {file("{'descr': '<f4', 'fortran_order': True, 'shape': (1000000000,), }", "1234567"), "there are 7"},
	} {
		if got, err := npy.Read(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, %v, want %q", name, got, err, c.want)
		}
	}
	s, err := tf.NewTensor(tf.QInt8, tf.Shape{1})
	if err != nil {
		t.Fatal(err)
	}
	if err := npy.Write(&bytes.Buffer{}, s); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("quantized: %v", err)
	}
	if err := npy.WriteArchive(&bytes.Buffer{}, map[string]*tf.Tensor{"s": s}, false); err == nil || !strings.Contains(err.Error(), "s: an npy file must hold") {
		t.Errorf("quantized: %v", err)
	}
	if err := npy.Write(&bytes.Buffer{}, nil); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("nil: %v", err)
	}
	if err := npy.WriteArchive(&bytes.Buffer{}, map[string]*tf.Tensor{"w": nil}, true); err == nil || !strings.Contains(err.Error(), "w: a tensor must not be nil") {
		t.Errorf("nil: %v", err)
	}
	if _, err := npy.ReadArchive(strings.NewReader("zip"), 3); tf.CodeOf(err) != tf.InvalidArgument {
		t.Errorf("no archive: %v", err)
	}
}

func FuzzReadNPY(f *testing.F) {
	b, err := os.ReadFile("testdata/versions.npy")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(file("{'descr': '>c8', 'fortran_order': True, 'shape': (2, 0), }", "")))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := npy.Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		var again bytes.Buffer
		if err := npy.Write(&again, x); err != nil {
			t.Fatal(err)
		}
		if y, err := npy.Read(&again); err != nil || !y.Shape().Equal(x.Shape()) || y.DType() != x.DType() {
			t.Errorf("%v became %v, %v", x, y, err)
		}
	})
}

// TestNPYBools: every byte but 0 is true, as for numpy, and true is 1.
func TestNPYBools(t *testing.T) {
	x, err := npy.Read(strings.NewReader(file("{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}", "\x00\x01\x02\xff")))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := npy.Write(&b, x); err != nil || !strings.HasSuffix(b.String(), "\x00\x01\x01\x01") {
		t.Errorf("it is written as %q: %v", b.String(), err)
	}
}
