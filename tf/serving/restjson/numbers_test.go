package restjson

import (
	"math"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"

	"github.com/gorge-tf/gorge/tf"
)

// BenchmarkFloats reads a request with images of floats in 0 to 1, as clients write
// them.
func BenchmarkFloats(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	body := []byte(`{"instances": [`)
	for i := range 224 * 224 {
		if i > 0 {
			body = append(body, ", "...)
		}
		body = append(body, '[')
		for k := range 3 {
			if k > 0 {
				body = append(body, ", "...)
			}
			body = strconv.AppendFloat(body, float64(r.Float32()), 'g', -1, 32)
		}
		body = append(body, ']')
	}
	body = append(body, "]}"...)
	types := func(string) (map[string]tf.DType, error) { return map[string]tf.DType{"x": tf.Float32}, nil }
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, err := ParsePredict(body, types); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzNumbers: numbers that the grammar of JSON has are read as strconv reads them, to
// the bit.
func FuzzNumbers(f *testing.F) {
	for _, s := range []string{
		"0", "-0", "-0.0", "0.1", "1e22", "1e23", "123456789012345678e-5", "9007199254740993", "9007199254740992e1", "4.9e-324", "2.4703282292062327e-324", "1e-400", "0e99999",
		"0.00000000000000000000000000000000001", "1.7976931348623157e308", "1.7976931348623159e308", "18446744073709551616", "184467440737095516150", "1e+5", "8.5e-23", "99999999999999999999999999e-20",
	} {
		f.Add(s)
	}
	valid := regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	f.Fuzz(func(t *testing.T, s string) {
		if !valid.MatchString(s) {
			return
		}
		want, werr := strconv.ParseFloat(s, 64)
		body := []byte(`{"inputs": [` + s + `, 1]}`)
		wide, err := ParsePredict(body, types(map[string]tf.DType{"x": tf.Float64}))
		if (err != nil) != (werr != nil) {
			t.Fatalf("%s: %v, strconv says %v", s, err, werr)
		}
		if err != nil {
			return
		}
		if got := tf.Data[float64](wide.Inputs["x"])[0]; math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s is %x, strconv says %x", s, got, want)
		}
		narrow, err := ParsePredict(body, types(map[string]tf.DType{"x": tf.Float32}))
		if err != nil || math.Float32bits(tf.Data[float32](narrow.Inputs["x"])[0]) != math.Float32bits(float32(want)) {
			t.Fatalf("%s as float: %v, %v", s, narrow, err)
		}
	})
}

// TestNumbersAsStrconv reads numbers of all magnitudes, in the forms that programs
// write them in.
func TestNumbersAsStrconv(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	body, want := []byte(`{"inputs": [0`), []float64{0}
	for range 200_000 {
		x := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			x = float64(math.Float32frombits(r.Uint32()))
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		body = append(body, ',')
		begin := len(body)
		body = strconv.AppendFloat(body, x, "eg"[r.IntN(2)], r.IntN(22)-1, 64)
		v, err := strconv.ParseFloat(string(body[begin:]), 64)
		if err != nil {
			body = body[:begin-1] // rounded to something too large
			continue
		}
		want = append(want, v)
	}
	got, err := ParsePredict(append(body, "]}"...), types(map[string]tf.DType{"x": tf.Float64}))
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range tf.Data[float64](got.Inputs["x"]) {
		if math.Float64bits(x) != math.Float64bits(want[i]) {
			t.Fatalf("element %d is %x, want %x", i, x, want[i])
		}
	}
}
