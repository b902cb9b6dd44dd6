package tftest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

func vector[T tf.Elem](v ...T) *tf.Tensor {
	t, err := tf.FromSlice(v)
	if err != nil {
		panic(err)
	}
	return t
}

func TestDiff(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	otherNaN := math.Float32frombits(0xffc00123)
	negative := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name      string
		want, got *tf.Tensor
		opts      []Option
		diff      string // a part of it, "" if equal
	}{
		{"equal", vector[float32](1, 2), vector[float32](1, 2), nil, ""},
		{"empty", vector[float32](), vector[float32](), nil, ""},
		{"both nil", nil, nil, nil, ""},
		{"one nil", vector[int32](1), nil, nil, "int32[1]{1}"},
		{"type", vector[int32](1), vector[int64](1), nil, "-int32[1]\n+int64[1]"},
		{"shape", vector[int32](1), tf.Scalar[int32](1), nil, "-int32[1]\n+int32[]"},
		{"element", vector[int32](1, 2, 3), vector[int32](1, 5, 3), nil, "element [1]: -2 +5"},
		{"all NaNs are one", vector(nan), vector(otherNaN), nil, ""},
		{"NaN is no number", vector(nan), vector[float32](0), []Option{Within(1, 1)}, "NaN"},
		{"infinity", vector(inf), vector(inf), nil, ""},
		{"infinity is near nothing", vector(inf), vector[float32](math.MaxFloat32), []Option{Within(1, 1), ULP(5)}, "+Inf"},
		{"zeros", vector[float32](0), vector(negative), nil, ""},
		{"signed zeros", vector[float32](0), vector(negative), []Option{SignedZeros()}, "-0"},
		{"relative, inside", vector(100.0), vector(100.9), []Option{Within(0.01, 0)}, ""},
		{"relative, outside", vector(100.0), vector(101.1), []Option{Within(0.01, 0)}, "element [0]"},
		{"absolute, inside", vector(0.0), vector(0.5), []Option{Within(0, 0.5)}, ""},
		{"absolute, outside", vector(0.0), vector(0.51), []Option{Within(0, 0.5)}, "element [0]"},
		{"next number", vector[float32](1), vector(math.Nextafter32(1, 2)), []Option{ULP(1)}, ""},
		{"not the next number", vector[float32](1), vector[float32](1 + 1.0/(1<<22)), []Option{ULP(1)}, "element [0]"},
		{"ulps across zero", vector(math.SmallestNonzeroFloat64), vector(-math.SmallestNonzeroFloat64), []Option{ULP(2)}, ""},
		{"too many across zero", vector(math.SmallestNonzeroFloat64), vector(-math.SmallestNonzeroFloat64), []Option{ULP(1)}, "element"},
		{"half", vector(tf.Half(0x3c00)), vector(tf.Half(0x3c02)), []Option{ULP(1)}, "-1 +1.0019531"},
		{"half, near", vector(tf.Half(0x3c00)), vector(tf.Half(0x3c01)), []Option{ULP(1)}, ""},
		{"bfloat16", vector(tf.BF16(0x3f80)), vector(tf.BF16(0x3f81)), nil, "-1 +1.0078125"},
		{"complex", vector(complex64(1 + 2i)), vector(complex64(1 + 2.1i)), []Option{Within(0.01, 0)}, "(1+2.1i)"},
		{"complex, near", vector(1 + 2i), vector(1 + 2.01i), []Option{Within(0.01, 0)}, ""},
		{"strings", vector("a", "b"), vector("a", "c"), nil, `-"b" +"c"`},
		{"bools", vector(true), vector(false), []Option{Within(1, 1)}, "-true +false"},
		{"bytes, near", vector[uint8](7), vector[uint8](8), []Option{Within(0, 1)}, ""},
		{"64-bit integers are exact", vector[int64](7), vector[int64](8), []Option{Within(0, 1)}, "-7 +8"},
		{"handles", (*tf.Tensor)(core.HandleTensor(core.ResourceHandle{Name: "v"})), (*tf.Tensor)(core.HandleTensor(core.ResourceHandle{Name: "w"})), nil, "-resource[]{v}\n+resource[]{w}"},
		{"equal handles", (*tf.Tensor)(core.HandleTensor(core.ResourceHandle{Name: "v"})), (*tf.Tensor)(core.HandleTensor(core.ResourceHandle{Name: "v"})), nil, ""},
		{"far away", (*tf.Tensor)(core.TensorOf(tf.Int8, tf.Shape{1}, memory.NewOpaque("FAKE", nil, 1))), vector[int8](1), nil, "device memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			diff := Diff(c.want, c.got, c.opts...)
			if (diff == "") != (c.diff == "") || !strings.Contains(diff, c.diff) {
				t.Errorf("Diff(%v, %v) = %q, want %q in it", c.want, c.got, diff, c.diff)
			}
		})
	}
}

func TestDiffNamesFewElements(t *testing.T) {
	want, got := (*tf.Tensor)(core.NewTensor(tf.Int32, tf.Shape{5, 5})), (*tf.Tensor)(core.NewTensor(tf.Int32, tf.Shape{5, 5}))
	for i := range tf.Data[int32](got) {
		tf.Data[int32](got)[i] = int32(i) + 1
	}
	diff := Diff(want, got)
	if !strings.Contains(diff, "element [1 3]: -0 +9\n") || !strings.HasSuffix(diff, "and 15 more of 25") {
		t.Errorf("got %s", diff)
	}
}

func TestComparer(t *testing.T) {
	type result struct {
		Name string
		T    *tf.Tensor
	}
	a, b := result{"x", vector(1.0)}, result{"x", vector(1.001)}
	if diff := cmp.Diff(a, b, Comparer(Within(0.01, 0))); diff != "" {
		t.Error(diff)
	}
	if cmp.Equal(a, b, Comparer()) {
		t.Error("equal without a tolerance")
	}
}

// recorder hears what a test would report.
type recorder struct {
	testing.TB
	said string
}

func (r *recorder) Helper()                        {}
func (r *recorder) Error(args ...any)              { r.said += fmt.Sprint(args...) }
func (r *recorder) Errorf(form string, arg ...any) { r.said += fmt.Sprintf(form, arg...) }

func TestEqualReports(t *testing.T) {
	r := &recorder{}
	if !Equal(r, vector(1.0), vector(1.0)) || r.said != "" {
		t.Errorf("equal tensors: %q", r.said)
	}
	if Equal(r, vector(1.0), vector(2.0)) || !strings.Contains(r.said, "-2 +1") {
		t.Errorf("different tensors: %q", r.said)
	}
}

func TestElements(t *testing.T) {
	matrix, err := tf.FromSlice([]int32{1, 2, 3, 4}, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	Elements(t, matrix, []int32{1, 2, 3, 4})
	Elements(t, tf.Scalar("a"), []string{"a"})
	Elements(t, (*tf.Tensor)(core.NewTensor(tf.Float32, tf.Shape{0, 3})), []float32{})
	for _, bad := range []*tf.Tensor{nil, matrix, tf.Scalar[int32](1), vector[int64](1, 2)} {
		r := &recorder{}
		if Elements(r, bad, []int32{1, 2}) || r.said == "" {
			t.Errorf("%v passed for [1 2]: %q", bad, r.said)
		}
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		a, b float32
		want uint64
	}{
		{1, 1, 0}, {1, math.Nextafter32(1, 2), 1}, {1, math.Nextafter32(1, 0), 1}, {1, 2, 1 << 23},
		{0, float32(math.Copysign(0, -1)), 0}, {-1, -2, 1 << 23},
		{math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32, 2},
	} {
		if got := floatSteps(c.a, c.b); got != c.want {
			t.Errorf("from %v to %v: %d, want %d", c.a, c.b, got, c.want)
		}
	}
	if got := doubleSteps(1, 2); got != 1<<52 {
		t.Errorf("doubles from 1 to 2: %d", got)
	}
	if got := shortSteps(0x3c00, 0x4000); got != 1<<10 {
		t.Errorf("halves from 1 to 2: %d", got)
	}
}
