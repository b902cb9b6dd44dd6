package ops_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/eager"
	"github.com/gorge-tf/gorge/tf/ops"
)

// TestLinesAreScannedAsRows compares the scans of lines of single elements with those of
// the same numbers in rows of two.
func TestLinesAreScannedAsRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	v, twice := make([]float32, 300), []float32{}
	for i := range v {
		v[i] = rng.Float32() + 0.5
		twice = append(twice, v[i], v[i])
	}
	for _, o := range []ops.CumulativeOpts{{}, {Exclusive: true}, {Reverse: true}, {Exclusive: true, Reverse: true}} {
		for name, scan := range map[string]func(tf.Output, int, ...tf.Option) tf.Output{"Cumsum": ops.Cumsum[int], "Cumprod": ops.Cumprod[int]} {
			g := eager.New()
			line := values[float32](t, scan(ops.Const(g, v, 3, 100), 1, o))
			rows := values[float32](t, scan(ops.Const(g, twice, 3, 100, 2), 1, o))
			for i := range line {
				if line[i] != rows[2*i] || line[i] != rows[2*i+1] {
					t.Fatalf("%s %+v: element %d of a line is %v, of a row %v", name, o, i, line[i], rows[2*i])
				}
			}
		}
	}
}

// TestLastDimensionIsTurned compares Reverse and Roll along the last dimension with
// loops, for elements of each size.
func TestLastDimensionIsTurned(t *testing.T) {
	turned[uint8](t)
	turned[int16](t)
	turned[float32](t)
	turned[int64](t)
}

func turned[T uint8 | int16 | float32 | int64](t *testing.T) {
	t.Helper()
	for _, n := range []int{1, 2, 3, 7} {
		v := make([]T, 3*n)
		for i := range v {
			v[i] = T(i)
		}
		back, rolled := slices.Clone(v), make([]T, len(v))
		for r := range 3 {
			slices.Reverse(back[r*n : (r+1)*n])
			for i := range n {
				rolled[r*n+(i+n-1)%n] = v[r*n+i]
			}
		}
		x := ops.Const(eager.New(), v, 3, n)
		if got := values[T](t, ops.Reverse(x, []int{1})); !slices.Equal(got, back) {
			t.Errorf("%T turned round: %v, want %v", v, got, back)
		}
		if got := values[T](t, ops.Roll(x, []int{-1}, []int{1})); !slices.Equal(got, rolled) {
			t.Errorf("%T rolled: %v, want %v", v, got, rolled)
		}
	}
}

func values[T tf.Elem](t *testing.T, x tf.Output) []T {
	t.Helper()
	v, err := x.Value()
	if err != nil {
		t.Fatal(err)
	}
	return tf.Data[T](v)
}
