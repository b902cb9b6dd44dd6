package core_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf/core"
)

func fromSlice[T core.Elem](t *testing.T, data []T, shape ...int) *core.Tensor {
	t.Helper()
	x, err := core.FromSlice(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestNewTensorIsZero(t *testing.T) {
	for _, d := range []core.DType{core.Float32, core.Int8, core.Complex128, core.Bool, core.QInt32, core.Float16} {
		x := core.NewTensor(d, core.Shape{2, 3})
		if x.DType() != d || x.Rank() != 2 || x.Dim(1) != 3 || x.Len() != 6 || x.NumBytes() != 6*d.Size() {
			t.Errorf("%v: got %v, %d elements, %d bytes", d, x, x.Len(), x.NumBytes())
		}
		if slices.ContainsFunc(x.Buffer().Bytes(), func(b byte) bool { return b != 0 }) {
			t.Errorf("%v: new memory is not zero", d)
		}
	}
	if s := core.Data[string](core.NewTensor(core.String, core.Shape{2})); !slices.Equal(s, []string{"", ""}) {
		t.Errorf("new strings are %q", s)
	}
	if h := core.NewTensor(core.Resource, core.Shape{}).Handles(); len(h) != 1 || h[0].Name != "" {
		t.Errorf("new handles are %v", h)
	}
	if v := core.NewTensor(core.Variant, core.Shape{3}).Variants(); len(v) != 3 {
		t.Errorf("new variants are %v", v)
	}
}

func TestCheckSize(t *testing.T) {
	for _, c := range []struct {
		s    core.Shape
		want string // of the error
	}{
		{core.Shape{}, ""}, {core.Shape{3, 0}, ""}, {core.Shape{-1}, "fully known"}, {nil, "fully known"},
		{core.Shape{math.MaxInt}, "overflow"}, {core.Shape{1 << 40, 1 << 40}, "would have more than 2**63 - 1 elements"},
	} {
		if err := core.CheckSize(core.Float32, c.s); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.s, err)
		}
	}
}

func TestFromSliceTakesOver(t *testing.T) {
	data := []int32{1, 2, 3, 4, 5, 6}
	x := fromSlice(t, data, 2, 3)
	if &core.Data[int32](x)[0] != &data[0] {
		t.Error("the elements were copied")
	}
	if v := fromSlice(t, data); !v.Shape().Equal(core.Shape{6}) {
		t.Errorf("without a shape: %v", v)
	}
	for _, shape := range [][]int{{2, 2}, {-1, 3}, {6, -1}, {7}} {
		if _, err := core.FromSlice(data, shape...); core.CodeOf(err) != core.InvalidArgument {
			t.Errorf("shape %v: %v", shape, err)
		}
	}
}

func TestTensorText(t *testing.T) {
	for _, c := range []struct {
		x    *core.Tensor
		want string
	}{
		{nil, "<nil>"},
		{core.Scalar(float32(1.5)), "float32[]{1.5}"},
		{fromSlice(t, []int64{1, 2, 3, 4}, 2, 2), "int64[2,2]{1, 2, 3, 4}"},
		{fromSlice(t, make([]bool, 12)), "bool[12]{false, false, false, ..., false, false, false}"},
		{fromSlice(t, upTo(10)), "int64[10]{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}"},
		{fromSlice(t, upTo(12), 2, 6), "int64[2,6]{{0, 1, 2, 3, 4, 5}, {6, 7, 8, 9, 10, 11}}"},
		{fromSlice(t, upTo(14), 7, 1, 2), "int64[7,1,2]{{{0, 1}}, {{2, 3}}, {{4, 5}}, ..., {{8, 9}}, {{10, 11}}, {{12, 13}}}"},
		{fromSlice(t, upTo(0), 20, 0), "int64[20,0]{}"},
		{fromSlice(t, []string{"a", "b\n"}), `string[2]{"a", "b\n"}`},
		{core.Scalar(core.Half(0x3c00)), "float16[]{1}"},
		{core.Scalar(core.BF16(0xc000)), "bfloat16[]{-2}"},
		{core.Scalar(1 - 2i), "complex128[]{(1-2i)}"},
		{core.HandleTensor(core.ResourceHandle{Name: "v"}), "resource[]{v}"},
		{core.NewTensor(core.Variant, core.Shape{1}), "variant[1]{<nil>}"},
		{core.TensorOf(core.Float32, core.Shape{2}, memory.NewOpaque("FAKE", nil, 8)), "float32[2]{in FAKE}"},
	} {
		if got := c.x.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// upTo returns the numbers below n.
func upTo(n int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

// TestTensorFormat: verbs are those of elements.
func TestTensorFormat(t *testing.T) {
	matrix := fromSlice(t, []float32{1, 2.5, -3, 4}, 2, 2)
	for _, c := range []struct {
		form string
		x    any
		want string
	}{
		{"%v", matrix, "float32[2,2]{1, 2.5, -3, 4}"},
		{"%+v", matrix, "float32[2,2]{1, 2.5, -3, 4}"},
		{"%#v", matrix, "float32[2,2]{1, 2.5, -3, 4}"},
		{"%s", matrix, "float32[2,2]{1, 2.5, -3, 4}"},
		{"%20s|", core.Scalar(int8(1)), "           int8[]{1}|"},
		{"%-12v|", core.Scalar(int8(1)), "int8[]{1}   |"},
		{"%v", []*core.Tensor{core.Scalar(int8(1)), nil}, "[int8[]{1} <nil>]"},
		{"%.2f", matrix, "[[1.00 2.50] [-3.00 4.00]]"},
		{"%g", matrix, "[[1 2.5] [-3 4]]"},
		{"%d", fromSlice(t, upTo(6), 2, 3), "[[0 1 2] [3 4 5]]"},
		{"%d", fromSlice(t, upTo(10)), "[0 1 2 3 4 5 6 7 8 9]"},
		{"%03d", fromSlice(t, upTo(100)), "[000 001 002 ... 097 098 099]"},
		{"%d", core.Scalar(int64(7)), "7"},
		{"%d", fromSlice(t, upTo(0), 2, 0), "[[] []]"},
		{"%d", fromSlice(t, upTo(0), 1<<30, 0), "[[] [] [] ... [] [] []]"},
		{"%d", matrix, "[[%!d(float32=1) %!d(float32=2.5)] [%!d(float32=-3) %!d(float32=4)]]"},
		{"%q", fromSlice(t, []string{"a", "b\n"}), `["a" "b\n"]`},
		{"%x", fromSlice(t, []uint8{10, 255}), "[a ff]"},
		{"%.1f", core.Scalar(core.Half(0x3c00)), "1.0"},
		{"%d", (*core.Tensor)(nil), "<nil>"},
		{"%d", core.TensorOf(core.Float32, core.Shape{2}, memory.NewOpaque("FAKE", nil, 8)), "float32[2]{in FAKE}"},
		{"%T", matrix, "*core.Tensor"},
	} {
		if got := fmt.Sprintf(c.form, c.x); got != c.want {
			t.Errorf("%s: got %s, want %s", c.form, got, c.want)
		}
	}
}

// TestTensorsPrintedAreShort: shapes of any kind are printed in little, as a walk over
// all indices has it.
func TestTensorsPrintedAreShort(t *testing.T) {
	for _, shape := range [][]int{{1 << 20}, {1000, 1000}, {7, 6, 8}, {1, 1, 30}, {30, 1, 1}, {3, 4}} {
		n := core.Shape(shape).NumElements()
		x := fromSlice(t, upTo(int64(n)), shape...)
		var want []string
		for i := range n {
			if seen(shape, i) {
				want = append(want, strconv.Itoa(i))
			}
		}
		got := strings.FieldsFunc(fmt.Sprintf("%d", x), func(r rune) bool { return strings.ContainsRune("[]. ", r) })
		if !slices.Equal(got, want) {
			t.Errorf("of shape %v elements %v are printed, want %v", shape, got, want)
		}
	}
}

// seen reports whether element i is at an edge, three wide, in each dimension.
func seen(shape []int, i int) bool {
	for d := len(shape) - 1; d >= 0; d-- {
		if at := i % shape[d]; at >= 3 && at < shape[d]-3 {
			return false
		}
		i /= shape[d]
	}
	return true
}

func TestElementsOfTheWrongType(t *testing.T) {
	x := core.Scalar(int32(1))
	if _, err := core.Values[int64](x); err == nil || !strings.Contains(err.Error(), "tensor is int32, asked for int64") {
		t.Errorf("Values: %v", err)
	}
	if v, err := core.Values[int32](x); err != nil || v[0] != 1 {
		t.Errorf("Values: %v, %v", v, err)
	}
	if core.Data[int8](core.NewTensor(core.QInt8, core.Shape{1}))[0] != 0 {
		t.Error("quantized elements are their integers")
	}
	defer func() {
		if p, _ := recover().(string); p != "tf: Data[int64] of a int32 tensor" {
			t.Errorf("Data panicked with %q", p)
		}
	}()
	core.Data[int64](x)
}

func TestInts(t *testing.T) {
	for _, x := range []*core.Tensor{fromSlice(t, []int32{3, -1}), fromSlice(t, []int64{3, -1})} {
		if got, err := x.Ints(); err != nil || !slices.Equal(got, []int{3, -1}) {
			t.Errorf("%v: %v, %v", x, got, err)
		}
	}
	if _, err := core.Scalar(float32(1)).Ints(); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("floats as ints: %v", err)
	}
}

func TestScalarOf(t *testing.T) {
	for d, want := range map[core.DType]any{
		core.Float32: float32(2.5), core.Float64: 2.5, core.Float16: core.Half(0x4100), core.BFloat16: core.BF16(0x4020),
		core.Int32: int32(2), core.Int64: int64(2), core.Complex64: complex64(2.5), core.Complex128: complex128(2.5),
		core.Int8: int8(2), core.Int16: int16(2), core.Uint8: uint8(2), core.Uint16: uint16(2), core.Uint32: uint32(2), core.Uint64: uint64(2),
	} {
		v := 2.5
		if d.IsInteger() {
			v = 2
		}
		x, err := core.ScalarOf(d, v)
		if err != nil || x.DType() != d || x.Rank() != 0 || x.At(0) != want {
			t.Errorf("%v: %v, %v; want %v", d, x, err, want)
		}
	}
	for d, xs := range map[core.DType][]float64{
		core.Uint8: {256, -1, -0.5}, core.Int8: {-129, 128}, core.Uint16: {-1, 1 << 40}, core.Uint64: {1 << 64, 1e20, -1}, core.Int16: {math.NaN()},
		core.Int32: {2.5, -1e-9, 1<<31 - 0.5, 1 << 31, -1<<31 - 1, 1 << 32, math.Inf(1)}, core.Int64: {1 << 63, -1 << 64, 1e30, math.NaN(), math.Inf(-1)}, core.Uint32: {1 << 32},
	} {
		for _, x := range xs {
			if got, err := core.ScalarOf(d, x); core.CodeOf(err) != core.InvalidArgument {
				t.Errorf("%v of %v: %v, %v", x, d, got, err)
			}
		}
	}
	for x, d := range map[float64]core.DType{math.Copysign(0, -1): core.Uint8, 1<<31 - 1: core.Int32, -1 << 31: core.Int32, -1 << 63: core.Int64, 1<<64 - 2048: core.Uint64} {
		if got, err := core.ScalarOf(d, x); err != nil {
			t.Errorf("%v of %v: %v, %v", x, d, got, err)
		}
	}
	if _, err := core.ScalarOf(core.String, 1); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("a string: %v", err)
	}
}

func TestShareAndRelease(t *testing.T) {
	freed := 0
	b := memory.Adopt(make([]byte, 8), func() { freed++ })
	x := core.TensorOf(core.Float32, core.Shape{2}, b)
	y := x.Share()
	core.Data[float32](x)[1] = 5
	if core.Data[float32](y)[1] != 5 || b.Sole() {
		t.Error("a shared tensor has memory of its own")
	}
	x.Release()
	if freed != 0 || !b.Sole() {
		t.Errorf("after one of two was released: freed %d times, sole %v", freed, b.Sole())
	}
	y.Release()
	if freed != 1 {
		t.Errorf("after both were released: freed %d times", freed)
	}
	y.Release() // a second time does nothing
}

func TestReshapeAndBits(t *testing.T) {
	x := fromSlice(t, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
	r, err := x.Reshape(core.Shape{3, 2})
	if err != nil || !r.Shape().Equal(core.Shape{3, 2}) || !x.Shape().Equal(core.Shape{2, 3}) || &core.Data[float32](r)[0] != &core.Data[float32](x)[0] {
		t.Errorf("reshaped to %v, %v", r, err)
	}
	if _, err := x.Reshape(core.Shape{4}); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("reshaped to four elements: %v", err)
	}
	b, err := x.Bits(core.Int32)
	if err != nil || uint32(core.Data[int32](b)[0]) != math.Float32bits(1) || x.DType() != core.Float32 {
		t.Errorf("bits are %v, %v", b, err)
	}
	if _, err := x.Bits(core.Int64); core.CodeOf(err) != core.InvalidArgument {
		t.Errorf("bits of another size: %v", err)
	}
}

func TestHighRank(t *testing.T) {
	s := core.Shape{1, 2, 1, 2, 1, 2}
	x := core.NewTensor(core.Int8, s)
	s[0] = 9
	if !x.Shape().Equal(core.Shape{1, 2, 1, 2, 1, 2}) || x.Len() != 8 {
		t.Errorf("got %v", x)
	}
	if y := x.Share(); !y.Shape().Equal(x.Shape()) {
		t.Errorf("shared: %v", y)
	}
}

func TestCloneHasItsOwnMemory(t *testing.T) {
	for _, x := range []*core.Tensor{fromSlice(t, []int32{1, 2}), fromSlice(t, []string{"a", "b"}), core.HandleTensor(core.ResourceHandle{Name: "h"}), core.NewTensor(core.Variant, core.Shape{1})} {
		c := x.Clone()
		if !core.TensorsEqual(x, c) {
			t.Errorf("clone of %v is %v", x, c)
		}
	}
	s := fromSlice(t, []string{"a"})
	core.Data[string](s.Clone())[0] = "b"
	if core.Data[string](s)[0] != "a" {
		t.Error("a clone shares strings")
	}
}

func TestTensorsEqual(t *testing.T) {
	nan := math.Float32frombits(0x7fc00001)
	for _, c := range []struct {
		a, b *core.Tensor
		want bool
	}{
		{core.Scalar(float32(1)), core.Scalar(float32(1)), true},
		{core.Scalar(nan), core.Scalar(nan), true}, // bits count
		{core.Scalar(float32(0)), core.Scalar(float32(math.Copysign(0, -1))), false},
		{core.Scalar(int32(0)), core.Scalar(float32(0)), false},
		{fromSlice(t, []int8{1, 2}, 1, 2), fromSlice(t, []int8{1, 2}), false},
		{fromSlice(t, []string{"a"}), fromSlice(t, []string{"a"}), true},
		{fromSlice(t, []string{"a"}), fromSlice(t, []string{"b"}), false},
		{nil, nil, true}, {nil, core.Scalar(1.0), false},
	} {
		if got := core.TensorsEqual(c.a, c.b); got != c.want {
			t.Errorf("TensorsEqual(%v, %v) = %v", c.a, c.b, got)
		}
	}
}

// TestEscapedMemoryOutlivesItsTensor keeps nothing but the slice of a tensor
// whose memory a pool would use again.
func TestEscapedMemoryOutlivesItsTensor(t *testing.T) {
	pool := memory.NewPool(1 << 20)
	escaped := func() []float32 {
		x := core.TensorOf(core.Float32, core.Shape{64}, pool.Get(256))
		v := core.Data[float32](x.Escape())
		for i := range v {
			v[i] = float32(i)
		}
		x.Release()
		return v
	}()
	for range 3 { // collect the tensor, then overwrite what the pool has
		runtime.GC()
		for range 10 {
			b := pool.Get(256)
			for i := range b.Bytes() {
				b.Bytes()[i] = 0xDB
			}
			b.Unref()
		}
	}
	for i, v := range escaped {
		if v != float32(i) {
			t.Fatalf("element %d became %v", i, v)
		}
	}
}

// TestNothingIsPrintedShort: a tensor without elements may have as many dimensions as any.
func TestNothingIsPrintedShort(t *testing.T) {
	for want, s := range map[string]core.Shape{"[]": append(slices.Repeat(core.Shape{2}, 200), 0), "[[] []]": {2, 0}} {
		if got := fmt.Sprintf("%d", core.NewTensor(core.Int32, s)); got != want {
			t.Errorf("%v: %s", s, got)
		}
	}
}

// TestNumbersTooLarge: they are infinite in all floating-point types, as in TensorFlow.
func TestNumbersTooLarge(t *testing.T) {
	for d, x := range map[core.DType]float64{core.Float16: 70000, core.BFloat16: 1e39, core.Float32: 1e39, core.Complex64: 1e39} {
		for _, v := range []any{x, -x} {
			got, err := core.NumberOf(d, v)
			if sign := fmt.Sprint(v)[:1] == "-"; err != nil || !strings.Contains(got.String(), "Inf") || strings.Contains(got.String(), "-Inf") != sign {
				t.Errorf("%v as %v: %v, %v", v, d, got, err)
			}
		}
	}
}
