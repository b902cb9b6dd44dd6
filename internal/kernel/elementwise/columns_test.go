package elementwise

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/kernel/kerneltest"
)

// TestColumns: rows with a column, fused or broadcast, whole or cut anywhere, in place of either
// operand of their size, are to the bit what operands are that were repeated.
func TestColumns(t *testing.T) {
	ops := map[string]Loops[float32, float32]{
		"Add": AddLoops[float32](), "Sub": SubLoops[float32](), "Mul": MulLoops[float32](), "Div": DivLoops[float32](), "Max": MaxLoops[float32](),
	}
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, l := range ops {
			for _, n := range append(slices.Clone(kerneltest.Lengths), kernel.VectorChunk+1) {
				for _, rows := range []int{1, 2, 5, 40} {
					if n > 0 && n*rows < 1<<17 {
						checkColumns(t, name, l, rows, n)
					}
				}
			}
		}
	})
}

func checkColumns(t *testing.T, name string, l Loops[float32, float32], rows, n int) {
	t.Helper()
	x, s := operands(rows*n, 1), operands(rows, 2)
	repeated := make([]float32, rows*n)
	for i := range repeated {
		repeated[i] = s[i/n]
	}
	for _, side := range []struct {
		first  bool // the column is the first operand
		xs, ys []int
	}{{false, []int{rows, n}, []int{rows, 1}}, {true, []int{rows, 1}, []int{rows, n}}} {
		what := fmt.Sprintf("%s of %v and %v", name, side.xs, side.ys)
		want := make([]float32, rows*n)
		a, b := x, s
		if side.first {
			a, b = s, x
			l.Zip(want, repeated, x)
		} else {
			l.Zip(want, x, repeated)
		}
		got, check := kerneltest.Guarded(rows * n)
		has := l.Column.loop() != nil && n <= kernel.VectorChunk && !l.Column.ordered(side.first)
		if ok := l.Column.Rows(got, a, side.first, b, !side.first, n); ok != has {
			t.Fatalf("%s has a loop: %v, want %v", what, ok, has)
		} else if ok {
			check(t)
			compareFloats(t, what, got, want)
		}
		clear(got)
		l.Columns(got, a, side.first, b, !side.first, n)
		check(t)
		compareFloats(t, what, got, want)
		plan, ok := NewBroadcast(side.xs, side.ys)
		if !ok {
			t.Fatal(what)
		}
		clear(got)
		ZipBroadcast(kerneltest.Pieces, plan, got, a, b, l)
		check(t)
		compareFloats(t, what, got, want)
		copy(got, x)
		if side.first {
			b = got
		} else {
			a = got
		}
		ZipBroadcast(kerneltest.Pieces, plan, got, a, b, l)
		compareFloats(t, what+" in place", got, want)
	}
}

func compareFloats(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if !kerneltest.Same(got[i], want[i]) && (got[i] != 0 || want[i] != 0) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// TestFloatBroadcast: shapes in which an operand is nearly a column.
func TestFloatBroadcast(t *testing.T) {
	shapes := append(slices.Clone(broadcastShapes), []struct{ x, y, out []int }{
		{[]int{9, 1}, []int{1, 70}, []int{9, 70}}, {[]int{1, 70}, []int{9, 1}, []int{9, 70}}, {[]int{4, 9, 1}, []int{9, 33}, []int{4, 9, 33}},
		{[]int{4, 9, 1}, []int{4, 9, 33}, []int{4, 9, 33}}, {[]int{9, 1}, []int{4, 9, 33}, []int{4, 9, 33}},
	}...)
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, s := range shapes {
			b, ok := NewBroadcast(s.x, s.y)
			if !ok {
				t.Fatal(s)
			}
			x, y := operands(kernel.Product(s.x), 1), operands(kernel.Product(s.y), 2)
			want, got := make([]float32, b.Len), make([]float32, b.Len)
			kerneltest.EachIndex(s.out, func(at int, index []int) { want[at] = x[indexOf(s.x, index)] - y[indexOf(s.y, index)] })
			ZipBroadcast(kerneltest.Pieces, b, got, x, y, SubLoops[float32]())
			compareFloats(t, fmt.Sprint(s.x, " - ", s.y), got, want)
		}
	})
}
