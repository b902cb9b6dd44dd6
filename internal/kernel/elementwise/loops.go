package elementwise

import (
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/internal/machine"
	"github.com/gorge-tf/gorge/internal/memory"
	"github.com/gorge-tf/gorge/internal/numeric"
)

// Loops is a binary operation in the forms that a broadcast meets. ScalarX
// and ScalarY may be nil; Zip then runs over a repeated scalar.
type Loops[R, T any] struct {
	// Zip sets z[i] = f(x[i], y[i]).
	Zip func(z []R, x, y []T)
	// ScalarX sets z[i] = f(x, y[i]).
	ScalarX func(z []R, x T, y []T)
	// ScalarY sets z[i] = f(x[i], y).
	ScalarY func(z []R, x []T, y T)
	// Column is what does that for rows of float32, each with the next scalar.
	Column Column
	// Calls says that a call costs as much as tens of elements, so that rows are put side by side
	// up to a greater length.
	Calls bool
	// Lanes is the operation in machine code, if it has that form.
	Lanes machine.Lanes
}

// AddLoops returns the forms of Add.
func AddLoops[T numeric.Number]() Loops[T, T] {
	l := commutative(Add[T], AddScalar[T], (*machine.Code).Add, (*machine.Code).IntAdd)
	l.Column = addColumn
	return l
}

// SubLoops returns the forms of Sub.
func SubLoops[T numeric.Number]() Loops[T, T] {
	l := Loops[T, T]{Zip: Sub[T], ScalarX: ScalarSub[T], ScalarY: SubScalar[T], Column: subColumn}
	return l.in((*machine.Code).Sub, (*machine.Code).IntSub)
}

// MulLoops returns the forms of Mul.
func MulLoops[T numeric.Number]() Loops[T, T] {
	l := commutative(Mul[T], MulScalar[T], (*machine.Code).Mul, (*machine.Code).IntMul)
	l.Column = mulColumn
	return l
}

// DivLoops returns the forms of Div.
func DivLoops[T numeric.Inexact]() Loops[T, T] {
	l := Loops[T, T]{Zip: Div[T], ScalarX: ScalarDiv[T], ScalarY: DivScalar[T], Column: divColumn}
	return l.in((*machine.Code).Div, nil)
}

// MaxLoops returns the forms of Max.
func MaxLoops[T numeric.Real]() Loops[T, T] {
	return commutative(Max[T], MaxScalar[T], (*machine.Code).Max, (*machine.Code).IntMax)
}

// MinLoops returns the forms of Min.
func MinLoops[T numeric.Real]() Loops[T, T] {
	return commutative(Min[T], MinScalar[T], (*machine.Code).Min, (*machine.Code).IntMin)
}

func commutative[T any](zip func(z, x, y []T), scalar func(z, x []T, s T), f32, i32 binaryLanes) Loops[T, T] {
	l := Loops[T, T]{Zip: zip, ScalarX: func(z []T, s T, x []T) { scalar(z, x, s) }, ScalarY: scalar}
	if f32 != nil {
		f32 = scalarLast(f32)
	}
	return l.in(f32, i32)
}

// WidenLoops runs loops over float32 on 16-bit floats.
func WidenLoops[H numeric.HalfFloat](l Loops[float32, float32]) Loops[H, H] {
	return Loops[H, H]{Calls: true, Zip: func(z, x, y []H) { Widen2(z, x, y, l.Zip) }}
}

// WidenLoopsTo is WidenLoops for results of another type, as comparisons have.
func WidenLoopsTo[R any, H numeric.HalfFloat](l Loops[R, float32]) Loops[R, H] {
	return Loops[R, H]{Calls: true, Zip: func(z []R, x, y []H) { WidenTo(z, x, y, l.Zip) }}
}

// scalarRun is how often a scalar is repeated for loops without scalar form.
const scalarRun = 256

// ZipBroadcast runs a binary operation over operands of two shapes.
func ZipBroadcast[R, T any](par kernel.Par, b *Broadcast, z []R, x, y []T, l Loops[R, T]) {
	if b.Len <= kernel.ElementGrain {
		l.zipRange(b, z, x, y, 0, b.Len) // without the closure, which costs as much as a small loop
		return
	}
	par(b.Len, kernel.ElementGrain, func(lo, hi int) { l.zipRange(b, z, x, y, lo, hi) })
}

// zipRange computes the results [lo, hi).
func (l Loops[R, T]) zipRange(b *Broadcast, z []R, x, y []T, lo, hi int) {
	if b.Same() {
		l.Zip(z[lo:hi], x[lo:hi], y[lo:hi])
		return
	}
	run := rowRun
	if l.Calls {
		run = rowRunOfCalls
	}
	switch n := b.dims[len(b.dims)-1].n; b.shortRow(run) {
	case 0:
		repeatRow(lo, hi, x[:n], run, func(lo, hi int, row []T) { l.Zip(z[lo:hi], row, y[lo:hi]) })
	case 1:
		repeatRow(lo, hi, y[:n], run, func(lo, hi int, row []T) { l.Zip(z[lo:hi], x[lo:hi], row) })
	default:
		if b.ShortRuns() && hi-lo >= spreadLeast {
			l.zipSpread(b, z, x, y, lo, hi)
			return
		}
		if l.Column != noColumn && l.Column.zip(b, z, x, y, lo, hi) {
			return
		}
		step := b.Inner()
		b.Runs(lo, hi, func(at int, off []int, n int) {
			l.run(z[at:at+n], x[off[0]:], step[0], y[off[1]:], step[1])
		})
	}
}

// rowRun is how many elements of repeated rows are put side by side, rowRunOfCalls for [Loops.Calls].
const rowRun, rowRunOfCalls = 512, 4096

// shortRow returns which of two operands is a row, repeated beside a matrix
// and so short that many of them side by side are walked faster; -1 if
// neither is.
func (b *Broadcast) shortRow(run int) int {
	const few, many = 4, 64 // rows that are worth a copy, of short ones and of any
	if len(b.dims) != 2 || b.dims[1].n > run/4 || b.dims[0].n < few || b.dims[1].n > run/16 && b.dims[0].n < many {
		return -1
	}
	for k := range 2 {
		row, matrix := b.dims[0].step[k] == 0 && b.dims[1].step[k] == 1, b.dims[0].step[1-k] == b.dims[1].n
		if row && matrix {
			return k
		}
	}
	return -1
}

// repeatRow calls f for parts of [lo, hi) together with the elements of the
// endlessly repeated row that belong there.
func repeatRow[T any](lo, hi int, row []T, run int, f func(lo, hi int, row []T)) {
	n := len(row)
	rows := min(run/n, (hi-lo)/n+2)
	buf := memory.Make[T](rows * n)
	for i := range rows {
		copy(buf[i*n:], row)
	}
	from := lo % n
	for lo < hi {
		m := min(hi-lo, (rows-1)*n)
		f(lo, lo+m, buf[from:from+m])
		lo += m
	}
}

// Run sets z from as many elements of x and y, or from the one that is repeated.
func (l Loops[R, T]) Run(z []R, x []T, xRepeated bool, y []T, yRepeated bool) {
	l.run(z, x, step(xRepeated), y, step(yRepeated))
}

// Columns sets rows of n elements of z, where an operand that is a column has one
// element for each of them.
func (l Loops[R, T]) Columns(z []R, x []T, xColumn bool, y []T, yColumn bool, n int) {
	dx, dy := n, n
	if xColumn {
		dx = 1
	}
	if yColumn {
		dy = 1
	}
	xStep, yStep := step(xColumn), step(yColumn)
	for i := range len(z) / n {
		l.run(z[i*n:(i+1)*n], x[i*dx:], xStep, y[i*dy:], yStep)
	}
}

func step(repeated bool) int {
	if repeated {
		return 0
	}
	return 1
}

// run computes a run along which each operand goes on or is repeated.
func (l Loops[R, T]) run(z []R, x []T, xStep int, y []T, yStep int) {
	switch {
	case xStep != 0 && yStep != 0:
		l.Zip(z, x[:len(z)], y[:len(z)])
	case xStep == 0 && l.ScalarX != nil:
		l.ScalarX(z, x[0], y[:len(z)])
	case yStep == 0 && l.ScalarY != nil:
		l.ScalarY(z, x[:len(z)], y[0])
	case xStep == 0:
		repeatScalar(z, x[0], y, func(z []R, s, v []T) { l.Zip(z, s, v) })
	default:
		repeatScalar(z, y[0], x, func(z []R, s, v []T) { l.Zip(z, v, s) })
	}
}

// repeatScalar calls f for blocks of z and v together with as many copies of s.
func repeatScalar[R, T any](z []R, s T, v []T, f func(z []R, s, v []T)) {
	buf := make([]T, min(len(z), scalarRun))
	kernel.Fill(buf, s)
	for len(z) > 0 {
		n := min(len(z), len(buf))
		f(z[:n], buf[:n], v[:n])
		z, v = z[n:], v[n:]
	}
}

// SelectBroadcast sets z to x where c holds and to y elsewhere, for operands
// of three shapes: b plans c, x and y in this order. z may be x or y, if that is not
// repeated.
func SelectBroadcast[T any](par kernel.Par, b *Broadcast, z []T, c []bool, x, y []T) {
	step := b.Inner()
	if n, outer := b.Rows(); n > 0 && step[0] == 0 {
		par(b.Len/n, max(1, kernel.ElementGrain/n), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				from, at, s := y, i*outer[2], step[2]
				if c[i*outer[0]] {
					from, at, s = x, i*outer[1], step[1]
				}
				copyStep(z[i*n:(i+1)*n], from[at:], s)
			}
		})
		return
	}
	par(b.Len, kernel.ElementGrain, func(lo, hi int) {
		b.Runs(lo, hi, func(at int, off []int, n int) {
			SelectRun(z[at:at+n], c[off[0]:], step[0], x[off[1]:], step[1], y[off[2]:], step[2])
		})
	})
}

// SelectRun sets z to x where c holds and to y elsewhere. Each operand goes on by
// its step, which is 0 or 1.
func SelectRun[T any](z []T, c []bool, cStep int, x []T, xStep int, y []T, yStep int) {
	if len(z) == 0 {
		return
	}
	if cStep == 0 {
		if c[0] {
			copyStep(z, x, xStep)
		} else {
			copyStep(z, y, yStep)
		}
		return
	}
	if selectBits(z, c[:len(z)], x[:1+(len(z)-1)*xStep], y[:1+(len(z)-1)*yStep]) {
		return
	}
	for i := range z {
		if c[i] {
			z[i] = x[i*xStep]
		} else {
			z[i] = y[i*yStep]
		}
	}
}

// copyStep fills z from x, whose elements follow one another, or repeats x[0] if
// the step is 0.
func copyStep[T any](z, x []T, step int) {
	if step == 0 {
		kernel.Fill(z, x[0])
		return
	}
	if &z[0] != &x[0] {
		copy(z, x)
	}
}

// CopyBroadcast repeats x to fill z.
func CopyBroadcast[T any](par kernel.Par, b *Broadcast, z, x []T) {
	repeated := b.Inner()[0] == 0
	par(b.Len, kernel.ElementGrain, func(lo, hi int) {
		b.Runs(lo, hi, func(at int, off []int, n int) {
			if repeated {
				kernel.Fill(z[at:at+n], x[off[0]])
			} else {
				copy(z[at:at+n], x[off[0]:])
			}
		})
	})
}
