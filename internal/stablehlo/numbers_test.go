package stablehlo

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"testing"
)

// TestSmallFloats: all values of the types of at most 16 bits are those of ml_dtypes.
func TestSmallFloats(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(string(load(t, "testdata/floats.txt"))), "\n")
	for _, line := range lines {
		var name Elem
		var want uint32
		if _, err := fmt.Sscanf(line, "%s %x", &name, &want); err != nil {
			t.Fatal(err)
		}
		f := floats[name]
		var data []byte
		for b := range uint64(1) << f.bits() {
			v := f.value(b)
			if math.IsNaN(v) {
				v = 12345
			}
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		if got := crc32.ChecksumIEEE(data); got != want || len(lines) != 13 {
			t.Errorf("%s has checksum %08x, want %08x", name, got, want)
		}
	}
}

// TestLargeFloats: those of 32 and 64 bits are Go's.
func TestLargeFloats(t *testing.T) {
	for _, v := range []float64{0, 1, -2.5, math.Pi, 1e-310, 1e300, math.Inf(-1), math.MaxFloat64} {
		if got := floats["f64"].value(math.Float64bits(v)); got != v {
			t.Errorf("got %v, want %v", got, v)
		}
		w := float32(v)
		if got := floats["f32"].value(uint64(math.Float32bits(w))); float32(got) != w {
			t.Errorf("got %v, want %v", got, w)
		}
		rounded := math.Float32bits(w) &^ (1<<13 - 1)
		if got := floats["tf32"].value(uint64(rounded >> 13)); float32(got) != math.Float32frombits(rounded) {
			t.Errorf("tf32: got %v for %v", got, math.Float32frombits(rounded))
		}
	}
}

// TestIntegers: integers have the signs of their types, and the widths.
func TestIntegers(t *testing.T) {
	for _, test := range []struct {
		elem Elem
		bits uint64
		want string
	}{
		{"i2", 3, "-1"}, {"ui2", 3, "3"}, {"i4", 8, "-8"}, {"ui4", 15, "15"}, {"i8", 0x80, "-128"}, {"ui8", 0x80, "128"},
		{"i16", 0xFFFF, "-1"}, {"ui16", 0xFFFF, "65535"}, {"i32", 1 << 31, "-2147483648"}, {"ui32", 1 << 31, "2147483648"},
		{"i64", 1 << 63, "-9223372036854775808"}, {"ui64", 1 << 63, "9223372036854775808"}, {"index", 1<<64 - 1, "-1"},
	} {
		if got := integer(test.elem, test.bits).text(); got != test.want {
			t.Errorf("%s of %x is %s, want %s", test.elem, test.bits, got, test.want)
		}
	}
}

// TestBooleans: constants of booleans are bits or bytes, of all or of one that stands
// for all. Earlier versions of MLIR had bits in memory, later ones have bytes.
func TestBooleans(t *testing.T) {
	for _, test := range []struct {
		n    uint64
		data []uint64
		want string
	}{
		{1, []uint64{0xFF}, "[true]"}, {1, []uint64{1}, "[true]"}, {1, []uint64{0}, "[false]"},
		{3, []uint64{0b101}, "[true, false, true]"}, {3, []uint64{1, 0, 1}, "[true, false, true]"},
		{3, []uint64{0xFF}, "true"}, {3, []uint64{0}, "[false, false, false]"},
		{9, []uint64{0xFE, 1}, "[false, true, true, true, true, true, true, true, true]"},
		{9, []uint64{0}, "false"}, {9, []uint64{0xFF}, "true"}, {0, nil, "[]"},
	} {
		d, err := constant(test.n, 0, test.data)
		if err != "" || !strings.Contains(d, "dense<"+test.want+"> :") {
			t.Errorf("%d of %x: %s%s, want %s", test.n, test.data, d, err, test.want)
		}
	}
}

// TestConstantsOfOtherSizes: as many bytes as the type says, or one element.
func TestConstantsOfOtherSizes(t *testing.T) {
	for _, test := range []struct {
		n, elem uint64
		data    []uint64
	}{
		{3, 0, []uint64{1, 0}}, {3, 0, []uint64{1, 0, 2}}, {9, 0, []uint64{7}}, {1, 0, []uint64{2}}, {1, 0, nil},
		{2, 4, []uint64{0, 0, 0}}, {2, 4, nil}, {2, 4, make([]uint64, 12)}, {1 << 40, 4, make([]uint64, 8)},
		{1 << 40, 0, make([]uint64, 8)}, {1 << 62, 14, make([]uint64, 16)},
	} {
		if d, err := constant(test.n, test.elem, test.data); !strings.Contains(err, "a constant must have all of") && !strings.Contains(err, "a boolean must be") {
			t.Errorf("%d of code %d in %d bytes: %q, %q", test.n, test.elem, len(test.data), d, err)
		}
	}
}

// constant reads a constant of n elements of a type, which a code tells.
func constant(n, elem uint64, data []uint64) (text, err string) {
	b := newBuild(6)
	e := b.typ(1, elem)
	tensor := b.typ(1, 20, 1, n<<1, e)
	value := append(nums(15, tensor, uint64(len(data))), make([]byte, len(data))...)
	for i, d := range data {
		value[len(value)-len(data)+i] = byte(d)
	}
	b.attrs = append(b.attrs, made{1, value})
	set := b.set("value", uint64(len(b.attrs)-1))
	b.code(1, 1, op(opConstant, hasAttrs|hasResults, nums(set, 1, tensor)), op(opReturn, hasOperands, nums(1, 0)))
	m, failure := Read(b.artifact())
	if failure != nil {
		return "", failure.Error()
	}
	return m.Funcs[0].Body.Ops[0].String(), ""
}
