package training

import (
	"math/bits"
	"slices"

	"github.com/gorge-tf/gorge/internal/changes"
	"github.com/gorge-tf/gorge/internal/kernel"
	"github.com/gorge-tf/gorge/tf"
	"github.com/gorge-tf/gorge/tf/core"
)

const (
	// rowShares is into how many shares the rows of variables are divided at most, so that
	// several goroutines update different rows.
	rowShareBits = 4
	rowShares    = 1 << rowShareBits
	// lineBytes is the size of a cache line: rows on one line are in one share.
	lineBytes = 64
)

// A rowPlan divides the rows of a gradient into shares. All rows of the gradient that
// update one row of the variables are in one share, in order.
type rowPlan struct {
	shares int     // a power of two
	shift  int     // rows with equal numbers without so many bits are on one cache line
	order  []int64 // places in the gradient, share after share
	starts [rowShares + 1]int
}

// of returns the places of shares lo to hi-1.
func (p *rowPlan) of(lo, hi int) []int64 { return p.order[p.starts[lo]:p.starts[hi]] }

func (p *rowPlan) share(row int64) int { return int(row>>p.shift) & (p.shares - 1) }

// planRows divides the rows by counting, in time proportional to their number.
func (in *stepInputs) planRows() *rowPlan {
	inner := max(1, in.inner())
	// A row is far from the one before, and so costs as much as some elements in order.
	work := len(in.rows) * (inner + 16) / changes.Grain
	p := &rowPlan{shares: 1 << min(rowShareBits, bits.Len(uint(max(1, work)))-1), order: in.order}
	if perLine := lineBytes / (inner * in.vars[0].DType().Size()); perLine > 1 {
		p.shift = bits.Len(uint(perLine)) - 1
	}
	for _, row := range in.rows {
		p.starts[p.share(row)+1]++
	}
	var next [rowShares]int
	for i := range p.shares {
		p.starts[i+1] += p.starts[i]
		next[i] = p.starts[i]
	}
	for i, row := range in.rows {
		k := p.share(row)
		p.order[next[k]] = int64(i)
		next[k]++
	}
	return p
}

// inner is the number of elements of a row.
func (in *stepInputs) inner() int { return kernel.Product(in.vars[0].Shape()[1:]) }

// eachShare calls f for goroutines' parts of the rows, given as places in the gradient,
// after all variables have been made ready.
func (in *stepInputs) eachShare(f func(order []int64)) {
	for _, v := range in.different() {
		v.All(in.c)
	}
	p := in.planRows()
	in.c.ParallelFor(p.shares, 1, func(lo, hi int) { f(p.of(lo, hi)) })
}

// eachRow has rows updated, those of one row in order.
func (in *stepInputs) eachRow(worker func() func(at, from, n int)) {
	inner, far := in.inner(), in.farRows()
	in.eachShare(func(order []int64) {
		update := worker()
		for k, i := range order {
			if next := k + kernel.RowsAhead; next < len(order) {
				far.prefetch(int(in.rows[order[next]]), int(order[next]))
			}
			update(int(in.rows[i])*inner, int(i)*inner, inner)
		}
	})
}

// A farTable has rows that had better be asked for before they are used.
type farTable struct {
	all  []byte
	size int // of a row
}

func (t farTable) prefetch(row int) { kernel.Prefetch(t.all[row*t.size : (row+1)*t.size]) }

// farRows are the large ones among the variables, and the gradient, of which a share uses
// a row here and there.
type farRows struct{ vars, grad []farTable }

func (in *stepInputs) farRows() (f farRows) {
	for _, v := range in.vars {
		f.vars = in.appendFar(f.vars, v)
	}
	f.grad = in.appendFar(nil, in.grad)
	return f
}

func (in *stepInputs) appendFar(to []farTable, t *core.Tensor) []farTable {
	if all := t.Buffer().Bytes(); kernel.Far(all) {
		to = append(to, farTable{all: all, size: in.inner() * t.DType().Size()})
	}
	return to
}

func (f *farRows) prefetch(row, i int) {
	for _, t := range f.vars {
		t.prefetch(row)
	}
	for _, t := range f.grad {
		t.prefetch(i)
	}
}

const (
	// singleBlock is how many rows of one element are updated at a time.
	singleBlock = 128
	// stampBits is the size of the table that shows whether two of them are the same.
	stampBits = 12
)

// A singleUpdate updates rows of one element each, which are collected so that the rule
// runs on many at a time.
type singleUpdate[T tf.Elem] struct {
	update func(v [][]T, g []T)
	grad   []T
	vars   [][]T
	rows   []int64
	g      []T   // a block of grad,
	v      [][]T // of the variables,
	at     [singleBlock]int
	stamps [1 << stampBits]uint32
	stamp  uint32 // of the block
}

// single reports whether rows of one element are updated, of variables that are different
// ones: a block would hold the elements of one variable twice.
func (in *stepInputs) single() bool {
	if in.indices == nil || in.inner() != 1 {
		return false
	}
	for i, v := range in.next {
		if slices.Contains(in.next[:i], v) {
			return false
		}
	}
	return true
}

// eachSingle has rows of one element updated, those of one row in order.
func eachSingle[T tf.Elem](in *stepInputs, update func(v [][]T, g []T), grad []T) {
	in.eachShare(func(order []int64) {
		u := newSingleUpdate(in, update, grad)
		for len(order) > 0 {
			n := u.collect(order[:min(len(order), singleBlock)])
			u.run(order[:n])
			order = order[n:]
		}
	})
}

func newSingleUpdate[T tf.Elem](in *stepInputs, update func(v [][]T, g []T), grad []T) *singleUpdate[T] {
	u := &singleUpdate[T]{update: update, grad: grad, rows: in.rows, g: core.Make[T](singleBlock)}
	for _, t := range in.vars {
		u.vars, u.v = append(u.vars, core.Data[T](t)), append(u.v, core.Make[T](singleBlock))
	}
	return u
}

// collect notes the rows of the next block, which are different, and returns their number.
// It may end a block early: two rows that share a stamp need not be the same.
func (u *singleUpdate[T]) collect(order []int64) int {
	u.stamp++
	for k, i := range order {
		row := u.rows[i]
		s := &u.stamps[uint32(row)*0x9E3779B1>>(32-stampBits)]
		if *s == u.stamp {
			return k
		}
		*s, u.at[k] = u.stamp, int(row)
	}
	return len(order)
}

// run updates the rows that were collected.
func (u *singleUpdate[T]) run(order []int64) {
	g, at := u.g[:len(order)], u.at[:len(order)]
	for k, i := range order {
		g[k] = u.grad[i]
	}
	v := make([][]T, len(u.v))
	for j, x := range u.vars {
		v[j] = u.v[j][:len(order)]
		for k, row := range at {
			v[j][k] = x[row]
		}
	}
	u.update(v, g)
	for j, x := range u.vars {
		for k, row := range at {
			x[row] = v[j][k]
		}
	}
}
