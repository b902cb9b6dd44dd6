package elementwise

import (
	"math"
	"reflect"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// castTypes has a value of every type that Cast knows.
var castTypes = []any{
	true, int8(0), int16(0), int32(0), int64(0), uint8(0), uint16(0), uint32(0), uint64(0),
	float32(0), float64(0), numeric.Half(0), numeric.BFloat16(0), complex64(0), complex128(0),
}

func sliceOf(v any, n int) any {
	return reflect.MakeSlice(reflect.SliceOf(reflect.TypeOf(v)), n, n).Interface()
}

// small returns a slice of n small numbers, the same for all types but bool.
func small(v any, n int) any {
	s := sliceOf(v, n)
	if !Cast(s, numbers(n)) {
		panic("no cast from int32")
	}
	return s
}

func numbers(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(i % 90)
	}
	return x
}

// TestCastBetweenAll converts small numbers, which every type can hold.
func TestCastBetweenAll(t *testing.T) { kerneltest.EachLevel(t, testCastBetweenAll) }

func testCastBetweenAll(t *testing.T) {
	const n = widenBlock + 7
	for _, from := range castTypes {
		for _, to := range castTypes {
			src, dst := small(from, n), sliceOf(to, n)
			if !Cast(dst, src) {
				t.Errorf("no cast from %T to %T", from, to)
				continue
			}
			want := small(to, n)
			if _, isBool := from.(bool); isBool {
				want = sliceOf(to, n)
				ones := make([]int32, n)
				for i := range ones {
					ones[i] = min(int32(i%90), 1)
				}
				Cast(want, ones)
			}
			if !reflect.DeepEqual(dst, want) {
				t.Errorf("cast from %T to %T differs", from, to)
			}
		}
	}
}

func TestCastKnowsItsTypes(t *testing.T) {
	for _, v := range castTypes {
		if Cast([]string{""}, sliceOf(v, 1)) || Cast(sliceOf(v, 1), []string{""}) {
			t.Errorf("cast between %T and string", v)
		}
	}
}

// TestCastLikeTensorFlow has what TensorFlow answers for single elements.
func TestCastLikeTensorFlow(t *testing.T) { kerneltest.EachLevel(t, testCastLikeTensorFlow) }

func testCastLikeTensorFlow(t *testing.T) {
	f32 := []float32{kerneltest.NaN, kerneltest.Inf, -kerneltest.Inf, -1, 300, -300, 3e9, -3e9, 1e19, 1.5, 1e10, 40000, 70000}
	f64 := make([]float64, len(f32))
	for i, v := range f32 {
		f64[i] = float64(v)
	}
	for _, want := range []any{
		[]int8{0, 0, 0, -1, 44, -44, 0, 0, 0, 1, 0, 64, 112},
		[]uint8{0, 0, 0, 255, 44, 212, 0, 0, 0, 1, 0, 64, 112},
		[]int16{0, 0, 0, -1, 300, -300, 0, 0, 0, 1, 0, -25536, 4464},
		[]uint16{0, 0, 0, 65535, 300, 65236, 0, 0, 0, 1, 0, 40000, 4464},
		[]int32{math.MinInt32, math.MinInt32, math.MinInt32, -1, 300, -300, math.MinInt32, math.MinInt32, math.MinInt32, 1, math.MinInt32, 40000, 70000},
		[]uint32{0, 0, 0, 4294967295, 300, 4294966996, 3000000000, 1294967296, 0, 1, 1410065408, 40000, 70000},
		[]int64{math.MinInt64, math.MinInt64, math.MinInt64, -1, 300, -300, 3000000000, -3000000000, math.MinInt64, 1, 10000000000, 40000, 70000},
		[]bool{true, true, true, true, true, true, true, true, true, true, true, true, true},
	} {
		for _, src := range []any{f32, f64} {
			got := sliceOf(reflect.ValueOf(want).Index(0).Interface(), len(f32))
			Cast(got, src)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%T to %T: %v, want %v", src, want, got, want)
			}
		}
	}
	u := make([]uint64, 5)
	Cast(u, []float64{math.NaN(), -1, 1e19, 3e9, math.Inf(1)})
	if want := []uint64{1 << 63, math.MaxUint64, 1e19, 3e9, 1 << 63}; !reflect.DeepEqual(u, want) {
		t.Errorf("to uint64: %v, want %v", u, want)
	}
}

func TestCastRounds(t *testing.T) { kerneltest.EachLevel(t, testCastRounds) }

func testCastRounds(t *testing.T) {
	h := make([]numeric.Half, 4)
	Cast(h, []int32{65519, 65520, 2049, 2051})
	for i, want := range []float32{65504, kerneltest.Inf, 2048, 2052} {
		if h[i].Float32() != want {
			t.Errorf("half %d is %v, want %v", i, h[i].Float32(), want)
		}
	}
	// By way of float32, so that the second rounding sees a tie.
	Cast(h[:1], []float64{1 + math.Ldexp(1, -11) + math.Ldexp(1, -40)})
	if h[0].Float32() != 1 {
		t.Errorf("rounded twice: %v, want 1", h[0].Float32())
	}
	f := make([]float32, 2)
	Cast(f, []int64{1<<24 + 1, 1<<62 + 1<<38 - 1})
	if f[0] != 1<<24 || f[1] != 1<<62 {
		t.Errorf("int64 to float32: %v", f)
	}
	c := make([]int32, 2)
	Cast(c, []complex128{3.7 + 4i, 5i})
	if c[0] != 3 || c[1] != 0 {
		t.Errorf("complex to int32: %v, want [3 0]", c)
	}
}
